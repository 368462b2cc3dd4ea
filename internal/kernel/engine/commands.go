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
)

// commands does the lines of a cell that are not Go: GoNB's language.
type commands struct {
	*Engine
	ctx  context.Context
	out  jupyter.Out
	code string // the cell's Go code
	asks string // the command that has the next shell command ask the user
}

// special are the commands that begin with %.
var special = map[string]func(c *commands, args []string) error{
	"%": (*commands).setArgs, "main": (*commands).setArgs, "args": (*commands).setArgs,
	"exec": (*commands).exec, "env": (*commands).env, "cd": (*commands).cd, "help": (*commands).help,
	"vars": (*commands).list, "list": (*commands).list, "ls": (*commands).list,
	"remove": (*commands).remove, "rm": (*commands).remove, "reset": (*commands).reset, "handover": (*commands).handover, "version": (*commands).version,
	"with_inputs":   func(c *commands, _ []string) error { c.asks = "with_inputs"; return nil },
	"with_password": func(c *commands, _ []string) error { c.asks = "with_password"; return nil },
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
	if len(args) > 0 && (name == "%" || name == "main") { // where main begins, GoNB parses the arguments
		lines := strings.Split(c.code, "\n")
		lines[one.Line-1] = cell.FlagsFunction + "()"
		c.code = strings.Join(lines, "\n")
	}
	why, none := senseless[name]
	do, ok := special[name]
	switch {
	case ok:
		if err := do(c, args); err != nil {
			return fmt.Errorf("%%%s: %w", name, err)
		}
	case !none:
		return fmt.Errorf("%%%s: there is no such command; %%help lists them", name)
	case why != "":
		c.say("stderr", "%%%s does nothing here: %s.\n", name, why)
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
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = "$HOME" + rest
		}
		if err := os.Chdir(os.ExpandEnv(dir)); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	c.say("stdout", "Current directory: %q\n", dir)
	return errors.Join(err, c.ask("Chdir", dir, nil), c.setenv(protocol.GONB_DIR_ENV, dir))
}

func (c *commands) help([]string) error {
	c.out.Display(jupyter.Display{Data: map[string]any{"text/markdown": helpText, "text/plain": helpText}})
	return nil
}

// list shows what cells have declared, also while one runs.
func (c *commands) list([]string) error {
	var all []cell.Variable
	for _, kind := range []string{"import", "constant", "type", "function", "variable"} {
		all = append(all, c.notebook.Names(kind)...)
	}
	var table string
	err := c.ask("Describe", all, &table)
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
	c.building.Lock()
	defer c.building.Unlock()
	os.RemoveAll(c.moduleDir())
	if len(args) == 1 && args[0] == "go.mod" {
		return nil
	}
	h := c.process.Load().host
	c.past = history{}
	c.notebook.Reset(h.Packages)
	return c.renew(c.out, h, "%reset asked for it", nil)
}

func (c *commands) version([]string) error {
	c.say("stdout", "ParallelCL notebook kernel, %s, module in %s\n", c.settings.Go.Version, c.settings.Module)
	return nil
}

func (c *commands) handover([]string) error {
	c.building.Lock()
	defer c.building.Unlock()
	return c.ready(c.ctx, c.out, true)
}

// shell does a line that begins with an exclamation mark. With a star it runs in the folder of the cells' module.
func (c *commands) shell(one cell.Command) (err error) {
	line, inModule := strings.CutPrefix(strings.TrimSpace(one.Text[1:]), "*")
	dir, stdin := "", ""
	if inModule {
		dir = c.moduleDir()
		err = build.MakeModule(dir, c.settings.Module)
	}
	if c.asks != "" && err == nil {
		stdin, err = c.out.Input(c.ctx, "", c.asks == "with_password")
		stdin, c.asks = stdin+"\n", ""
	}
	if err != nil && err != io.EOF {
		return err
	}
	return c.bash(line, dir, stdin)
}

// magic runs a cell that is not Go.
func (c *commands) magic(s cell.Source) error {
	line := strings.TrimPrefix(strings.TrimPrefix(s.Magic, "%%"), "script")
	if file, ok := strings.CutPrefix(line, "writefile"); ok { // or -a and a file
		line = "tee " + file + " >/dev/null && echo Written: " + file
	}
	return c.bash(line, "", strings.TrimSuffix(s.Body, "\n")+"\n")
}

// bash runs a line of shell and shows what it writes. As in GoNB, a command that fails does not fail its cell.
func (c *commands) bash(line, dir, stdin string) error {
	cmd := exec.CommandContext(c.ctx, "/bin/bash", "-c", line)
	build.Group(cmd)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &stream{name: "stdout", show: c.out.Stream}, &stream{name: "stderr", show: c.out.Stream}
	cmd.Env = append(os.Environ(), protocol.GONB_TMP_DIR_ENV+"="+c.moduleDir())
	if err := cmd.Run(); err != nil && c.ctx.Err() == nil {
		c.say("stderr", "%v\n", err)
	}
	return c.ctx.Err()
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
