package main

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

// advise adds to what stands against a run the flags that help.
func (c *runCmd) advise(err error, config experiment.Config) error {
	damaged := new(experiment.DamagedError)
	switch {
	case errors.Is(err, experiment.ErrInterrupted):
		return fmt.Errorf("%w %s; %s", err, c.saved(config), goOn())
	case errors.Is(err, experiment.ErrUnfinished) && c.Replace:
		return usageError{fmt.Errorf("%w (--replace --resume takes it up)", err)}
	case errors.Is(err, experiment.ErrUnfinished):
		return usageError{fmt.Errorf("%w (--resume goes on from there; --replace makes the run anew, and keeps what is saved until that is finished)", err)}
	case errors.Is(err, experiment.ErrForeign):
		return fmt.Errorf("%w (move it elsewhere, or have the run made in its place by --replace)", err)
	case errors.Is(err, experiment.ErrUnrecorded):
		return usageError{fmt.Errorf("%w (--replace does)", err)}
	case errors.As(err, &damaged) && damaged.Whole != "":
		return fmt.Errorf("%w (--checkpoint %s takes the run up there)", err, damaged.Whole)
	case errors.As(err, &damaged):
		return fmt.Errorf("%w (--replace does)", err)
	}
	return err
}

// saved says where an interrupted run is, if it had made a step.
func (c *runCmd) saved(config experiment.Config) string {
	for _, dir := range []string{filepath.Join(c.dir(config), experiment.ReplacementDir), c.dir(config)} {
		if files, err := fs.Glob(os.DirFS(dir), "checkpoint-*.pcl"); err == nil && len(files) > 0 {
			return "and saved in " + dir
		}
	}
	return "before its first step"
}

// goOn is how to take up what this command began.
func goOn() string {
	args := os.Args[1:]
	end := slices.Index(args, "--") // behind it no flag is read
	if end < 0 {
		end = len(args)
	}
	words := slices.Concat([]string{"pcl"}, quoted(args[:end]), []string{"--resume"}, quoted(args[end:]))
	return "go on with: " + strings.Join(words, " ")
}

// plain matches arguments that a shell takes as they are.
var plain = regexp.MustCompile(`^[\w%+,./:=@-]+$`)

// quoted returns the arguments as a shell would need them, without --resume, and without
// --checkpoint, because there is a newer one by now.
func quoted(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--resume", strings.HasPrefix(a, "--checkpoint="):
		case a == "--checkpoint":
			i++ // its value
		case plain.MatchString(a):
			out = append(out, a)
		default:
			out = append(out, "'"+strings.ReplaceAll(a, "'", `'\''`)+"'")
		}
	}
	return out
}
