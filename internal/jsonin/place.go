package jsonin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// place describes in words where in a JSON text something is, for example "jacobian row 2, entry 3".
type place string

func (p place) key(name string) place {
	if p == "" {
		return place(name)
	}
	return p + ", " + place(name)
}

// item returns the place of the element at index i of a list. In the text the elements are counted from 1.
func (p place) item(word string, i int) place {
	sep := place(" ")
	switch {
	case p == "":
		sep = ""
	case strings.Contains(string(p[strings.LastIndexByte(string(p), ',')+1:]), " row "):
		sep = ", "
	}
	return p + sep + place(fmt.Sprintf("%s %d", word, i+1))
}

func (p place) errorf(format string, args ...any) error {
	if p == "" {
		return fmt.Errorf(format, args...)
	}
	return fmt.Errorf("%s: %w", string(p), fmt.Errorf(format, args...))
}

// syntax says what is wrong with the text at a place, err being the error of encoding/json.
func (d *Decoder) syntax(at place, err error) error {
	switch {
	case err == nil:
		return nil
	case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON text ends in the middle of a value")
	case !errors.As(err, new(*json.SyntaxError)):
		return at.errorf("%w", err) // of a type that reads for itself
	}
	for _, word := range []string{"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"} {
		if bytes.HasPrefix(d.rest(), []byte(word)) {
			return at.errorf("%s is not a number that JSON has; leave such streams out", word)
		}
	}
	return at.errorf("this is not JSON: %w", err)
}

// abridged returns the beginning of a text.
func abridged(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}
