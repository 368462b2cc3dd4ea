package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/parallelcl/parallelcl/internal/fail"
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
	do                func(c *commands, words []string)
}

var special = []command{
	{"% main args", "[args]", "sets the arguments of the program; not `%args` alone: parses them as flags", (*commands).setArgs},
	{"exec", "f [args]", "calls f after the cell", (*commands).exec},
	{"env", "NAME VALUE", "sets a variable of the environment", (*commands).env},
	{"cd", "[folder]", "changes the folder", (*commands).cd},
	{"vars list ls", "", "lists what is declared, variables with their sizes", (*commands).list},
	{"remove rm", "name", "forgets a name", (*commands).remove},
	{"reset", "[go.mod]", "forgets everything, or only the modules that cells have fetched", (*commands).reset},
	{"handover", "", "takes the module as it is now, also without a learner that cannot come along", (*commands).handover},
	{"version", "", "says which kernel this is", (*commands).version},
	{"with_inputs with_password", "", "asks for a line that the next shell command reads", (*commands).ask},
	{"autoget widgets widgets_hb", "", "is needless here", func(*commands, []string) {}},
	{"noautoget test goflags track untrack goworkfix capture wasm", "", "does nothing here", (*commands).senseless},
}

// run does the commands of a cell in their order, and then runs its Go code.
func (c *commands) run() {
	if c.Magic != "" {
		c.magic()
	}
	for _, one := range c.Commands {
		if strings.HasPrefix(one.Text, "!") {
			c.shell(one)
		} else {
			c.special(one)
		}
	}
	if strings.TrimSpace(c.Go) != "" {
		c.notebook.run(c.request, c.Source)
	}
}

// special does a line that begins with %.
func (c *commands) special(line cell.Command) {
	words := split(line.Text[1:])
	switch {
	case len(words) == 0: // GoNB's begin of main without arguments
		return
	case words[0] == "help":
		c.help()
		return
	case len(words) > 1 && (words[0] == "%" || words[0] == "main"): // where main begins, GoNB parses the arguments
		lines := strings.Split(c.Go, "\n")
		lines[line.Line-1] = "flag.Parse()"
		c.Go = strings.Join(lines, "\n")
	}
	defer fail.At("%" + words[0])
	i := slices.IndexFunc(special, func(one command) bool { return slices.Contains(strings.Fields(one.names), words[0]) })
	fail.When(i < 0, "there is no such command; %%help lists them")
	special[i].do(c, words)
}

// cellHelp begins what %help shows.
const cellHelp = "### Cells\n" + `
Cells are Go. What a cell declares lives on: variables (also by ` + "`:=`" + `; where Go has no plugins, those that can be
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
	c.display("display_data", &protocol.DisplayData{Data: map[protocol.MIMEType]any{"text/markdown": text, "text/plain": text}})
}

// call asks the host that runs now.
func (c *commands) call(method string, args, reply any) {
	fail.If(c.process.Load().call(c.ctx, method, args, reply))
}

func (c *commands) say(stream, format string, args ...any) {
	c.stream(stream, fmt.Sprintf(format, args...))
}

func (c *commands) senseless(words []string) {
	c.say("stderr", "%%%s does nothing here: cells are compiled one by one, and what they declare lives on.\n", words[0])
}

func (c *commands) setArgs(words []string) {
	c.building.Lock() // a process that starts reads them
	defer c.building.Unlock()
	c.args = words[1:]
	c.call("SetArgs", c.args, nil)
}

func (c *commands) exec(words []string) {
	fail.When(len(words) == 1, "the name of a function is missing")
	c.Go += "\n" + words[1] + "()"
	c.setArgs(words[1:])
}

func (c *commands) env(words []string) {
	name, value, ok := strings.Cut(strings.Join(words[1:], " "), "=")
	if len(words) == 3 {
		name, value, ok = words[1], words[2], true
	}
	fail.When(!ok, "want %%env NAME VALUE")
	c.say("stdout", "Set: %s=%q\n", name, value)
	c.setenv(name, value)
}

// setenv sets a variable for cells and shell commands.
func (c *commands) setenv(name, value string) {
	fail.If(os.Setenv(name, value))
	c.call("Setenv", [2]string{name, value}, nil)
}

func (c *commands) cd(words []string) {
	for _, dir := range words[1:] {
		if rest, ok := strings.CutPrefix(dir, "~"); ok {
			dir = "$HOME" + rest
		}
		fail.If(os.Chdir(os.ExpandEnv(dir)))
	}
	dir := fail.Or(os.Getwd())
	c.say("stdout", "Current directory: %q\n", dir)
	c.call("Chdir", dir, nil)
	c.setenv(protocol.GONB_DIR_ENV, dir)
}

// list shows what cells have declared, also while one runs.
func (c *commands) list([]string) {
	var table string
	c.call("Describe", c.process.Load().Names("package", "const", "type", "func", "var"), &table)
	c.stream("stdout", table)
}

func (c *commands) remove(words []string) {
	if missing := c.process.Load().Forget(words[1:]...); len(missing) > 0 {
		c.say("stderr", "Not declared: %s\n", strings.Join(missing, ", "))
	}
}

func (c *commands) reset(words []string) {
	c.building.Lock()
	defer c.building.Unlock()
	p := c.process.Load()
	fail.If(os.RemoveAll(fail.Or(p.ModuleDir())))
	if len(words) == 1 || words[1] != "go.mod" {
		c.past = history{}
		h := *p.Host // for which no cells are compiled
		c.renew(c.request, &h, "%reset asked for it", "", rt.Lost{})
	}
}

func (c *commands) version([]string) {
	h := c.process.Load()
	c.say("stdout", "ParallelCL notebook kernel, %s, module in %s\n", h.Go.Version, h.Module)
}

func (c *commands) handover([]string) {
	c.building.Lock()
	defer c.building.Unlock()
	c.ready(c.request, true, fmt.Sprintf("before In[%d]", c.number))
}

func (c *commands) ask(words []string) { c.asks = words[0] }

// shell does a line that begins with an exclamation mark. With a star it runs in the folder of the cells' module.
func (c *commands) shell(one cell.Command) {
	line, inModule := strings.CutPrefix(strings.TrimSpace(one.Text[1:]), "*")
	dir, stdin := "", ""
	if inModule {
		dir = fail.Or(c.process.Load().ModuleDir())
	}
	if c.asks != "" {
		answer, _ := c.input(c.ctx.Done(), "", c.asks == "with_password")
		stdin, c.asks = answer+"\n", ""
	}
	c.bash(line, dir, stdin)
}

// magic runs a cell that is not Go.
func (c *commands) magic() {
	line := strings.TrimPrefix(strings.TrimPrefix(c.Magic, "%%"), "script")
	if file, ok := strings.CutPrefix(line, "writefile"); ok { // or -a and a file
		line = "tee " + file + " >/dev/null && echo Written: " + file
	}
	c.bash(line, "", strings.TrimSuffix(c.Body, "\n")+"\n")
}

// bash runs a line of shell and shows what it writes. As in GoNB, a command that fails does not fail its cell.
func (c *commands) bash(line, dir, stdin string) {
	cmd := exec.CommandContext(c.ctx, "/bin/bash", "-c", line)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
	cmd.Env = append(os.Environ(), marker+c.dir, protocol.GONB_TMP_DIR_ENV+"="+fail.Or(c.process.Load().ModuleDir()))
	drain, err := launch(cmd, c.print)
	if err == nil {
		err = cmd.Wait()
	}
	drain() // what it has started may go on
	fail.If(c.ctx.Err())
	if err != nil {
		c.say("stderr", "%v\n", err)
	}
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
