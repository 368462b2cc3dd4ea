// Package wire has what the kernel of a notebook and the host in which its cells run say to each other. The kernel calls the
// host's methods by net/rpc; the host speaks by itself as package gonbui does.
package wire

import "strings"

// SourceVariable is the variable of the environment by which the host knows a hash of the module's source.
const SourceVariable = "PARALLELCL_NOTEBOOK_SOURCE"

// CellPath begins the import paths of cells; a number follows.
const CellPath = "nb/c"

// Result marks what is shown as the value of a cell's last expression, in the metadata of a display.
const Result = "result"

// Cell is a cell to load.
type Cell struct {
	ID   int
	File string // the plugin
}

// Variable is a variable of the notebook.
type Variable struct{ Name, Type string }

// Saving asks for variables to be saved in a folder. Meanwhile others may change them, so what is Quick leaves out maps and
// what is large.
type Saving struct {
	Dir   string
	Names []string
	Quick bool
}

// Lost is what could not be saved.
type Lost struct {
	Learners []string // and why
	Others   []string
}

// Failure is how a cell ended that did not reach its end. Without a name there is none.
type Failure struct {
	Name  string // error, panic, stopped
	Text  string
	Trace []string // the lines of cells on the way, the innermost first: "In[3]:2 area"
}

func (f *Failure) Error() string {
	text := f.Text
	if f.Name == "panic" {
		text = "panic: " + text
	}
	if len(f.Trace) == 0 {
		return text
	}
	at, _, _ := strings.Cut(f.Trace[0], " ")
	lines := append([]string{at + ": " + text}, f.Trace[1:]...)
	return strings.Join(lines, "\n\tcalled at ")
}
