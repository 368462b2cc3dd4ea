package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/parallelcl/parallelcl/pcl/params"
)

// The types of flags that name a file or folder. A path cannot be -, which users know as the standard input or output, and of
// which commands would make a file. Flags of the type stdout are files to write, and for them - is the standard output.
var (
	pathType   = kong.NamedMapper("path", pathMapper(errors.New("a single - is not the standard input or output here: name a file or folder (./- if it is to be called that)")))
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

// checkFlags refuses a number out of the range in its flag's tag, and a flag that was given no text, as by --seed "$SEED" where
// the variable is not set: commands would do as if it were left out.
func checkFlags(k *kong.Context) error {
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		switch v := reflect.Indirect(p.Flag.Target); v.Kind() {
		case reflect.String, reflect.Slice, reflect.Map:
			if v.Len() == 0 {
				return fmt.Errorf("--%s is empty: give it a value, or leave it out", p.Flag.Name)
			}
		case reflect.Int:
			if err := params.InRange(float64(v.Int()), p.Flag.Tag.Get("range")); err != nil {
				return fmt.Errorf("--%s: %w", p.Flag.Name, err)
			}
		}
	}
	return nil
}

// checkEnding returns an error if the name of a file that a flag names does not say what will be in it, which those who open
// it would believe.
func checkEnding(flag, path string, endings ...string) error {
	if path == "" || slices.Contains(endings, filepath.Ext(path)) {
		return nil
	}
	return fmt.Errorf("%s %s: the file's name has to end in %s", flag, path, strings.Join(endings, " or "))
}
