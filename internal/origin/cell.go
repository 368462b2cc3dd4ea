package origin

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
)

// cell is set by the linker in the program of a notebook's cell, by internal/kernel/shim: what [Program] returns, and then,
// each after a semicolon, stretches of lines of main.go and the hash of the code that the function there uses, such as
// "12-15=0123456789abcdef".
var cell string

// CellMark stands in the name of a notebook's program before the hash of what its cells register; before it is the module's.
const CellMark = "+cells-"

func cellProgram() string {
	name, _, _ := strings.Cut(cell, ";")
	return name
}

// Function returns a hash of what a function without parameters is made of: in a notebook its own code and all that it uses
// of the notebook, and [Program]; of other functions, [Program] alone. It does not know the values of variables.
func Function(f any) (string, error) {
	program, err := Program()
	if err != nil {
		return "", err
	}
	code := ""
	if cell != "" {
		if code = codeAt(source(f)); code == "" {
			if code, err = sumOfThis(); err != nil {
				return "", err
			}
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(program+code)))[:12], nil
}

// source is where the function stands, or a part of it from which it was built in.
func source(f any) (file string, line int) {
	frames := runtime.CallersFrames([]uintptr{reflect.ValueOf(f).Pointer() + 1})
	for {
		frame, more := frames.Next()
		if !more { // those before it were inlined into this one
			return filepath.Base(frame.File), frame.Line
		}
	}
}

// codeAt is the hash of the smallest stretch that a line is in; several that are equal count together.
func codeAt(file string, line int) (code string) {
	smallest := -1
	for _, entry := range strings.Split(cell, ";")[1:] {
		var from, to int
		var sum string
		if _, err := fmt.Sscanf(entry, "%d-%d=%s", &from, &to, &sum); err != nil || file != "main.go" || line < from || line > to {
			continue
		}
		switch size := to - from; {
		case smallest < 0 || size < smallest:
			smallest, code = size, sum
		case size == smallest:
			code += sum
		}
	}
	return code
}
