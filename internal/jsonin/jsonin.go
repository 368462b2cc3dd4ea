// Package jsonin reads JSON that people and other programs have written. A text has one meaning or
// is refused: keys are those that are known, letter by letter, and none is there twice; all is
// UTF-8; null does not stand for an entry of a list, and nothing follows the document.
package jsonin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json" // encoding/json/v2 of Go 1.27
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// Unmarshal reads a whole document into v, a pointer. After an error, v may be half read.
func Unmarshal(data []byte, v any) error { return unmarshal(data, v, true) }

// UnmarshalNewer reads a document that a program has written, perhaps one of a later release: it
// leaves keys alone that are not known, and null may stand in a list for what is not there.
func UnmarshalNewer(data []byte, v any) error { return unmarshal(data, v, false) }

func unmarshal(data []byte, v any, strict bool) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte order mark
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("there is no JSON in it")
	}
	err := json.Unmarshal(data, v, json.RejectUnknownMembers(strict))
	if err == nil && strict && bytes.Contains(data, []byte("null")) {
		err = nullsInLists(data)
	}
	if err != nil {
		return errors.New(printable.Cut(readable(err), most))
	}
	return nil
}

// most is how many bytes a message has, however long the text is that it speaks of.
const most = 240

// readable is an error in words that do not speak of Go.
func readable(err error) string {
	var syntax *jsontext.SyntacticError
	var meaning *json.SemanticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the JSON text ends in the middle of a value"
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return fmt.Sprintf("the key %.60q is there twice", syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax) && strings.Contains(err.Error(), "after top-level value"):
		return fmt.Sprintf("after the end of the JSON text there is more, at byte %d", syntax.ByteOffset)
	case errors.As(err, &syntax) && (strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "surrogate")):
		return fmt.Sprintf("%s: this is not UTF-8, at byte %d", place(syntax.JSONPointer), syntax.ByteOffset)
	case errors.As(err, &syntax):
		return fmt.Sprintf("this is not JSON, which has no NaN and no infinity either: %v at byte %d", syntax.Err,
			syntax.ByteOffset)
	case !errors.As(err, &meaning):
		return err.Error()
	case errors.Is(err, json.ErrUnknownName):
		return fmt.Sprintf("the key %.60q is not known here", meaning.JSONPointer.LastToken())
	case meaning.Err != nil && !errors.Is(err, strconv.ErrSyntax) && !errors.Is(err, strconv.ErrRange):
		return fmt.Sprintf("%s: %v", place(meaning.JSONPointer), meaning.Err)
	}
	return fmt.Sprintf("%s: %s does not belong there; want %s", place(meaning.JSONPointer), given(meaning),
		wanted(meaning.GoType))
}

// place is where something is in a document, as its author wrote it, such as "x.0.3".
func place(p jsontext.Pointer) string {
	var keys []string
	for key := range p.Tokens() {
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return "the document"
	}
	return fmt.Sprintf("%.60q", strings.Join(keys, "."))
}

// given says what stands in a document, and wanted what belongs there.
func given(e *json.SemanticError) string {
	if len(e.JSONValue) > 0 {
		return printable.Cut(string(e.JSONValue), 40)
	}
	return map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false", '"': "a text", '0': "a number",
		'{': "an object", '[': "a list"}[e.JSONKind]
}

func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Float32:
		return "a number up to ±3.4e38"
	case reflect.Float64:
		return "a number up to ±1.8e308"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	if t.Kind() >= reflect.Uint && t.Kind() <= reflect.Uint64 {
		return "a whole number of 0 or more"
	}
	return "a whole number"
}

// nullsInLists refuses null in a list. The text is valid JSON.
func nullsInLists(data []byte) error {
	for in := jsontext.NewDecoder(bytes.NewReader(data)); ; {
		token, err := in.ReadToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if kind, _ := in.StackIndex(in.StackDepth()); kind == '[' && token.Kind() == 'n' {
			return fmt.Errorf("%s: null is not an entry of a list", place(in.StackPointer()))
		}
	}
}
