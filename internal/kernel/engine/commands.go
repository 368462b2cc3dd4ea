package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// commands are the lines of cells that are not Go: GoNB's language.
type commands struct {
	engine *Engine
	env    map[string]string // that cells have set, for later hosts
	args   []string
	noGet  bool
}

// code is what is left of a cell when its commands are done.
type code struct {
	Go   string
	call string // is added to it
}

// run does the commands of a cell in their order. All are done before the cell's Go code runs.
func (c *commands) run(ctx context.Context, s cell.Source, out jupyter.Out) (code, error) {
	if s.Magic != "" {
		return code{}, c.magic(ctx, s, out)
	}
	rest := code{Go: s.Go}
	asks := prompt("")
	for _, one := range s.Commands {
		if shell, ok := strings.CutPrefix(one.Text, "!"); ok {
			if err := c.shell(ctx, shell, asks, out); err != nil {
				return rest, err
			}
			asks = ""
			continue
		}
		words := split(strings.TrimPrefix(one.Text, "%"))
		if len(words) == 0 { // GoNB's begin of main without arguments
			continue
		}
		do, ok := special[words[0]]
		if !ok {
			return rest, &jupyter.Error{Name: "Unknown command", Value: fmt.Sprintf("%%%s: there is no such command; %%help lists them", words[0])}
		}
		if err := do(c, ctx, words[1:], &rest, &asks, out); err != nil {
			return rest, fmt.Errorf("%%%s: %w", words[0], err)
		}
	}
	return rest, nil
}

// prompt says whether the next shell command may ask the user.
type prompt string

const (
	asksLine   prompt = "line"
	asksSecret prompt = "secret"
)

type command func(c *commands, ctx context.Context, args []string, rest *code, asks *prompt, out jupyter.Out) error

// special are the commands that begin with %.
var special map[string]command

func init() {
	special = map[string]command{
		"%":       mainArgs,
		"main":    mainArgs,
		"args":    mainArgs,
		"exec":    execFunction,
		"env":     setEnv,
		"cd":      changeDir,
		"help":    help,
		"version": version,
		"list":    list,
		"ls":      list,
		"remove":  remove,
		"rm":      remove,
		"reset":   reset,
		"vars":    showVariables,
		"capture": nothing, // see capturing
		"autoget": func(c *commands, _ context.Context, _ []string, _ *code, _ *prompt, _ jupyter.Out) error {
			c.noGet = false
			return nil
		},
		"noautoget": func(c *commands, _ context.Context, _ []string, _ *code, _ *prompt, _ jupyter.Out) error {
			c.noGet = true
			return nil
		},
		"with_inputs": func(_ *commands, _ context.Context, _ []string, _ *code, asks *prompt, _ jupyter.Out) error {
			*asks = asksLine
			return nil
		},
		"with_password": func(_ *commands, _ context.Context, _ []string, _ *code, asks *prompt, _ jupyter.Out) error {
			*asks = asksSecret
			return nil
		},
		"widgets":    nothing, // they work without it
		"widgets_hb": nothing,
		"goflags":    senseless("cells are compiled by Go's compiler directly, without go build"),
		"track":      senseless("changes of the module are noticed without it"),
		"untrack":    senseless("changes of the module are noticed without it"),
		"goworkfix":  senseless("cells use the module's own go.mod"),
		"wasm":       func(*commands, context.Context, []string, *code, *prompt, jupyter.Out) error { return errNoWasm },
	}
}

var errNoWasm = fmt.Errorf("cells run in the kernel, not in the browser: use stock GoNB for WebAssembly")

func nothing(*commands, context.Context, []string, *code, *prompt, jupyter.Out) error { return nil }

// senseless is a command of GoNB that has no meaning here.
func senseless(why string) command {
	return func(_ *commands, _ context.Context, _ []string, _ *code, _ *prompt, out jupyter.Out) error {
		out.Stream("stderr", "This command does nothing here: "+why+".\n")
		return nil
	}
}

func mainArgs(c *commands, ctx context.Context, args []string, rest *code, _ *prompt, _ jupyter.Out) error {
	if len(args) == 0 && len(c.args) == 0 {
		return nil
	}
	c.args = args
	_, err := c.engine.ask(ctx, wire.Request{Op: "args", List: args})
	return err
}

func execFunction(c *commands, ctx context.Context, args []string, rest *code, asks *prompt, out jupyter.Out) error {
	if len(args) == 0 {
		return fmt.Errorf("the name of a function is missing")
	}
	rest.call = "\n" + args[0] + "()"
	return mainArgs(c, ctx, args[1:], rest, asks, out)
}

func setEnv(c *commands, ctx context.Context, args []string, _ *code, _ *prompt, out jupyter.Out) error {
	if len(args) == 1 {
		if key, value, ok := strings.Cut(args[0], "="); ok {
			args = []string{key, value}
		}
	}
	if len(args) != 2 {
		return fmt.Errorf("want %%env NAME VALUE")
	}
	if err := c.setenv(ctx, args[0], args[1]); err != nil {
		return err
	}
	out.Stream("stdout", fmt.Sprintf("Set: %s=%q\n", args[0], args[1]))
	return nil
}

// setenv sets a variable for cells and shell commands.
func (c *commands) setenv(ctx context.Context, name, value string) error {
	if err := os.Setenv(name, value); err != nil {
		return err
	}
	_, err := c.engine.ask(ctx, wire.Request{Op: "set", List: []string{name, value}})
	return err
}

func changeDir(c *commands, ctx context.Context, args []string, _ *code, _ *prompt, out jupyter.Out) error {
	if len(args) > 1 {
		return fmt.Errorf("want %%cd FOLDER")
	}
	said := "Current directory: %q\n"
	if len(args) == 1 {
		said = "Changed directory to %q\n"
		if err := os.Chdir(expand(args[0])); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if _, err := c.engine.ask(ctx, wire.Request{Op: "cd", Path: dir}); err != nil {
		return err
	}
	out.Stream("stdout", fmt.Sprintf(said, dir))
	return c.setenv(ctx, protocol.GONB_DIR_ENV, dir)
}

// expand replaces ~ and variables in a path.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			path = home + rest
		}
	}
	return os.ExpandEnv(path)
}

func version(c *commands, _ context.Context, _ []string, _ *code, _ *prompt, out jupyter.Out) error {
	out.Stream("stdout", fmt.Sprintf("ParallelCL notebook kernel, %s, module in %s\n", c.engine.config.Go.Version, c.engine.config.Module))
	return nil
}

func help(_ *commands, _ context.Context, _ []string, _ *code, _ *prompt, out jupyter.Out) error {
	out.Display(jupyter.Display{Data: map[string]any{"text/markdown": helpText, "text/plain": helpText}})
	return nil
}

func list(c *commands, _ context.Context, _ []string, _ *code, _ *prompt, out jupyter.Out) error {
	names := c.engine.notebook.Names()
	for _, kind := range []string{"import", "constant", "type", "variable", "function"} {
		if len(names[kind]) > 0 {
			out.Stream("stdout", fmt.Sprintf("%ss: %s\n", kind, strings.Join(names[kind], ", ")))
		}
	}
	return nil
}

func remove(c *commands, _ context.Context, args []string, _ *code, _ *prompt, out jupyter.Out) error {
	if missing := c.engine.notebook.Forget(args...); len(missing) > 0 {
		out.Stream("stderr", "Not declared: "+strings.Join(missing, ", ")+"\n")
	}
	return nil
}

func reset(c *commands, _ context.Context, args []string, _ *code, _ *prompt, out jupyter.Out) error {
	if len(args) == 1 && args[0] == "go.mod" {
		return os.RemoveAll(filepath.Join(c.engine.dir, "module"))
	}
	out.Stream("stdout", "All declarations are forgotten; the process of the cells is a new one.\n")
	return c.engine.restart()
}

// shell runs a line of shell. With a star it runs in the folder of the cells' module. As in GoNB, a command that fails does
// not fail its cell.
func (c *commands) shell(ctx context.Context, line string, asks prompt, out jupyter.Out) error {
	line = strings.TrimSpace(line)
	dir := ""
	if rest, ok := strings.CutPrefix(line, "*"); ok {
		var err error
		if dir, err = c.engine.moduleDir(); err != nil {
			return err
		}
		line = rest
	}
	cmd := exec.CommandContext(ctx, "/bin/bash", "-c", line)
	cmd.Dir = dir
	if asks != "" {
		text, err := out.Input(ctx, "", asks == asksSecret)
		if err != nil && err != io.EOF {
			return err
		}
		cmd.Stdin = strings.NewReader(text + "\n")
	}
	return c.program(ctx, cmd, out)
}

// program runs a program and shows what it writes.
func (c *commands) program(ctx context.Context, cmd *exec.Cmd, out jupyter.Out) error {
	build.Group(cmd)
	cmd.Stdout, cmd.Stderr = shown{out, "stdout"}, shown{out, "stderr"}
	cmd.Env = append(os.Environ(), protocol.GONB_TMP_DIR_ENV+"="+filepath.Join(c.engine.dir, "module"))
	err := cmd.Run()
	if ctx.Err() != nil {
		return errStopped
	}
	if err != nil {
		out.Stream("stderr", err.Error()+"\n")
	}
	return nil
}

// shown writes to a stream of a cell.
type shown struct {
	out  jupyter.Out
	name string
}

func (s shown) Write(p []byte) (int, error) {
	s.out.Stream(s.name, string(p))
	return len(p), nil
}

// magic runs a cell that is not Go.
func (c *commands) magic(ctx context.Context, s cell.Source, out jupyter.Out) error {
	words := split(s.Magic)
	switch words[0] {
	case "%%writefile":
		return writeFile(words[1:], s.Body, out)
	case "%%gx":
		return fmt.Errorf("%%%%gx: GX runs in stock GoNB only")
	case "%%script":
		words = words[1:]
	default:
		words = []string{strings.TrimPrefix(words[0], "%%")}
	}
	if len(words) == 0 {
		return fmt.Errorf("%%%%script: the command is missing")
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(s.Body + "\n")
	return c.program(ctx, cmd, out)
}

func writeFile(args []string, text string, out jupyter.Out) error {
	flags, said := os.O_CREATE|os.O_WRONLY|os.O_TRUNC, "written"
	if len(args) > 1 && args[0] == "-a" {
		flags, said, args = os.O_CREATE|os.O_WRONLY|os.O_APPEND, "appended", args[1:]
	}
	if len(args) != 1 {
		return fmt.Errorf("want %%%%writefile [-a] FILE")
	}
	f, err := os.OpenFile(expand(args[0]), flags, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(strings.TrimSuffix(text, "\n") + "\n"); err != nil {
		return err
	}
	out.Stream("stderr", fmt.Sprintf("Cell contents %s to %q.\n", said, expand(args[0])))
	return f.Close()
}

// capturing copies the output of a cell with %capture to a file.
func (c *commands) capturing(s cell.Source, out jupyter.Out) (jupyter.Out, func()) {
	for _, one := range s.Commands {
		words := split(one.Text)
		if len(words) < 2 || words[0] != "%capture" {
			continue
		}
		flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
		if words[1] == "-a" {
			flags = os.O_CREATE | os.O_WRONLY | os.O_APPEND
		}
		f, err := os.OpenFile(expand(words[len(words)-1]), flags, 0o666)
		if err != nil {
			out.Stream("stderr", err.Error()+"\n")
			continue
		}
		return &tee{Out: out, w: f}, func() { f.Close() }
	}
	return out, func() {}
}

// tee is an output that also goes to a file.
type tee struct {
	jupyter.Out
	mu sync.Mutex
	w  io.Writer
}

func (t *tee) Stream(name, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	io.WriteString(t.w, text) // to a file that is closed after the cell
	t.Out.Stream(name, text)
}

// split cuts a command into its words. Words may be in quotes.
func split(line string) (words []string) {
	var word strings.Builder
	begun, quoted := false, false
	for i := 0; i < len(line); i++ {
		ch := line[i]
		switch {
		case !quoted && (ch == ' ' || ch == '\t' || ch == '\n'):
			if begun {
				words = append(words, word.String())
			}
			word.Reset()
			begun = false
			continue
		case ch == '"':
			quoted, begun = !quoted, true
			continue
		case ch == '\\' && quoted && i+1 < len(line):
			i++
			ch = line[i]
			if special, ok := map[byte]byte{'n': '\n', 't': '\t'}[ch]; ok {
				ch = special
			}
		}
		word.WriteByte(ch)
		begun = true
	}
	if begun {
		words = append(words, word.String())
	}
	return words
}
