package cli

import (
	"errors"
	"reflect"

	"github.com/alecthomas/kong"
)

// outputType is the type of flags that name a file or folder to write. Unlike a path, it cannot be -, which users know as the
// standard output, and of which these commands would make a file.
var outputType = kong.NamedMapper("output", kong.MapperFunc(func(c *kong.DecodeContext, target reflect.Value) error {
	var path string
	if err := c.Scan.PopValueInto("output", &path); err != nil {
		return err
	}
	if path == "-" {
		return errors.New("this is not written to the standard output: name a file or folder (./- if it is to be called that)")
	}
	target.SetString(kong.ExpandPath(path))
	return nil
}))
