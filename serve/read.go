package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// fields are the keys that the requests of a route may have, and where their values go.
type fields map[string]any

// maxField is how many bytes a value may have, except for samples, which are checked one by one.
const maxField = 4 << 20

// read reads a request as it arrives, so that the first fault ends it. It is as strict as package jsonin.
func (f fields) read(body io.Reader) error {
	in := newSource(body)
	err := f.object(in)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON text ends in the middle of a value")
	}
	if err != nil {
		return err
	}
	_, err = in.token()
	var syntax *json.SyntaxError
	switch {
	case err == io.EOF:
		return nil
	case err == nil || errors.As(err, &syntax):
		return errors.New("after the end of the JSON text there is more: send one object in each request")
	}
	return err
}

func (f fields) object(in *source) error {
	token, err := in.token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return errors.New("a request is an object in braces")
	}
	given := map[string]bool{}
	for in.more() {
		token, err := in.token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		if given[key] {
			return fmt.Errorf("the key %q is there twice", key)
		}
		given[key] = true
		if err := f.value(in, key); err != nil {
			return err
		}
	}
	_, err = in.token()
	return err
}

func (f fields) value(in *source, key string) error {
	to, known := f[key]
	if !known {
		return fmt.Errorf("unknown key %.40q; known are %s", key, strings.Join(slices.Sorted(maps.Keys(f)), ", "))
	}
	if s, ok := to.(*samples); ok {
		return s.read(in)
	}
	var text json.RawMessage
	if err := in.decode(&text, maxField); errors.Is(err, errLong) {
		return fmt.Errorf("%s: it has more than %d bytes: send several requests", key, maxField)
	} else if err != nil {
		return err
	}
	if err := jsonin.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
