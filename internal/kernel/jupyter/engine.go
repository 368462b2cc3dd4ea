// Package jupyter serves an [Engine] to Jupyter front ends: messaging protocol 5.5 with subshells, over ZeroMQ.
package jupyter

import (
	"context"
	"fmt"
)

// An Engine runs cells. The server calls its methods side by side: cells of different subshells run together, and every
// other method may be called while cells run.
type Engine interface {
	// Execute runs a cell and returns when it ends, or has been stopped since ctx has ended. An [*Error] describes what was
	// wrong; any other error is shown by its text. What the cell started may use out after Execute has returned.
	Execute(ctx context.Context, c Cell, out Out) error

	// Force ends the cells that still run after their contexts have ended: the user has interrupted a second time.
	Force()

	// Complete proposes what may stand for the code from start to a byte offset.
	Complete(ctx context.Context, code string, offset int) (start int, matches []Match, err error)

	// Inspect describes what stands at a byte offset of code, by media type. The result is empty where nothing is known.
	// Level 1 asks for more than level 0.
	Inspect(ctx context.Context, code string, offset, level int) (map[string]any, error)

	// IsComplete says whether code can run as it is: whether it is "complete", "incomplete", "invalid" or "unknown". indent is
	// that of the line that follows incomplete code.
	IsComplete(code string) (status, indent string)

	// Comm takes a message by which a page opens, uses or closes a comm; out answers it. If Comm returns an error, the comm is
	// closed.
	Comm(ctx context.Context, m Comm, out Out) error

	// Close ends all cells and every process of the engine.
	Close() error
}

// A Cell is code to run.
type Cell struct {
	Code   string
	Number int // the number shown beside the cell. Cells that the history does not store repeat a number.
}

// Out is where the output of one cell goes. Its methods may be called by several goroutines, also after the cell has ended:
// the front end still shows their output below that cell.
type Out interface {
	// Stream appends text to "stdout" or "stderr". Small texts are sent together.
	Stream(name, text string)
	Display(Display)
	// Input asks the user for a line, which it returns without its end. It returns [io.EOF] where nobody can answer: the
	// front end has no input, or the cell has ended.
	Input(ctx context.Context, prompt string, password bool) (string, error)
	// Comm sends data to the page that has opened a comm.
	Comm(id string, data map[string]any)
}

// Display is rich output. Its data are by media type: text as string, pictures of bytes as []byte, JSON as any value.
type Display struct {
	Data, Metadata map[string]any
	ID             string // names the output so that it can be updated; may be empty
	Update         bool   // replaces every output of this ID
	Result         bool   // is the value of the cell's last expression
}

// A Match is one text of a completion.
type Match struct {
	Text      string
	Type      string // function, type, variable, …; may be empty
	Signature string // may be empty
}

// Comm is a message of a page for widgets: comm_open, comm_msg or comm_close.
type Comm struct {
	Kind string
	ID   string
	Data map[string]any
}

// Error is what was wrong with a cell.
type Error struct {
	Name      string   // the kind of error, a word or two
	Value     string   // one line
	Traceback []string // lines to show, which may be coloured by ANSI sequences. Empty: name and value.
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Value) }
