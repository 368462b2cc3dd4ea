package jsonin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// inPlace adds to a syntax error where in the text it is.
func inPlace(text []byte, fault error) error {
	var syntax *json.SyntaxError
	if !errors.As(fault, &syntax) {
		return fault // of the reader
	}
	w := walker{in: json.NewDecoder(bytes.NewReader(text))}
	for w.next() {
	}
	rest := bytes.TrimLeft(text[min(int(w.in.InputOffset()), len(text)):], " \t\r\n,:")
	if w.in.InputOffset() == 0 {
		rest = bytes.TrimSpace(text)
	}
	for _, word := range []string{"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"} {
		if bytes.HasPrefix(rest, []byte(word)) {
			return w.place().errorf("%s is not a number that JSON has; leave such streams out", word)
		}
	}
	return w.place().errorf("this is not JSON: %w", syntax)
}

// walker follows the tokens of a text up to the first fault.
type walker struct {
	in    *json.Decoder
	stack []level
}

// level is an object or a list that has not been closed yet.
type level struct {
	list  bool
	index int    // of the element that comes next in a list
	key   string // of the value that comes next in an object
	named bool   // key has been read
}

func (w *walker) next() bool {
	token, err := w.in.Token()
	if err != nil {
		return false
	}
	top := len(w.stack) - 1
	if top >= 0 && !w.stack[top].list && !w.stack[top].named {
		if key, ok := token.(string); ok {
			w.stack[top].key, w.stack[top].named = key, true
			return true
		}
	}
	switch token {
	case json.Delim('['), json.Delim('{'):
		w.stack = append(w.stack, level{list: token == json.Delim('[')})
		return true
	case json.Delim(']'), json.Delim('}'):
		w.stack = w.stack[:top]
	}
	if top = len(w.stack) - 1; top >= 0 {
		w.stack[top].index++
		w.stack[top].named = false
	}
	return true
}

func (w *walker) place() (at place) {
	for i, l := range w.stack {
		switch {
		case l.list && i+1 < len(w.stack) && w.stack[i+1].list:
			at = at.item("row", l.index)
		case l.list:
			at = at.item("entry", l.index)
		case l.named:
			at = at.key(l.key)
		}
	}
	return at
}
