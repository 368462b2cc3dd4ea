// Package jsonin reads JSON that people and other programs have written. It is stricter than encoding/json: keys must be
// known, none may be there twice, null does not stand for an entry of a list, and nothing may follow a document.
package jsonin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Unmarshal reads a whole document into v, a pointer. After an error, v may be half read.
func Unmarshal(data []byte, v any) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return readable(err)
	}
	if rest := bytes.TrimSpace(data[in.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("after the end of the JSON text there is more: %.40q", rest)
	}
	return unambiguous(json.NewDecoder(bytes.NewReader(data)), false)
}

// readable is an error of encoding/json in words that do not speak of Go.
func readable(err error) error {
	switch e := new(json.UnmarshalTypeError); {
	case errors.Is(err, io.EOF):
		return errors.New("there is no JSON in it")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON text ends in the middle of a value")
	case errors.As(err, new(*json.SyntaxError)):
		return fmt.Errorf("this is not JSON, which has no NaN and no infinity either: %w", err)
	case errors.As(err, &e):
		return fmt.Errorf("%s: a %s does not belong there", cmp.Or(e.Field, "the document"), e.Value)
	}
	return err
}

// unambiguous refuses a key that is there twice, and null in a list. The text is valid JSON.
func unambiguous(in *json.Decoder, inList bool) error {
	token, err := in.Token()
	if err == nil && token == nil && inList {
		err = errors.New("null is not an entry of a list")
	}
	bracket, nested := token.(json.Delim)
	if err != nil || !nested {
		return err
	}
	for keys := map[json.Token]bool{}; in.More(); {
		if bracket == '{' {
			key, err := in.Token()
			if err != nil || keys[key] {
				return cmp.Or(err, fmt.Errorf("the key %.40q is there twice", key))
			}
			keys[key] = true
		}
		if err := unambiguous(in, bracket == '['); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}
