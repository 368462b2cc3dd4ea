package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/experiment"
)

// advise adds to an error about a run the flags that help against it.
func (c *runCmd) advise(err error, config experiment.Config) error {
	damaged, help := new(experiment.DamagedError), ""
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w, in %s; %s", err, c.dir(config), goOn("--resume"))
	case errors.Is(err, experiment.ErrUnfinished):
		help = "--resume continues it; --replace removes it and starts again"
	case errors.Is(err, experiment.ErrForeign):
		help = "move it elsewhere, or put this run in its place with --replace"
	case errors.Is(err, experiment.ErrData):
		help = "put the old files back, or start again with --replace"
	case errors.As(err, &damaged) && damaged.Whole != "":
		help = fmt.Sprintf("--checkpoint %s continues the run from there", damaged.Whole)
	case errors.Is(err, experiment.ErrUnrecorded), errors.As(err, &damaged):
		help = "use --replace"
	default:
		return err
	}
	return fmt.Errorf("%w (%s)", err, help)
}

// goOn is the command that continues what this command began, with another argument if it is not there yet.
func goOn(more ...string) string {
	args := os.Args[1:]
	for _, a := range more {
		if !slices.Contains(args, a) {
			args = append(slices.Clone(args), a)
		}
	}
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
