package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/rt"
)

// commands does the lines of a cell that are not Go: GoNB's language.
type commands struct {
	*notebook
	*request
	cell.Source
	asks string // the command that has the next shell command ask the user
}

// A command begins with %. The first of its words is its name.
type command struct {
	names, args, help string
	do                func(c *commands, words []string) error
}

var special = []command{
	{"% main args", "[args]", "sets the arguments of the program; not `%args` alone: parses them as flags",
		(*commands).setArgs},
	{"exec", "f [args]", "calls f after the cell", (*commands).exec},
	{"env", "NAME VALUE", "sets a variable of the environment", (*commands).env},
	{"cd", "[folder]", "changes the folder", (*commands).cd},
	{"vars list ls", "", "lists what is declared, variables with their sizes", (*commands).list},
	{"remove rm", "name", "forgets a name", (*commands).remove},
	{"reset", "[go.mod]", "forgets everything, or only the modules that cells have fetched", (*commands).reset},
	{"handover", "", "takes the module as it is now, also without a learner that cannot come along", (*commands).handover},
	{"version", "", "says which kernel this is", (*commands).version},
	{"with_inputs with_password", "", "asks for a line that the next shell command reads", (*commands).ask},
	{"autoget widgets widgets_hb", "", "is needless here", func(*commands, []string) error { return nil }},
	{"noautoget test goflags track untrack goworkfix capture wasm", "", "does nothing here", (*commands).senseless},
}

// run does the commands of a cell in their order, and then runs its Go code.
func (c *commands) run() error {
	if c.Magic != "" {
		if err := c.magic(); err != nil {
			return err
		}
	}
	for _, one := range c.Commands {
		do := c.special
		if strings.HasPrefix(one.Text, "!") {
			do = c.shell
		}
		if err := do(one); err != nil {
			return err
		}
	}
	if strings.TrimSpace(c.Go) == "" {
		return nil
	}
	return c.notebook.run(c.request, c.Source)
}

// special does a line that begins with %.
func (c *commands) special(line cell.Command) error {
	words := split(line.Text[1:])
	switch {
	case len(words) == 0: // GoNB's begin of main without arguments
		return nil
	case words[0] == "help":
		c.help()
		return nil
	case len(words) > 1 && (words[0] == "%" || words[0] == "main"): // where main begins, GoNB parses the arguments
		lines := strings.Split(c.Go, "\n")
		lines[line.Line-1] = "flag.Parse()"
		c.Go = strings.Join(lines, "\n")
	}
	i := slices.IndexFunc(special, func(one command) bool { return slices.Contains(strings.Fields(one.names), words[0]) })
	if i < 0 {
		return fmt.Errorf("%%%s: there is no such command; %%help lists them", words[0])
	}
	if err := special[i].do(c, words); err != nil {
		return fmt.Errorf("%%%s: %w", words[0], err)
	}
	return nil
}

// cellHelp begins what %help shows.
const cellHelp = "### Cells\n" + `
Cells are Go. Declarations live on: variables (also by ` + "`:=`" + `; where Go has no plugins, those that can be
copied), functions, types, constants. A function that is declared again is
the new one for its old callers too. Packages need not be imported. The value of the last expression is shown. ` + "`must(f())`" + ` and
` + "`check(err)`" + ` end the cell on an error; ` + "`ctx`" + ` ends when you stop the cell.

| command | what it does |
| --- | --- |
| ` + "`!command`, `!*command`" + ` | runs a shell command, in the folder of the cells' go.mod with a star |
| ` + "`%%writefile [-a] file`, `%%bash`, `%%sh`, `%%script command`" + ` | at the top of a cell that is not Go |
`

func (c *commands) help() {
	text := cellHelp
	for _, one := range special {
		text += fmt.Sprintf("| `%%%s` %s | %s |\n", strings.ReplaceAll(one.names, " ", "`, `%"), one.args, one.help)
	}
	c.display("display_data", &protocol.DisplayData{
		Data: map[protocol.MIMEType]any{"text/markdown": text, "text/plain": text}})
}

// call asks the host that runs now.
func (c *commands) call(method string, args, reply any) error {
	return c.process.Load().call(c.ctx, method, args, reply)
}

func (c *commands) say(stream, format string, args ...any) {
	c.stream(stream, fmt.Sprintf(format, args...))
}

func (c *commands) senseless(words []string) error {
	c.say("stderr", "%%%s does nothing here: cells are compiled one by one, and what they declare lives on.\n", words[0])
	return nil
}

func (c *commands) setArgs(words []string) error {
	c.building.Lock() // a process that starts reads them
	defer c.building.Unlock()
	c.args = words[1:]
	return c.call("SetArgs", c.args, nil)
}

func (c *commands) exec(words []string) error {
	if len(words) == 1 {
		return errors.New("the name of a function is missing")
	}
	c.Go += "\n" + words[1] + "()"
	return c.setArgs(words[1:])
}

func (c *commands) env(words []string) error {
	name, value, ok := strings.Cut(strings.Join(words[1:], " "), "=")
	if len(words) == 3 {
		name, value, ok = words[1], words[2], true
	}
	if !ok {
		return errors.New("want %env NAME VALUE")
	}
	c.say("stdout", "Set: %s=%q\n", name, value)
	return c.setenv(name, value)
}

// setenv sets a variable for cells and shell commands.
func (c *commands) setenv(name, value string) error {
	if err := os.Setenv(name, value); err != nil {
		return err
	}
	return c.call("Setenv", [2]string{name, value}, nil)
}

func (c *commands) cd(words []string) error {
	for _, dir := range words[1:] {
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = "$HOME" + rest
		}
		if err := os.Chdir(os.ExpandEnv(dir)); err != nil {
			return err
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	c.say("stdout", "Current directory: %q\n", dir)
	if err := c.call("Chdir", dir, nil); err != nil {
		return err
	}
	return c.setenv(protocol.GONB_DIR_ENV, dir)
}

// list shows what cells have declared, also while one runs.
func (c *commands) list([]string) error {
	var table string
	names := c.process.Load().Names("package", "const", "type", "func", "var")
	if err := c.call("Describe", names, &table); err != nil {
		return err
	}
	c.stream("stdout", table)
	return nil
}

func (c *commands) remove(words []string) error {
	if missing := c.process.Load().Forget(words[1:]...); len(missing) > 0 {
		c.say("stderr", "Not declared: %s\n", strings.Join(missing, ", "))
	}
	return nil
}

func (c *commands) reset(words []string) error {
	c.building.Lock()
	defer c.building.Unlock()
	p := c.process.Load()
	dir, err := p.ModuleDir()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if len(words) > 1 && words[1] == "go.mod" {
		return nil
	}
	c.past = history{}
	h := *p.Host // for which no cells are compiled
	_, err = c.renew(c.request, &h, "%reset asked for it", "", rt.Lost{})
	return err
}

func (c *commands) version([]string) error {
	h := c.process.Load()
	c.say("stdout", "ParallelCL notebook kernel, %s, module in %s\n", h.Go.Version, h.Module)
	return nil
}

func (c *commands) handover([]string) error {
	c.building.Lock()
	defer c.building.Unlock()
	return c.ready(c.request, true, fmt.Sprintf("before In[%d]", c.number))
}

func (c *commands) ask(words []string) error {
	c.asks = words[0]
	return nil
}

// shell does a line that begins with an exclamation mark. With a star it runs in the folder of the
// cells' module.
func (c *commands) shell(one cell.Command) (err error) {
	line, inModule := strings.CutPrefix(strings.TrimSpace(one.Text[1:]), "*")
	dir, stdin := "", ""
	if inModule {
		if dir, err = c.process.Load().ModuleDir(); err != nil {
			return err
		}
	}
	if c.asks != "" {
		answer, _ := c.input(c.ctx.Done(), "", c.asks == "with_password")
		stdin, c.asks = answer+"\n", ""
	}
	return c.bash(line, dir, stdin)
}

// magic runs a cell that is not Go.
func (c *commands) magic() error {
	line := strings.TrimPrefix(strings.TrimPrefix(c.Magic, "%%"), "script")
	if file, ok := strings.CutPrefix(line, "writefile"); ok { // or -a and a file
		line = "tee " + file + " >/dev/null && echo Written: " + file
	}
	return c.bash(line, "", strings.TrimSuffix(c.Body, "\n")+"\n")
}

// bash runs a line of shell and shows what it writes. As in GoNB, a command that fails does not
// fail its cell.
func (c *commands) bash(line, dir, stdin string) error {
	module, err := c.process.Load().ModuleDir()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(c.ctx, "/bin/bash", "-c", line)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), marker+c.dir, protocol.GONB_TMP_DIR_ENV+"="+module)
	drain, err := launch(cmd, c.print)
	if err == nil {
		err = cmd.Wait()
		drain() // what it has started may go on
	}
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	if err != nil {
		c.say("stderr", "%v\n", err)
	}
	return nil
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
