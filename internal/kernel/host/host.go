// Package host is the process in which the cells of a notebook run. The kernel makes a program of it that imports every package
// that cells can import, so that all cells share them, and starts it with a hash of the module's source. It calls its methods by
// file 3 and reads the answers from file 6; package gonbui writes to file 4 and reads from file 5.
package host

import (
	"flag"
	"io"
	"net/rpc"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/recipe"
	"github.com/parallelcl/parallelcl/pcl/method"
	"github.com/parallelcl/parallelcl/pcl/model"
	"github.com/parallelcl/parallelcl/pcl/rehearsal"
)

// Main answers the kernel until it is gone. Where cells are no plugins, cells are the functions of those in this program.
func Main(cells map[string]func()) {
	debug.SetTraceback("single")
	for fd := 3; fd <= 6; fd++ { // what cells start is not to keep them open
		syscall.CloseOnExec(fd)
	}
	origin.SetNotebook(os.Args[1], rt.Origin)
	rt.Show, rt.Ask, rt.Parse, rt.ForgetFlag = show, func() { gonbui.RequestInput("", false) }, parse, forgetFlag
	recipe.Remember()
	if err := rpc.RegisterName("Host", host(cells)); err != nil {
		panic(err)
	}
	rpc.ServeConn(struct { // until it is gone
		io.Reader
		io.WriteCloser
	}{os.NewFile(3, "requests"), os.NewFile(6, "replies")})
}

// host has what the kernel can ask for.
type host map[string]func()

type nothing = struct{}

// Run loads a cell, runs it, and says why it failed.
func (h host) Run(c rt.Cell, failure *string) (err error) {
	run := h[c.Function]
	if run == nil {
		run, err = open(c.File, c.Function)
	}
	if err == nil {
		*failure = rt.Run(c.ID, run)
		gonbui.Sync()
	}
	return err
}

// open returns a function of a plugin.
var open func(file, function string) (func(), error)

// Stop stops a cell, also one that has not begun.
func (host) Stop(id int, _ *nothing) error {
	rt.Stop(id)
	return nil
}

func (host) Give(line string, _ *nothing) error { rt.Give(line); return nil }

func (host) Setenv(v [2]string, _ *nothing) error { return os.Setenv(v[0], v[1]) }

func (host) Chdir(dir string, _ *nothing) error { return os.Chdir(dir) }

// SetArgs gives the program of the notebook other arguments, which it can parse as flags.
func (host) SetArgs(args []string, _ *nothing) error {
	os.Args = append(os.Args[:1:1], args...)
	flag.CommandLine.Init(os.Args[0], flag.ContinueOnError)
	return nil
}

func parse() { rt.NoError(flag.CommandLine.Parse(os.Args[1:])) }

func forgetFlag(name string) {
	old := flag.CommandLine
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ContinueOnError)
	old.VisitAll(func(f *flag.Flag) {
		if f.Name != name {
			flag.CommandLine.Var(f.Value, f.Name, f.Usage)
		}
	})
}

// Names lists what may be named in strings: methods and parts, data sets, networks.
func (host) Names(kind string, list *[]string) error {
	switch kind {
	case "method":
		*list = append(method.Names(), rehearsal.Names()...)
	case "model":
		*list = model.Names()
	default:
		for _, info := range datasets.List() {
			*list = append(*list, info.Name)
		}
	}
	return nil
}
