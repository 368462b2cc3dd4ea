// Package wire has the messages between the kernel of a notebook and the host in which its cells run: lines of JSON.
package wire

import "strings"

// SourceVariable is the variable of the environment by which the host knows a hash of the module's source.
const SourceVariable = "PARALLELCL_NOTEBOOK_SOURCE"

// CellPath begins the import paths of cells; a number follows.
const CellPath = "nb/c"

// Request is what the kernel asks of the host, on the host's file 3. The answers come on file 4, in any order.
type Request struct {
	ID   int
	Op   string   // see the host, which has a function for each
	Cell int      `json:",omitempty"`
	Path string   `json:",omitempty"`
	List []string `json:",omitempty"`
}

// Answer is what the host says to a request, or by itself.
type Answer struct {
	ID        int
	Op        string     `json:",omitempty"` // of what the host says by itself
	Cell      int        `json:",omitempty"` // that asks for a line
	Failure   *Failure   `json:",omitempty"` // of a cell
	Error     string     `json:",omitempty"`
	List      []string   `json:",omitempty"`
	Learners  []string   `json:",omitempty"` // that cannot be saved, and why
	Names     []string   `json:",omitempty"` // of variables that were restored
	Variables []Variable `json:",omitempty"`
	Bytes     int64      `json:",omitempty"` // of the host's own memory
}

// Failure is how a cell ended that did not reach its end.
type Failure struct {
	Name  string   // error, panic, exit, stopped
	Text  string   // empty if there is nothing to say
	Trace []string // the lines of cells on the way, the innermost first: "In[3]:2 area"
}

// Place is the line at which it happened, "In[3]:2", or empty.
func (f *Failure) Place() string {
	if len(f.Trace) == 0 {
		return ""
	}
	at, _, _ := strings.Cut(f.Trace[0], " ")
	return at
}

func (f *Failure) Error() string {
	text := f.Text
	if f.Name != "error" {
		text = strings.TrimSuffix(f.Name+": "+text, ": ")
	}
	if at := f.Place(); at != "" {
		text = at + ": " + text
	}
	return text
}

// Result marks what is shown as the value of a cell's last expression, in the metadata of a display.
const Result = "result"

// Variable describes a variable of the notebook.
type Variable struct {
	Name, Value string
	Bytes       int64 // of memory, as far as pointers lead
}
