package engine

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// commands does the lines of a cell that are not Go: GoNB's language.
type commands struct {
	*Engine
	ctx    context.Context
	out    jupyter.Out
	code   string // the cell's Go code
	call   string // is added to it
	asks   bool   // whether the next shell command may ask the user
	secret bool   // and the answer is not shown
}

// special are the commands that begin with %.
var special map[string]func(c *commands, args []string) error

func init() {
	special = map[string]func(*commands, []string) error{
		"%": (*commands).setArgs, "main": (*commands).setArgs, "args": (*commands).setArgs,
		"exec": (*commands).exec,
		"env":  (*commands).env,
		"cd":   (*commands).cd,
		"help": func(c *commands, _ []string) error {
			c.out.Display(jupyter.Display{Data: map[string]any{"text/markdown": helpText, "text/plain": helpText}})
			return nil
		},
		"list": (*commands).list, "ls": (*commands).list,
		"remove": (*commands).remove, "rm": (*commands).remove,
		"reset":         (*commands).reset,
		"vars":          (*commands).vars,
		"handover":      func(c *commands, _ []string) error { return c.takeOver(c.ctx, c.out) },
		"with_inputs":   func(c *commands, _ []string) error { c.asks, c.secret = true, false; return nil },
		"with_password": func(c *commands, _ []string) error { c.asks, c.secret = true, true; return nil },
		"widgets":       func(*commands, []string) error { return nil }, // they work without it
		"widgets_hb":    func(*commands, []string) error { return nil },
		"autoget":       func(*commands, []string) error { return nil }, // is always so
		"noautoget":     senseless("packages are fetched when a cell imports them"),
		"test":          senseless("Go's testing package runs tests only in a program of its own; testing.Benchmark(f) runs a benchmark here"),
		"goflags":       senseless("cells are compiled by Go's compiler directly, without go build"),
		"track":         senseless("changes of the module are noticed without it"),
		"untrack":       senseless("changes of the module are noticed without it"),
		"goworkfix":     senseless("cells use the module's own go.mod"),
		"capture":       senseless("write to a file with os.WriteFile"),
		"version": func(c *commands, _ []string) error {
			c.out.Stream("stdout", fmt.Sprintf("ParallelCL notebook kernel, %s, module in %s\n", c.config.Go.Version, c.config.Module))
			return nil
		},
		"wasm": func(*commands, []string) error { return fmt.Errorf("cells run in the kernel, not in the browser") },
	}
}

// senseless is a command of GoNB that has no meaning here.
func senseless(why string) func(*commands, []string) error {
	return func(c *commands, _ []string) error {
		c.out.Stream("stderr", "This command does nothing here: "+why+".\n")
		return nil
	}
}

// run does the commands of a cell in their order, before its Go code runs.
func (c *commands) run(s cell.Source) error {
	if s.Magic != "" {
		return c.magic(s)
	}
	c.code = s.Go
	for _, one := range s.Commands {
		if line, ok := strings.CutPrefix(one.Text, "!"); ok {
			if err := c.shell(line); err != nil {
				return err
			}
			c.asks = false
			continue
		}
		words := split(strings.TrimPrefix(one.Text, "%"))
		if len(words) == 0 { // GoNB's begin of main without arguments
			continue
		}
		do, ok := special[words[0]]
		if !ok {
			return &jupyter.Error{Name: "Unknown command", Value: fmt.Sprintf("%%%s: there is no such command; %%help lists them", words[0])}
		}
		if len(words) > 1 && (words[0] == "%" || words[0] == "main") { // where main begins, GoNB parses the arguments
			lines := strings.Split(c.code, "\n")
			lines[one.Line-1] = cell.FlagsFunction + "()"
			c.code = strings.Join(lines, "\n")
		}
		if err := do(c, words[1:]); err != nil {
			return fmt.Errorf("%%%s: %w", words[0], err)
		}
	}
	return nil
}

// tell asks the host for something that has no answer.
func (c *commands) tell(r wire.Request) error {
	_, err := c.ask(c.ctx, r)
	return err
}

func (c *commands) setArgs(args []string) error { return c.tell(wire.Request{Op: "args", List: args}) }

func (c *commands) exec(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("the name of a function is missing")
	}
	c.call = "\n" + args[0] + "()"
	return c.setArgs(args[1:])
}

func (c *commands) env(args []string) error {
	name, value, ok := strings.Cut(strings.Join(args, " "), "=")
	if len(args) == 2 {
		name, value, ok = args[0], args[1], true
	}
	if !ok {
		return fmt.Errorf("want %%env NAME VALUE")
	}
	if err := c.setenv(name, value); err != nil {
		return err
	}
	c.out.Stream("stdout", fmt.Sprintf("Set: %s=%q\n", name, value))
	return nil
}

// setenv sets a variable for cells and shell commands.
func (c *commands) setenv(name, value string) error {
	if err := os.Setenv(name, value); err != nil {
		return err
	}
	return c.tell(wire.Request{Op: "set", List: []string{name, value}})
}

func (c *commands) cd(args []string) error {
	said := "Current directory: %q\n"
	if len(args) > 0 {
		said = "Changed directory to %q\n"
		if err := os.Chdir(expand(args[0])); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	if err := c.tell(wire.Request{Op: "cd", Path: dir}); err != nil {
		return err
	}
	c.out.Stream("stdout", fmt.Sprintf(said, dir))
	return c.setenv(protocol.GONB_DIR_ENV, dir)
}

// expand replaces ~ and variables in a path.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		path = "$HOME" + rest
	}
	return os.ExpandEnv(path)
}

func (c *commands) list([]string) error {
	for _, kind := range []string{"import", "constant", "type", "variable", "function"} {
		var names []string
		for _, n := range c.notebook.Names(kind) {
			if kind == "import" {
				n.Name += fmt.Sprintf(" %q", n.Type)
			}
			names = append(names, n.Name)
		}
		if len(names) > 0 {
			c.out.Stream("stdout", fmt.Sprintf("%ss: %s\n", kind, strings.Join(names, ", ")))
		}
	}
	return nil
}

func (c *commands) remove(args []string) error {
	if missing := c.notebook.Forget(args...); len(missing) > 0 {
		c.out.Stream("stderr", "Not declared: "+strings.Join(missing, ", ")+"\n")
	}
	return nil
}

func (c *commands) reset(args []string) error {
	if len(args) == 1 && args[0] == "go.mod" {
		return os.RemoveAll(c.moduleDir())
	}
	c.out.Stream("stdout", "All declarations are forgotten; the process of the cells is a new one.\n")
	return c.restart()
}

// shell runs a line of shell. With a star it runs in the folder of the cells' module. As in GoNB, a command that fails does
// not fail its cell.
func (c *commands) shell(line string) error {
	line, inModule := strings.CutPrefix(strings.TrimSpace(line), "*")
	cmd := exec.CommandContext(c.ctx, "/bin/bash", "-c", line)
	if inModule {
		cmd.Dir = c.moduleDir()
		if err := build.MakeModule(cmd.Dir, c.config.Module); err != nil {
			return err
		}
	}
	if c.asks {
		text, err := c.out.Input(c.ctx, "", c.secret)
		if err != nil && err != io.EOF {
			return err
		}
		cmd.Stdin = strings.NewReader(text + "\n")
	}
	return c.program(cmd)
}

// program runs a program and shows what it writes.
func (c *commands) program(cmd *exec.Cmd) error {
	build.Group(cmd)
	cmd.Stdout, cmd.Stderr = shown{c.out, "stdout"}, shown{c.out, "stderr"}
	cmd.Env = append(os.Environ(), protocol.GONB_TMP_DIR_ENV+"="+c.moduleDir())
	err := cmd.Run()
	if c.ctx.Err() != nil {
		return errStopped
	}
	if err != nil {
		c.out.Stream("stderr", err.Error()+"\n")
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
func (c *commands) magic(s cell.Source) error {
	words := split(strings.TrimPrefix(s.Magic, "%%"))
	switch words[0] {
	case "writefile":
		return c.writeFile(words[1:], s.Body)
	case "script":
		if words = words[1:]; len(words) == 0 {
			return fmt.Errorf("%%%%script: the command is missing")
		}
	}
	cmd := exec.CommandContext(c.ctx, words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(s.Body + "\n")
	return c.program(cmd)
}

func (c *commands) writeFile(args []string, text string) error {
	mode, said := os.O_TRUNC, "written"
	if len(args) > 1 && args[0] == "-a" {
		mode, said, args = os.O_APPEND, "appended", args[1:]
	}
	if len(args) != 1 {
		return fmt.Errorf("want %%%%writefile [-a] FILE")
	}
	path := expand(args[0])
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(strings.TrimSuffix(text, "\n") + "\n"); err != nil {
		return err
	}
	c.out.Stream("stderr", fmt.Sprintf("Cell contents %s to %q.\n", said, path))
	return f.Close()
}

var (
	wordText   = regexp.MustCompile(`(?:"(?:[^"\\]|\\.)*"|[^\s])+`)
	quotedText = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
)

// split cuts a command into its words. Words, or parts of them, may be in quotes.
func split(line string) []string {
	words := wordText.FindAllString(line, -1)
	for i, word := range words {
		words[i] = quotedText.ReplaceAllStringFunc(word, func(s string) string {
			if text, err := strconv.Unquote(s); err == nil {
				return text
			}
			return s
		})
	}
	return words
}

// moduleDir is the folder of the cells' go.mod, which is made when it is needed.
func (e *Engine) moduleDir() string { return filepath.Join(e.dir, build.ModuleDir) }
