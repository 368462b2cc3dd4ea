package engine

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/kernel/wire"
)

// ask asks the host that runs now.
func (e *Engine) ask(ctx context.Context, r wire.Request) (wire.Answer, error) {
	return e.process.Load().call(ctx, r)
}

// vars shows the variables of the notebook, also while a cell runs.
func (c *commands) vars([]string) error {
	types := map[string]string{}
	for _, v := range c.notebook.Names("variable") {
		types[v.Name] = v.Type
	}
	a, err := c.ask(c.ctx, wire.Request{Op: "variables", List: slices.Sorted(maps.Keys(types))})
	if err != nil {
		return err
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\ttype\tsize\tvalue")
	for _, v := range a.Variables {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", v.Name, types[v.Name], sizeText(v.Bytes), cell.Plain(v.Value))
	}
	w.Flush()
	c.out.Stream("stdout", b.String())
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

// restart brings a new host without any cells.
func (e *Engine) restart() error {
	e.building.Lock()
	defer e.building.Unlock()
	p := e.process.Load()
	p.kill()
	e.notebook.Reset(p.host.Packages)
	e.past = history{}
	os.RemoveAll(e.moduleDir())
	return e.begin(p.host)
}
