package rt

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// Stdin stands for the standard input in the cells' own code. Reading asks the user for a line if none is left.
var Stdin io.Reader = stdin{}

type stdin struct{}

// Ask asks the user for a line, which comes by [Give]. The host sets it.
var Ask func()

var (
	reading sync.Mutex
	rest    string // of a line
	given   = make(chan string, 100)
)

// Give takes a line of the user, with its end. It is empty at the end of the input.
func Give(line string) { given <- line }

func (stdin) Read(p []byte) (int, error) {
	reading.Lock()
	defer reading.Unlock()
	for rest == "" && len(given) > 0 { // what a library has asked for
		rest = <-given
	}
	if rest == "" {
		Ask()
		select {
		case rest = <-given:
		case <-Context().Done():
		}
	}
	n, err := strings.NewReader(rest).Read(p)
	rest = rest[n:]
	return n, err
}

// Scan is fmt.Scan; Scanln and Scanf likewise.
func Scan(a ...any) (int, error) { return fmt.Fscan(Stdin, a...) }

// Scanln is fmt.Scanln.
func Scanln(a ...any) (int, error) { return fmt.Fscanln(Stdin, a...) }

// Scanf is fmt.Scanf.
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(Stdin, format, a...) }
