// Package jsonin reads JSON that people have written. Its error messages name the keys, rows and entries of their
// file. It is stricter than encoding/json: null does not stand for a number, a text or a list, keys must be known and written
// exactly, none may be there twice, and nothing may follow a document. Begin with [Unmarshal], [NewDecoder] or [Object].
package jsonin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
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

// Decode reads the next value into v, a pointer. It returns [io.EOF] where there is none. After
// another error, v may be half read, and the decoder is of no use.
func (d *Decoder) Decode(v any) error {
	if len(d.rest()) == 0 {
		return io.EOF
	}
	return d.value("", reflect.ValueOf(v).Elem())
}

// Unmarshal reads a whole document into v, a pointer. After an error, v may be half read.
func Unmarshal(data []byte, v any) error {
	d := NewDecoder(data)
	return d.whole(d.Decode(v))
}

// Object calls each for the keys of a document that is an object, in their order.
func Object(data []byte, each func(key string, value json.RawMessage) error) error {
	d := NewDecoder(data)
	if len(d.rest()) == 0 {
		return d.whole(io.EOF)
	}
	return d.whole(d.object("", func(key string) error {
		value, err := d.raw(place(key))
		if err != nil {
			return err
		}
		return each(key, value)
	}))
}

// whole refuses what follows a document, err being the error of reading it.
func (d *Decoder) whole(err error) error {
	if err == io.EOF {
		return errors.New("there is no JSON in it")
	}
	if rest := d.rest(); err == nil && len(rest) > 0 {
		return fmt.Errorf("after the end of the JSON text there is more: %s", abridged(rest))
	}
	return err
}

// rest is the text that has not been read, from the next value or key on.
func (d *Decoder) rest() []byte { return skip(d.text[d.in.InputOffset():]) }

func skip(text []byte) []byte { return bytes.TrimLeft(text, " \t\r\n,:") }

// raw reads a value as it is written.
func (d *Decoder) raw(at place) (text json.RawMessage, err error) {
	err = d.syntax(at, d.in.Decode(&text))
	return text, err
}

// object calls each after each key of an object, to read its value.
func (d *Decoder) object(at place, each func(key string) error) error {
	if !bytes.HasPrefix(d.rest(), []byte("{")) {
		return d.wrong(at, "an object in braces")
	}
	_, err := d.in.Token()
	for known := map[string]bool{}; err == nil && d.in.More(); {
		var token json.Token
		if token, err = d.in.Token(); err != nil {
			break
		}
		key := token.(string) // or Token had returned an error
		if known[key] {
			return at.errorf("the key %q is there twice", abridged([]byte(key)))
		}
		known[key] = true
		if err := each(key); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = d.in.Token()
	}
	return d.syntax(at, err)
}

// list calls each before each element of a list, to read it.
func (d *Decoder) list(at place, each func(i int) error) error {
	if !bytes.HasPrefix(d.rest(), []byte("[")) {
		return d.wrong(at, "a list in brackets")
	}
	_, err := d.in.Token()
	for i := 0; err == nil && d.in.More(); i++ {
		if err := each(i); err != nil {
			return err
		}
	}
	if err == nil {
		_, err = d.in.Token()
	}
	return d.syntax(at, err)
}
