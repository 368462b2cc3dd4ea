package cli

import (
	"errors"
	"fmt"
	"io/fs"
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
		return fmt.Errorf("%w %s; %s", err, c.saved(config), goOn())
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

// saved says where an interrupted run was saved, or that it had not made a step yet.
func (c *runCmd) saved(config experiment.Config) string {
	dir := c.dir(config)
	if files, err := fs.Glob(os.DirFS(dir), "checkpoint-*.pcl"); err == nil && len(files) > 0 {
		return "and saved in " + dir
	}
	return "before its first step"
}

// goOn returns the command that continues what this command began.
func goOn() string {
	args := os.Args[1:]
	end := slices.Index(args, "--") // no flags are read after it
	if end < 0 {
		end = len(args)
	}
	words := slices.Concat([]string{"pcl"}, quoted(args[:end]), []string{"--resume"}, quoted(args[end:]))
	return "go on with: " + strings.Join(words, " ")
}

// plain matches arguments that need no quotes in a shell.
var plain = regexp.MustCompile(`^[\w%+,./:=@-]+$`)

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
	return strings.Join(quoted(words), " ")
}

// quoted returns the arguments, quoted for a shell where necessary. It leaves out --resume, and --checkpoint because
// by now there is a newer checkpoint.
func quoted(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--resume", strings.HasPrefix(a, "--checkpoint="):
		case a == "--checkpoint":
			i++ // skip its value too
		case plain.MatchString(a):
			out = append(out, a)
		default:
			out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return out
}
