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

// A command begins with %. The first of its words is its name. One that runs in its place runs
// after the Go above it, the others before the cell.
type command struct {
	names, args, help string
	inPlace           bool
	do                func(c *commands, words []string) error
}

const atTop = "it stands at the top of a cell"

var special = []command{
	{"% main args", "[args]", "sets the arguments of the program; not `%args` alone: parses them as flags", false,
		(*commands).setArgs},
	{"exec", "f [args]", "calls f after the cell", false, (*commands).exec},
	{"time %time", "statement", "says how long the statement takes; `%%time` at the top: the cell", false,
		refuse("want %time STATEMENT, or %%time at the top of a cell")},
	{"timeit %timeit", "statement", "repeats the statement and says how long it takes; `%%timeit` at the top: the cell",
		false, refuse("want %timeit STATEMENT, or %%timeit at the top of a cell")},
	{"who whos vars list ls", "", "lists what is declared: kinds, types, sizes, values in short", true, (*commands).list},
	{"env", "NAME VALUE", "sets a variable of the environment", true, (*commands).env},
	{"cd", "[folder]", "changes the folder", true, (*commands).cd},
	{"remove rm", "name", "forgets a name", false, (*commands).remove},
	{"reset", "[go.mod]", "forgets everything, or only the modules that cells have fetched", false, (*commands).reset},
	{"handover", "", "takes the module as it is now, also without a learner that cannot come along", false,
		(*commands).handover},
	{"version", "", "says which kernel this is", false, (*commands).version},
	{"help", "", "shows this list", false, nil}, // see [commands.special]
	{"with_inputs with_password", "", "asks for a line that the next shell command reads", true, (*commands).ask},
	{"%bash %sh %script %writefile", "",
		"at the top: the cell is for a shell or a command, or becomes a file (`-a`: its end)", false, refuse(atTop)},
	{"%html %markdown", "", "at the top: the cell is shown as HTML or Markdown", false, refuse(atTop)},
	{"autoget widgets widgets_hb", "", "is needless here", false, func(*commands, []string) error { return nil }},
	{"test", "", "is refused: no tests run in cells", false, refuse("no tests run in cells: call what checks in a cell, " +
		"where a panic is shown with its line, or put code and tests into a package of a module and run !go test there")},
	{"noautoget goflags track untrack goworkfix capture wasm", "", "does nothing here", false, (*commands).senseless},
}

// run does the commands of a cell in their order, and runs its Go code.
func (c *commands) run() error {
	if c.Magic != "" {
		return c.magic()
	}
	for _, line := range c.Commands {
		word, _, _ := strings.Cut(strings.TrimPrefix(line.Text, "%"), " ")
		if one, ok := commandNamed(word); line.After && (strings.HasPrefix(line.Text, "!") || ok && one.inPlace) {
			c.setLine(line.Line, cell.InOrder(line.Text))
		} else if err := c.one(line); err != nil {
			return err
		}
	}
	if strings.TrimSpace(c.Go) == "" {
		return nil
	}
	return c.notebook.run(c.request, c.Source)
}

// one does a command.
func (c *commands) one(line cell.Command) error {
	if strings.HasPrefix(line.Text, "!") {
		return c.shell(line)
	}
	return c.special(line)
}

// setLine puts Go in the place of a command.
func (c *commands) setLine(n int, code string) {
	lines := strings.Split(c.Go, "\n")
	lines[n-1] = code
	c.Go = strings.Join(lines, "\n")
}

// special does a line that begins with %.
func (c *commands) special(line cell.Command) error {
	words := split(line.Text[1:])
	if len(words) == 0 { // GoNB's begin of main without arguments
		return nil
	}
	if len(words) > 1 && (words[0] == "%" || words[0] == "main") { // where main begins, GoNB parses the arguments
		c.setLine(line.Line, "flag.Parse()")
	}
	if words[0] == "help" {
		c.help()
		return nil
	}
	one, ok := commandNamed(words[0])
	if !ok {
		return fmt.Errorf("%%%s: there is no such command; %%help lists them", words[0])
	}
	if err := one.do(c, words); err != nil {
		return fmt.Errorf("%%%s: %w", words[0], err)
	}
	return nil
}

// commandAt returns the line of a command up to an offset in it, from its ! or % on.
func commandAt(code string, offset int) (line string, ok bool) {
	src := cell.Read("", code[:offset])
	begin := strings.LastIndexByte(code[:offset], '\n') + 1
	line = strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(code[begin:offset], " \t"), "//gonb:"), " \t")
	n := strings.Count(code[:offset], "\n") + 1
	ok = slices.ContainsFunc(src.Commands, func(c cell.Command) bool { return c.Line == n }) || src.Magic != "" && n == 1
	return line, ok && line != ""
}

// commandNamed finds a command by one of its names.
func commandNamed(name string) (one command, ok bool) {
	i := slices.IndexFunc(special, func(one command) bool { return slices.Contains(strings.Fields(one.names), name) })
	return special[max(i, 0)], i >= 0
}

// propose proposes commands whose name the line of one begins. Some stand only at the top of a
// cell.
func propose(line string, below bool) (list []cell.Proposal) {
	for _, one := range special {
		for _, name := range strings.Fields(one.names) {
			if strings.HasPrefix("%"+name, line) && (name[0] != '%' || name == "%" || !below) {
				list = append(list, cell.Proposal{Text: "%" + name, Kind: "magic", Signature: one.args})
			}
		}
	}
	return list
}

// cellHelp begins what %help shows.
const cellHelp = "### Cells\n" + `
Cells are Go. Declarations live on: variables (also by ` + "`:=`" + `; where Go has no plugins, those that can be
copied), functions, types, constants. A function that is declared again is
the new one for its old callers too. Packages need not be imported. The value of the last line is shown, of ` + "`a, b`" + ` both; a
semicolon hides it. ` + "`must(f())`" + ` and
` + "`check(err)`" + ` end the cell on an error; ` + "`ctx`" + ` ends when you stop the cell.

| command | what it does |
| --- | --- |
| ` + "`!command`, `!*command`" + ` | runs a shell command, in the folder of the cells' go.mod with a star |
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

// refuse is a command that is refused.
func refuse(why string) func(*commands, []string) error {
	return func(*commands, []string) error { return errors.New(why) }
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
	if line == "html" || line == "markdown" {
		data := map[protocol.MIMEType]any{protocol.MIMEType("text/" + line): c.Body, "text/plain": c.Body}
		c.display("display_data", &protocol.DisplayData{Data: data})
		return nil
	}
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
