// Package wire has what the kernel of a notebook and the host in which its cells run say to each other. The kernel calls the
// host's methods by net/rpc; the host speaks by itself as package gonbui does.
package wire

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

// Stopped is what is said of a cell that was stopped, in place of why it failed.
const Stopped = "stopped"
