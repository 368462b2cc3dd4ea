package cli

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// assigned are the values of a flag NAME=VALUE that can be repeated. A name that is given twice is refused, since one of
// its values would be forgotten.
type assigned map[string]string

// Decode takes in the value of one flag.
func (a *assigned) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("NAME=VALUE", &text); err != nil {
		return err
	}
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("want NAME=VALUE, got %q", text)
	}
	if before, twice := (*a)[name]; twice {
		return fmt.Errorf("%s is given twice: %s and %s", name, before, value)
	}
	if *a == nil {
		*a = assigned{}
	}
	(*a)[name] = value
	return nil
}
