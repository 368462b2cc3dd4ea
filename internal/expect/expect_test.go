package expect

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestFault(t *testing.T) {
	wrapped := fmt.Errorf("reading a.txt: %w", fs.ErrNotExist)
	for name, c := range map[string]struct {
		err   error
		wants []any
		fault string
	}{
		"the right word":  {wrapped, []any{"a.txt"}, ""},
		"the right error": {wrapped, []any{fs.ErrNotExist, "reading"}, ""},
		"no error":        {nil, []any{"a.txt", fs.ErrNotExist}, `no error; want ["a.txt" "file does not exist"]`},
		"another word":    {wrapped, []any{"a.txt", "b.txt"}, `error "reading a.txt: file does not exist"; want "b.txt"`},
		"another error": {wrapped, []any{fs.ErrExist},
			`error "reading a.txt: file does not exist"; want "file already exists"`},
		"an error like it": {errors.New("file does not exist"), []any{fs.ErrNotExist},
			`error "file does not exist"; want "file does not exist"`},
		"no want, no error":  {nil, nil, `no error; want []`},
		"no want, any error": {wrapped, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := fault(c.err, c.wants); got != c.fault {
				t.Errorf("fault is %q; want %q", got, c.fault)
			}
		})
	}
}

func TestText(t *testing.T) {
	if got := Text(nil); got != "no error" {
		t.Errorf("without an error: %q", got)
	}
	if got := Text(fs.ErrExist); got != "file already exists" {
		t.Errorf("with an error: %q", got)
	}
}
