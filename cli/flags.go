package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/pcl/experiment"
	"github.com/parallelcl/parallelcl/pcl/params"
)

// The types of flags that name a file or folder. A path cannot be -: users know it as the standard
// input or output, and commands would make a file with that name. Flags of the type stdout are
// files to write, and for them - is the standard output.
var (
	pathType = kong.NamedMapper("path", pathMapper(errors.New("a single - is not the standard input or output here: "+
		"name a file or folder (./- if it is to be called that)")))
	stdoutType = kong.NamedMapper("stdout", pathMapper(nil))
)

// pathMapper reads a path. dash is the error of a -.
func pathMapper(dash error) kong.MapperFunc {
	return func(c *kong.DecodeContext, target reflect.Value) error {
		var path string
		if err := c.Scan.PopValueInto("path", &path); err != nil {
			return err
		}
		switch path {
		case standardOutput:
			if dash != nil {
				return dash
			}
		case "": // would be the current folder; checkFlags finds it
		default:
			path = kong.ExpandPath(path)
		}
		target.SetString(path)
		return nil
	}
}

// checkFlags refuses a number out of the range in its flag's tag, and a flag that was given no
// text, as by --seed "$SEED" where the variable is not set: commands would do as if it were left
// out. Nor may a list name a value twice: a run with the same seed would be the same run, not
// another one.
func checkFlags(k *kong.Context) (err error) {
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		name := "--" + p.Flag.Name
		switch v := reflect.Indirect(p.Flag.Target); v.Kind() {
		case reflect.String, reflect.Slice, reflect.Map:
			if v.Len() == 0 {
				return fmt.Errorf("%s is empty: give it a value, or leave it out", name)
			}
			if v.Kind() == reflect.Slice {
				if err := once(name, v); err != nil {
					return err
				}
			}
		case reflect.Int:
			err := params.CheckRange(float64(v.Int()), p.Flag.Tag.Get("range"))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

// once returns an error if a list has a value twice.
func once(name string, list reflect.Value) error {
	seen := map[any]bool{}
	for i := range list.Len() {
		v := list.Index(i).Interface()
		if seen[v] {
			return fmt.Errorf("%s names %v twice: that is the same run again, and would count as another", name, v)
		}
		seen[v] = true
	}
	return nil
}

// checkEnding returns an error if the ending of a file that a flag names does not fit what will be
// in it: programs that open the file would believe the ending.
func checkEnding(flag, path string, endings ...string) error {
	if path == "" || slices.Contains(endings, filepath.Ext(path)) {
		return nil
	}
	return fmt.Errorf("%s %s: the file's name has to end in %s", flag, path, strings.Join(endings, " or "))
}

// assigned are the values of a flag NAME=VALUE that can be repeated. A name that is given twice is
// refused, since one of its values would be forgotten.
type assigned map[string]string

// Decode takes in the value of one flag.
func (a *assigned) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("NAME=VALUE", &text); err != nil {
		return err
	}
	return a.add(text)
}

func (a *assigned) add(text string) error {
	name, value, ok := strings.Cut(text, "=")
	before, twice := (*a)[name]
	switch {
	case !ok || name == "":
		return fmt.Errorf("want NAME=VALUE, got %q", text)
	case twice:
		return fmt.Errorf("%s is given twice: %s and %s", name, before, value)
	case *a == nil:
		*a = assigned{}
	}
	(*a)[name] = value
	return nil
}

// shard is a part of the runs, as a flag.
type shard struct{ experiment.Shard }

// UnmarshalText reads "I/N".
func (s *shard) UnmarshalText(text []byte) error {
	if n, err := fmt.Sscanf(string(text)+"\n", "%d/%d\n", &s.I, &s.N); n != 2 || err != nil || s.I < 0 || s.I >= s.N {
		return fmt.Errorf("%q is not a part I/N of the runs, with 0 ≤ I < N", text)
	}
	return nil
}

// helpAll is the flag that shows the help with all flags.
type helpAll bool

// BeforeReset is called by the parser when it has read the flag.
func (helpAll) BeforeReset(k *kong.Context) error {
	err := kong.DefaultHelpPrinter(kong.HelpOptions{Compact: true, ValueFormatter: kong.DefaultHelpValueFormatter}, k)
	if err == nil {
		k.Exit(0)
	}
	return err
}

// shortHelp leaves out the flags with the tag rare. They are not hidden from [kong], so that shells
// complete them.
func shortHelp(o kong.HelpOptions, k *kong.Context) error {
	for _, flag := range k.Flags() {
		flag.Hidden = flag.Hidden || flag.Tag.Has("rare")
	}
	return kong.DefaultHelpPrinter(o, k)
}
