package rt

import (
	"fmt"
	"io"
	"sync"
)

// Stdin stands for the standard input in the cells' own code. Reading asks the user for a line.
var Stdin io.Reader = stdin

var stdin = &input{answers: map[int]chan []string{}}

type input struct {
	mu      sync.Mutex
	rest    []byte
	next    int
	answers map[int]chan []string
}

// Read asks the kernel for a line if none is left.
func (in *input) Read(p []byte) (int, error) {
	in.mu.Lock()
	if len(in.rest) > 0 {
		defer in.mu.Unlock()
		n := copy(p, in.rest)
		in.rest = in.rest[n:]
		return n, nil
	}
	in.next++
	id, answer := in.next, make(chan []string, 1)
	in.answers[id] = answer
	in.mu.Unlock()
	Ask(id, Owner())
	select {
	case lines := <-answer:
		if len(lines) == 0 {
			return 0, io.EOF
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		line := []byte(lines[0] + "\n")
		n := copy(p, line)
		in.rest = append(in.rest, line[n:]...)
		return n, nil
	case <-Context().Done():
		return 0, io.EOF
	}
}

// Give takes a line, which a read has asked for under an id, or is still to ask for. No lines are the end of the input.
func Give(id int, lines []string) {
	stdin.mu.Lock()
	defer stdin.mu.Unlock()
	if answer, ok := stdin.answers[id]; ok {
		delete(stdin.answers, id)
		answer <- lines
	} else if len(lines) > 0 {
		stdin.rest = append(stdin.rest, lines[0]+"\n"...)
	}
}

// Ask asks the user for a line for a cell. The host sets it.
var Ask = func(id, cell int) { Give(id, nil) }

// Scan is fmt.Scan; Scanln and Scanf likewise.
func Scan(a ...any) (int, error) { return fmt.Fscan(Stdin, a...) }

// Scanln is fmt.Scanln.
func Scanln(a ...any) (int, error) { return fmt.Fscanln(Stdin, a...) }

// Scanf is fmt.Scanf.
func Scanf(format string, a ...any) (int, error) { return fmt.Fscanf(Stdin, format, a...) }
