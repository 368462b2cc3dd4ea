package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// goOn is the command that continues what this command began.
func goOn() string {
	// it would begin again
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(a string) bool { return a == "--replace" })
	return "go on with: pcl " + quoted(args...)
}

// plain matches arguments that need no quotes in a shell.
var plain = regexp.MustCompile(`^[\w%+,./:=@-]+$`)

// quoted returns arguments, quoted for a shell where necessary.
func quoted(args ...string) string {
	words := make([]string, len(args))
	for i, a := range args {
		if words[i] = a; !plain.MatchString(a) {
			words[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// shown is a path as others see it: of one that begins at the root they get the name alone.
func shown(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Base(path)
	}
	return path
}

// madeBy is the command of this process as a page tells it.
func madeBy() string {
	words := []string{"pcl"}
	for _, a := range os.Args[1:] {
		flag, value, _ := strings.Cut(a, "=")
		words = append(words, strings.TrimSuffix(shown(flag)+"="+shown(value), "="))
	}
	return quoted(words...)
}
