// Package cli is the command line of pcl. A program of your own that registers data sets, networks
// and methods, and then calls [Main], is pcl with those parts in it (docs/own.md).
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/willabides/kongplete"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/pyrule"
	"github.com/parallelcl/parallelcl/pcl/experiment"
)

const (
	exitFailure     = 1
	exitUsage       = 2
	exitTimeUp      = 75 // of pcl grid run --time
	exitInterrupted = 130
)

// runContext is what every command needs from its surroundings.
type runContext struct {
	ctx            context.Context
	stdin          io.Reader
	stdout, stderr io.Writer
	quiet          bool
	command        string       // that was given, such as "pcl grid run"; empty until it is known
	held           atomic.Int32 // how often hold was called and not released
	named          sync.Once    // for the line that names the backend
}

type commands struct {
	Quiet   bool    `short:"q" help:"Print no progress and no notices."`
	HelpAll helpAll `help:"Show this help with all flags, including rarely needed ones."`

	AllowCode bool `rare:"" help:"Start the Python rules (python:FILE.py:NAME) that configurations, grids and results of others name. Rules named in the command itself need no such flag."`

	Demo       demoCmd       `cmd:"" help:"Train five methods on five parallel streams and draw one page about it (about a minute, no data needed)."`
	Run        runCmd        `cmd:"" help:"Train on a scenario, with one or several methods and seeds, and print a table."`
	Compare    compareCmd    `cmd:"" help:"Say which of several methods is better on a data set, by how much, and whether that is more than luck."`
	Grid       gridCmd       `cmd:"" help:"Make many runs, for example a table of the paper, on one machine or several: run, status, reproduce."`
	Tune       tuneCmd       `cmd:"" help:"Find the best values for each method, with the same number of candidates for all."`
	Deploy     deployCmd     `cmd:"" help:"Print the job files with which Slurm or Kubernetes runs a grid."`
	Toy        toyCmd        `cmd:"" help:"Descend the paper's two synthetic functions, the second arriving at step 500."`
	Weigh      weighCmd      `cmd:"" help:"Read gradients or their Gram matrix as JSON on standard input, print a method's weights and their certificate."`
	Data       dataCmd       `cmd:"" help:"Image sets: list, fetch, verify, preview."`
	Methods    methodsCmd    `cmd:"" help:"List the methods, or explain one."`
	Notebook   notebookCmd   `cmd:"" help:"Open JupyterLab with the kernel \"ParallelCL (Go)\", installing what is missing."`
	Kernel     kernelCmd     `cmd:"" help:"The Jupyter kernel: install, list, remove, doctor."`
	Report     reportCmd     `cmd:"" help:"Make a page from runs, grids or notebooks, whichever a folder has: figures, tables and text, to be read offline."`
	Export     exportCmd     `cmd:"" help:"Write runs or grids in other formats: CSV, LaTeX, TensorBoard's event files, and the weights of networks."`
	Bench      benchCmd      `cmd:"" help:"Time training steps."`
	Doctor     doctorCmd     `cmd:"" help:"Show this machine's backends, why one is chosen, and how fast they are."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Completion completionCmd `cmd:"" help:"Print the lines that turn on completion (bash, zsh, fish); add them to your shell's start-up file."`

	Weights goneCmd `cmd:"" hidden:"" passthrough:"" now:"pcl weigh gives the weights λ of gradients, and pcl export weights those of a network"`
}

// Validate comes before the checks that commands make themselves.
func (*commands) Validate(k *kong.Context) error { return checkFlags(k) }

func newCommands() *commands {
	// settings of which a command takes several values
	several := []string{"method", "params", "increment", "labelset", "timeline", "seed"}
	return &commands{
		Run:     runCmd{Plugins: kong.Plugins{settingFlags(several...)}},
		Compare: compareCmd{Plugins: kong.Plugins{settingFlags(append(several, "dataset", "scenario")...)}},
	}
}

// Main runs the command line in os.Args and ends the program with its exit code; cmd/pcl lists the
// exit codes.
func Main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	hangUp := !signal.Ignored(syscall.SIGHUP) // otherwise nohup began the program, which is to outlive its terminal
	if hangUp {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, func() {
		if hangUp {
			signal.Ignore(syscall.SIGHUP) // when a terminal closes, it and its shell send one each
		}
		stop() // a second Ctrl-C ends the program at once
	})
	rc := &runContext{ctx: ctx, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(execute(rc, os.Args[1:]))
}

// execute runs one command line and returns its exit code.
func execute(rc *runContext, args []string) int {
	c := newCommands()
	parser := kong.Must(c,
		kong.Name("pcl"),
		kong.Description("Parallel continual learning with Elastic Multi-Gradient Descent.\n\n"+
			"Exit codes: 0 success, 1 failure, 2 wrong usage or configuration, 130 interrupted and saved, 75 the time of pcl "+
			"grid run --time is up."),
		kong.UsageOnError(),
		kong.Writers(rc.stdout, rc.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(shortHelp),
		kong.BindToProvider(kernelOptions),
		pathType, stdoutType)
	kongplete.Complete(parser)
	k, err := parser.Parse(args)
	if err != nil {
		if p := new(kong.ParseError); errors.As(err, &p) && p.Context.Selected() != nil {
			rc.command = p.Context.Selected().FullPath()
		}
		return exitCode(rc, usageError{err})
	}
	rc.command = k.Selected().FullPath()
	rc.quiet = c.Quiet
	pyrule.SetAllowed(c.AllowCode, typedRules(rc.command, args))
	return exitCode(rc, rc.attend(func() error { return k.Run(rc) }))
}

// typedRules are the rules in Python that a command line names, and not a file. Names in pcl grid
// only select results.
func typedRules(command string, args []string) (names []string) {
	if strings.HasPrefix(command, "pcl grid") {
		return nil
	}
	for _, arg := range args {
		_, value, _ := strings.Cut(arg, "=")
		for _, name := range strings.Split(arg+","+value, ",") {
			name, _, _ = strings.Cut(name, "+")
			if strings.HasPrefix(name, pyrule.Prefix) {
				names = append(names, name)
			}
		}
	}
	return names
}

// usageError is a mistake in the command line or the configuration.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, values ...any) error { return usageError{fmt.Errorf(format, values...)} }

// usage returns a value, or an error that is a mistake in the command's use.
func usage[T any](v T, err error) (T, error) {
	if err != nil {
		err = usageError{err}
	}
	return v, err
}

func exitCode(rc *runContext, err error) int {
	if err == nil {
		return 0
	}
	// the errors of package pcl begin with its name, which is also the program's
	text := strings.TrimPrefix(err.Error(), "pcl: ")
	ended := rc.ctx.Err() != nil && errors.As(err, new(*exec.ExitError)) // the interrupt ended a program that pcl ran
	cause := context.Cause(rc.ctx)
	cancelled := strings.HasSuffix(text, context.Canceled.Error()) && !strings.HasPrefix(text, "interrupted")
	if cancelled || cause != nil && text == cause.Error() {
		text = "interrupted" // the message says no more than that a context was cancelled, wherever that was
	}
	fmt.Fprintln(rc.stderr, "pcl:", printable.Text(text))
	switch {
	case errors.Is(err, experiment.ErrInterrupted), errors.Is(err, context.Canceled), ended:
		return exitInterrupted
	case errors.Is(err, experiment.ErrTimeUp):
		return exitTimeUp
	case errors.As(err, new(usageError)), errors.Is(err, datasets.ErrName):
		fmt.Fprintf(rc.stderr, "Try `%s --help`.\n", cmp.Or(rc.command, "pcl"))
		return exitUsage
	}
	return exitFailure
}

type versionCmd struct{}

func (versionCmd) Run(rc *runContext) error {
	version, commit := origin.Version()
	_, err := fmt.Fprintf(rc.stdout, "pcl %s (commit %s)\n", version, commit)
	return err
}

// completionCmd prints the lines by which a shell asks this program how a command line may go on,
// which kongplete answers.
type completionCmd struct{}

// BeforeApply is called by the parser.
func (completionCmd) BeforeApply(k *kong.Context) error {
	return new(kongplete.InstallCompletions).BeforeApply(k)
}
