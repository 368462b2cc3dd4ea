package rt

import "strings"

// The types of this file pass between the kernel of a notebook and the host in which its cells run.
// The kernel calls the host's methods by net/rpc; the host speaks by itself as package gonbui does.

const (
	CellPath = "nb/main." // begins the names of functions of cells
	Result   = "result"   // marks the value of a cell's last expression, in the metadata of a display
	// begins what is said of a cell that was stopped, in place of why it failed: what of it goes on
	StoppedText = "\x00stopped"
	// by these, a display has a command that the kernel is to do, and its number
	OrderKey, NumberKey = "order", "number"
)

// Done says that a command is done, and what has gone wrong.
type Done struct {
	Number  int
	Problem string
}

// Cell is a cell to run.
type Cell struct {
	ID       int
	File     string // the plugin
	Function string // in it, or in the host: Run or Replay
}

// Variable is a variable of the notebook, or another name in it. An import has its path in place of
// a type. Only a constant has its value here.
type Variable struct{ Name, Kind, Type, Value string }

// Saving asks for variables to be saved in a folder. Meanwhile others may change them, so what is
// Quick leaves out maps and what is large.
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

// Restored is what could be restored, and why others could not.
type Restored struct {
	Names  []string
	Zero   []string // that were zero
	Failed []string
}

// Sentence says what has happened to names, if there are any.
func Sentence(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + what + ": " + strings.Join(names, ", ") + "."
}
