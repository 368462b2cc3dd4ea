package rt

import (
	"fmt"
	"io"
	"sync"
)

// Stdin stands for the standard input in the cells' own code. Reading asks the user for a line if none is left.
var Stdin io.Reader = new(stdin)

type stdin struct {
	mu   sync.Mutex
	rest []byte
}

// Ask asks the user for a line, which comes by [Give]. The host sets it.
var Ask func()

var given = make(chan []string, 100)

// Give takes a line of the user. No lines are the end of the input.
func Give(lines []string) { given <- lines }

func (in *stdin) Read(p []byte) (int, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for len(in.rest) == 0 && len(given) > 0 { // what a library has asked for
		in.take(<-given)
	}
	if len(in.rest) == 0 {
		Ask()
		select {
		case lines := <-given:
			in.take(lines)
		case <-Context().Done():
		}
	}
	if len(in.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, in.rest)
	in.rest = in.rest[n:]
	return n, nil
}

func (in *stdin) take(lines []string) {
	for _, line := range lines {
		in.rest = append(in.rest, line+"\n"...)
	}
}

// Scan is fmt.Scan; Scanln and Scanf likewise.
func Scan(a ...any) (int, error) { return fmt.Fscan(Stdin, a...) }

// Scanln is fmt.Scanln.
func Scanln(a ...any) (int, error) { return fmt.Fscanln(Stdin, a...) }

// Scanf is fmt.Scanf.
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(Stdin, format, a...) }
