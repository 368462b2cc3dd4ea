// Package host is the process in which the cells of a notebook run. The kernel makes a program of
// it that imports every package that cells can import, so that all cells share them, and starts it
// with a hash of the module's source. It calls its methods by file 3 and reads the answers from
// file 6; package gonbui writes to file 4 and reads from file 5.
package host

import (
	"context"
	"flag"
	"io"
	"net/rpc"
	"os"
	"runtime/debug"
	"runtime/pprof"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// Module is what the host asks of the module whose packages the cells use. An adapter outside of
// the kernel implements it.
type Module interface {
	// Begin is called once, before any cell runs. source is a hash of the module's source. cell
	// returns a hash of the cell that the calling goroutine belongs to, with all that the cell uses
	// of others.
	Begin(source string, cell func() (hash string, ok bool))
	// Catchers lists functions of the module, as on a stack, that recover and report a panic of a
	// cell's function.
	Catchers() []string
	// Names lists the values of strings in cells: of "method", "model" or "dataset".
	Names(kind string) []string
	// Show shows a value in the notebook. It returns false if the value is to be shown as text.
	Show(v any) bool
	// Save returns what [Module.Restorer] needs to make a value again in another process. It may
	// write files into dir. nil without an error stands for a value that is not the module's, which
	// the host copies if it can.
	Save(dir string, v any) (made []byte, err error)
	// Precious reports whether a running process is kept rather than replaced if the value cannot
	// be saved.
	Precious(v any) bool
	// Restorer returns a function that makes values again, of those that were saved in dir.
	Restorer(dir string) func(made []byte) (any, error)
}

// Main answers the kernel until it is gone. find returns a pointer to a function of a plugin or,
// without plugins, of this program.
func Main(find func(file, function string) (any, error), m Module) {
	debug.SetTraceback("single")
	debug.SetMaxStack(1 << 28)   // an endless recursion takes a second, and not many
	for fd := 3; fd <= 6; fd++ { // what cells start is not to keep them open
		syscall.CloseOnExec(fd)
	}
	keepStreams()
	m.Begin(os.Args[1], rt.Origin)
	h := host{m, find, new(sync.Map)}
	rt.Show, rt.Ask, rt.ForgetFlag = h.show, func() { gonbui.RequestInput("", false) }, forgetFlag
	rt.Still, rt.Order, rt.Spent, rt.Timeit = still, order, spent, timeit
	rt.Catchers = append(rt.Catchers, m.Catchers()...)
	rt.Label = func(id int) {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(cellLabel, strconv.Itoa(id))))
	}
	if err := rpc.RegisterName("Host", h); err != nil {
		panic(err)
	}
	rpc.ServeConn(struct { // until it is gone
		io.Reader
		io.WriteCloser
	}{os.NewFile(3, "requests"), os.NewFile(6, "replies")})
}

// host has what the kernel can ask for.
type host struct {
	module Module
	find   func(file, function string) (any, error)
	begun  *sync.Map // when cells have begun, by ID
}

type nothing = struct{}

// cellLabel is the label of goroutines that has the ID of their cell.
const cellLabel = "cell"

// Load loads a plugin. It fails, with nothing loaded, if the plugin needs what this process has
// not.
func (h host) Load(file string, _ *nothing) error {
	_, err := h.find(file, "Run")
	return err
}

// Run loads a cell, runs it, and says why it failed.
func (h host) Run(c rt.Cell, failure *string) error {
	run, err := h.find(c.File, c.Function)
	if err == nil {
		running.RLock()
		defer running.RUnlock()
		h.begun.Store(c.ID, time.Now())
		reopen()
		*failure = rt.Run(c.ID, *run.(*func()))
		reopen()
		gonbui.Sync()
	}
	return err
}

// Stop stops a cell, also one that has not begun, and ends the programs that have been started
// since it began.
func (h host) Stop(id int, _ *nothing) error {
	rt.Stop(id)
	if begun, ok := h.begun.Load(id); ok {
		endChildren(begun.(time.Time))
	}
	return nil
}

func (host) Give(line string, _ *nothing) error { rt.Give(line); return nil }

func (host) Setenv(v [2]string, _ *nothing) error { return os.Setenv(v[0], v[1]) }

func (host) Chdir(dir string, _ *nothing) error { return os.Chdir(dir) }

// SetArgs gives the program of the notebook other arguments, which it can parse as flags.
func (host) SetArgs(args []string, _ *nothing) error {
	os.Args = append(os.Args[:1:1], args...)
	flag.CommandLine.Init(os.Args[0], flag.PanicOnError) // of which only the cell ends
	return nil
}

func forgetFlag(name string) {
	old := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.PanicOnError)
	old.VisitAll(func(f *flag.Flag) {
		if f.Name != name {
			flag.CommandLine.Var(f.Value, f.Name, f.Usage)
		}
	})
}

// Names lists what may be named in strings; see [Module].
func (h host) Names(kind string, list *[]string) error {
	*list = h.module.Names(kind)
	return nil
}
