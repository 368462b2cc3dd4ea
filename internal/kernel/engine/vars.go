package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/jupyter"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// ask asks the host that runs now.
func (e *Engine) ask(ctx context.Context, r wire.Request) (wire.Answer, error) {
	e.mu.Lock()
	p := e.process
	e.mu.Unlock()
	return p.call(ctx, r)
}

// Variables describes the variables of the notebook, also while a cell runs.
func (e *Engine) Variables(ctx context.Context) ([]wire.Variable, error) {
	types := map[string]string{}
	var names []string
	for _, v := range e.notebook.Variables() {
		types[v.Name] = v.Type
		names = append(names, v.Name)
	}
	a, err := e.ask(ctx, wire.Request{Op: "variables", List: names})
	for i := range a.Variables {
		v := &a.Variables[i]
		v.Type, v.Value = types[v.Name], cell.Plain(v.Value)
	}
	return a.Variables, err
}

// showVariables is %vars.
func showVariables(c *commands, ctx context.Context, _ []string, _ *code, _ *prompt, out jupyter.Out) error {
	list, err := c.engine.Variables(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		out.Stream("stdout", "There are no variables.\n")
		return nil
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tsize\tvalue")
	for _, v := range list {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Name, v.Type, sizeText(v.Bytes), v.Value)
	}
	w.Flush()
	out.Stream("stdout", b.String())
	return nil
}

func sizeText(n int64) string {
	for _, unit := range []string{"B", "kB", "MB"} {
		if n < 10000 {
			return fmt.Sprintf("%d %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%d GB", n)
}

// moduleDir is the folder of the cells' go.mod.
func (e *Engine) moduleDir() (string, error) {
	e.mu.Lock()
	b := e.builder
	e.mu.Unlock()
	if err := b.MakeModule(e.config.Module); err != nil {
		return "", err
	}
	return filepath.Join(e.dir, "module"), nil
}

// restart brings a new host without any cells.
func (e *Engine) restart() error {
	e.building.Lock()
	defer e.building.Unlock()
	e.mu.Lock()
	p, host := e.process, e.host
	e.mu.Unlock()
	p.kill()
	e.notebook.Reset(host.Packages)
	e.replay = nil
	os.RemoveAll(filepath.Join(e.dir, "module"))
	return e.begin(host)
}
