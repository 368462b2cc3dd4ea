// Package jsonin reads JSON that people have written. Its error messages name the keys, rows and entries of their
// file. It is stricter than encoding/json: null does not stand for a number, a text or a list, keys must be known, none may
// be there twice, and nothing may follow a document. Begin with [Unmarshal] or [NewDecoder].
package jsonin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Decoder reads one JSON value after another.
type Decoder struct {
	in   *json.Decoder
	text []byte
}

// NewDecoder returns a decoder of a text, which may begin with a byte order mark.
func NewDecoder(text []byte) *Decoder {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	return &Decoder{json.NewDecoder(bytes.NewReader(text)), text}
}

// Decode reads the next value into v, a pointer. It returns [io.EOF] where there is none.
func (d *Decoder) Decode(v any) error {
	var text json.RawMessage
	err := d.in.Decode(&text)
	switch {
	case err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the JSON text ends in the middle of a value")
	case err != nil:
		rest, _ := io.ReadAll(d.in.Buffered())
		return inPlace(rest, err)
	}
	return read(text, v)
}

// Unmarshal reads a whole document into v, a pointer.
func Unmarshal(data []byte, v any) error {
	d := NewDecoder(data)
	if err := d.Decode(v); err == io.EOF {
		return errors.New("there is no JSON in it")
	} else if err != nil {
		return err
	}
	if rest := bytes.TrimSpace(d.text[d.in.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("after the end of the JSON text there is more: %s", abridged(rest))
	}
	return nil
}

// read fills v. If encoding/json refuses the text, or may have been too lenient, the text is checked in more detail.
func read(text []byte, v any) error {
	if key, twice := Repeated(text); twice {
		return fmt.Errorf("the key %q is there twice", abridged([]byte(key)))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	err := d.Decode(v)
	if err == nil && !hasNull(text) {
		return nil
	}
	if wrong := explain(text, v); wrong != nil {
		return wrong
	}
	return err
}

// hasNull reports whether a JSON text, which is valid, has a null: these letters outside of quotes.
func hasNull(text []byte) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += quoted(text[i:]) - 1
		case 'n': // no other value has this letter
			return true
		}
	}
	return false
}

// abridged returns the beginning of a text.
func abridged(text []byte) string {
	const most = 40
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}

// More says whether another value follows.
func (d *Decoder) More() bool { return d.in.More() }
