package jsonin

import (
	"bytes"
	"encoding/json"
)

// Repeated returns the first key that an object of a valid JSON text has twice. It reads keys alone, since a text may
// consist of millions of numbers.
func Repeated(text []byte) (key string, twice bool) {
	if bytes.IndexByte(text, '{') < 0 { // such as each sample that a service is sent
		return "", false
	}
	var objects []map[string]bool // the keys of those that are open; nil for a list
	isKey := false                // whether the next text in quotes is a key
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			objects, isKey = append(objects, map[string]bool{}), true
		case '[':
			objects, isKey = append(objects, nil), false
		case '}', ']':
			objects, isKey = objects[:len(objects)-1], false
		case ',':
			isKey = objects[len(objects)-1] != nil
		case '"':
			end := quoted(text[i:])
			if isKey {
				if json.Unmarshal(text[i:i+end], &key) != nil {
					return "", false
				}
				known := objects[len(objects)-1]
				if known[key] {
					return key, true
				}
				known[key], isKey = true, false
			}
			i += end - 1
		}
	}
	return "", false
}

// quoted is how many bytes a text in quotes has, with them.
func quoted(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
