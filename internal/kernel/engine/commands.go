package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
	asks   bool   // whether the next shell command may ask the user
	secret bool   // and the answer is not shown
}

// special are the commands that begin with %.
var special = map[string]func(c *commands, args []string) error{
	"%": (*commands).setArgs, "main": (*commands).setArgs, "args": (*commands).setArgs,
	"exec": (*commands).exec,
	"env":  (*commands).env,
	"cd":   (*commands).cd,
	"help": (*commands).help,
	"list": (*commands).list, "ls": (*commands).list,
	"remove": (*commands).remove, "rm": (*commands).remove,
	"reset":         (*commands).reset,
	"vars":          (*commands).vars,
	"handover":      (*commands).handover,
	"version":       (*commands).version,
	"with_inputs":   func(c *commands, _ []string) error { c.asks, c.secret = true, false; return nil },
	"with_password": func(c *commands, _ []string) error { c.asks, c.secret = true, true; return nil },
}

// senseless are commands of GoNB that have no meaning here. Some are needless, and say nothing.
var senseless = map[string]string{
	"widgets": "", "widgets_hb": "", "autoget": "",
	"noautoget": "packages are fetched when a cell imports them",
	"test":      "Go's testing package runs tests only in a program of its own; testing.Benchmark(f) runs a benchmark here",
	"goflags":   "cells are compiled by Go's compiler directly, without go build",
	"track":     "changes of the module are noticed without it",
	"untrack":   "changes of the module are noticed without it",
	"goworkfix": "cells use the module's own go.mod",
	"capture":   "write to a file with os.WriteFile",
	"wasm":      "cells run in the kernel, not in the browser",
}

// run does the commands of a cell in their order, before its Go code runs.
func (c *commands) run(s cell.Source) error {
	if s.Magic != "" {
		return c.magic(s)
	}
	c.code = s.Go
	for _, one := range s.Commands {
		do := c.special
		if strings.HasPrefix(one.Text, "!") {
			do = c.shell
		}
		if err := do(one); err != nil {
			return err
		}
	}
	return nil
}

// special does a line that begins with %.
func (c *commands) special(one cell.Command) error {
	words := split(one.Text[1:])
	if len(words) == 0 { // GoNB's begin of main without arguments
		return nil
	}
	name, args := words[0], words[1:]
	do, ok := special[name]
	if why, none := senseless[name]; none {
		if why != "" {
			c.say("stderr", "%%%s does nothing here: %s.\n", name, why)
		}
		return nil
	} else if !ok {
		return fmt.Errorf("%%%s: there is no such command; %%help lists them", name)
	}
	if len(args) > 0 && (name == "%" || name == "main") { // where main begins, GoNB parses the arguments
		lines := strings.Split(c.code, "\n")
		lines[one.Line-1] = cell.FlagsFunction + "()"
		c.code = strings.Join(lines, "\n")
	}
	if err := do(c, args); err != nil {
		return fmt.Errorf("%%%s: %w", name, err)
	}
	return nil
}

// ask asks the host that runs now.
func (c *commands) ask(method string, args, reply any) error {
	return c.process.Load().call(c.ctx, method, args, reply)
}

func (c *commands) say(stream, format string, args ...any) {
	c.out.Stream(stream, fmt.Sprintf(format, args...))
}

func (c *commands) setArgs(args []string) error { return c.ask("SetArgs", args, nil) }

func (c *commands) exec(args []string) error {
	if len(args) == 0 {
		return errors.New("the name of a function is missing")
	}
	c.code += "\n" + args[0] + "()"
	return c.setArgs(args[1:])
}

func (c *commands) env(args []string) error {
	name, value, ok := strings.Cut(strings.Join(args, " "), "=")
	if len(args) == 2 {
		name, value, ok = args[0], args[1], true
	}
	if !ok {
		return errors.New("want %env NAME VALUE")
	}
	c.say("stdout", "Set: %s=%q\n", name, value)
	return c.setenv(name, value)
}

// setenv sets a variable for cells and shell commands.
func (c *commands) setenv(name, value string) error {
	return errors.Join(os.Setenv(name, value), c.ask("Setenv", [2]string{name, value}, nil))
}

func (c *commands) cd(args []string) error {
	for _, dir := range args {
		if err := os.Chdir(expand(dir)); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	c.say("stdout", "Current directory: %q\n", dir)
	return errors.Join(err, c.ask("Chdir", dir, nil), c.setenv(protocol.GONB_DIR_ENV, dir))
}

// expand replaces ~ and variables in a path.
func expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		path = "$HOME" + rest
	}
	return os.ExpandEnv(path)
}

func (c *commands) help([]string) error {
	c.out.Display(jupyter.Display{Data: map[string]any{"text/markdown": helpText, "text/plain": helpText}})
	return nil
}

func (c *commands) version([]string) error {
	c.say("stdout", "ParallelCL notebook kernel, %s, module in %s\n", c.settings.Go.Version, c.settings.Module)
	return nil
}

func (c *commands) list([]string) error {
	names := c.notebook.Names()
	for _, kind := range []string{"import", "constant", "type", "variable", "function"} {
		if len(names[kind]) > 0 {
			c.say("stdout", "%ss: %s\n", kind, strings.Join(names[kind], ", "))
		}
	}
	return nil
}

// vars shows the variables of the notebook, also while a cell runs.
func (c *commands) vars([]string) error {
	var list []wire.Variable
	for _, v := range c.notebook.Variables() {
		list = append(list, wire.Variable(v))
	}
	var table string
	err := c.ask("Describe", list, &table)
	c.say("stdout", "%s", cell.Plain(table))
	return err
}

func (c *commands) remove(args []string) error {
	if missing := c.notebook.Forget(args...); len(missing) > 0 {
		c.say("stderr", "Not declared: %s\n", strings.Join(missing, ", "))
	}
	return nil
}

func (c *commands) reset(args []string) error {
	if len(args) == 1 && args[0] == "go.mod" {
		return os.RemoveAll(c.moduleDir())
	}
	c.say("stdout", "All declarations are forgotten; the process of the cells is a new one.\n")
	return c.restart()
}

func (c *commands) handover([]string) error {
	c.building.Lock()
	defer c.building.Unlock()
	return c.ready(c.ctx, c.out, true)
}

// shell runs a line of shell. With a star it runs in the folder of the cells' module. As in GoNB, a command that fails does
// not fail its cell.
func (c *commands) shell(one cell.Command) error {
	line, inModule := strings.CutPrefix(strings.TrimSpace(one.Text[1:]), "*")
	cmd := exec.CommandContext(c.ctx, "/bin/bash", "-c", line)
	if inModule {
		cmd.Dir = c.moduleDir()
		if err := build.MakeModule(cmd.Dir, c.settings.Module); err != nil {
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
	c.asks = false
	return c.program(cmd)
}

// program runs a program and shows what it writes.
func (c *commands) program(cmd *exec.Cmd) error {
	build.Group(cmd)
	cmd.Stdout, cmd.Stderr = shown{c, "stdout"}, shown{c, "stderr"}
	cmd.Env = append(os.Environ(), protocol.GONB_TMP_DIR_ENV+"="+c.moduleDir())
	err := cmd.Run()
	if err != nil && c.ctx.Err() == nil {
		c.say("stderr", "%v\n", err)
	}
	return c.ctx.Err()
}

// shown writes to a stream of a cell.
type shown struct {
	c    *commands
	name string
}

func (s shown) Write(p []byte) (int, error) {
	s.c.out.Stream(s.name, string(p))
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
			return errors.New("%%script: the command is missing")
		}
	}
	cmd := exec.CommandContext(c.ctx, words[0], words[1:]...)
	cmd.Stdin = strings.NewReader(s.Body + "\n")
	return c.program(cmd)
}

func (c *commands) writeFile(args []string, text string) error {
	mode := os.O_TRUNC
	if len(args) > 1 && args[0] == "-a" {
		mode, args = os.O_APPEND, args[1:]
	}
	if len(args) != 1 {
		return errors.New("want %%writefile [-a] FILE")
	}
	path := expand(args[0])
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|mode, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	c.say("stderr", "Cell contents written to %q.\n", path)
	return errors.Join(err, f.Close())
}

var word = regexp.MustCompile(`(?:"[^"]*"|[^\s"])+`)

// split cuts a command into its words. Words, or parts of them, may be in quotes.
func split(line string) []string {
	words := word.FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, `"`, "")
	}
	return words
}

// moduleDir is the folder of the cells' go.mod, which is made when it is needed.
func (e *Engine) moduleDir() string { return filepath.Join(e.dir, build.ModuleDir) }
