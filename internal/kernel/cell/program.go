package cell

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Package returns the text of the cells' package for some cells. The cells in replay ran before: in
// a new process they declare their variables and register again what they registered. The cells in
// run are run. The package offers two functions, one for each, to package rt under the given name.
func (nb *Notebook) Package(name string, replay []int, run ...int) (string, error) {
	defer nb.lock()()
	p := program{nb: nb, whole: len(replay) > 0, bodies: map[*entity]*code{}, entities: map[*entity]bool{},
		fields: map[string]*entity{}}
	var runs, replays []string
	for _, id := range run {
		maps.Copy(p.bodies, nb.cells[id].bodies)
	}
	for _, id := range run {
		c := nb.cells[id]
		own := newCode()
		for e := range c.bodies {
			own.entities[e] = true
		}
		for _, k := range append(c.others, &own, &c.running) {
			if err := p.add(k); err != nil {
				return "", err
			}
		}
		runs = append(runs, c.name("")+"()")
	}
	pointers := ""
	for _, symbol := range slices.Sorted(maps.Keys(nb.symbols)) {
		e := nb.entities[nb.symbols[symbol].obj]
		// a symbol whose code cannot be added is left out: later cells cannot use it either
		if e == nil || !p.whole || p.add(&code{entities: map[*entity]bool{e: true}}) != nil {
			continue
		}
		if _, isVar := nb.symbols[symbol].obj.(*types.Var); isVar {
			pointers += fmt.Sprintf("%q: %s, ", symbol, e.id)
		}
	}
	for _, id := range replay {
		c := nb.cells[id]
		if c.enters.text != "" && p.add(&c.enters) == nil {
			replays = append(replays, c.name("replay")+"()")
		}
	}
	begin, known := "", ""
	for e := range p.entities {
		if e.values {
			known += fmt.Sprintf("%q: (*%[1]s)(nil), ", e.id)
		}
	}
	for e, body := range p.bodies {
		if p.entities[e] {
			begin += fmt.Sprintf("*%s = %s\n", e.id, body.name)
		}
	}
	text := p.file(fmt.Sprintf(begins, runtimeName, known, begin)) +
		fmt.Sprintf(ends, runtimeName, name, pointers, strings.Join(replays, "\n"), strings.Join(runs, "\n"))
	noted, err := nb.verify(text)
	for _, id := range run {
		nb.cells[id].noted = noted
	}
	if len(run) == 0 && err == nil {
		maps.Copy(nb.noted, noted)
	}
	return text, err
}

// begins is the package's first function. It stays one of its own: the runtime knows no name of the
// first function of a plugin, and would show no lines of a cell's.
const begins = `
//go:noinline
func ʇʇbegin() {
	%[1]s.Types(map[string]any{%[2]s})
	%[3]s
}
`

// ends ends the package.
const ends = `
func init() {
	%[1]s.Offer(%[2]q, func() {
		ʇʇbegin()
		%[1]s.Enter(0, "", map[string]any{%[3]s})
		%[4]s
	}, func() {
		ʇʇbegin()
		%[5]s
	})
}
func main() {}
`

// program is a package of cells that is being put together.
type program struct {
	nb       *Notebook
	whole    bool // a new process begins with it
	bodies   map[*entity]*code
	entities map[*entity]bool
	fields   map[string]*entity
	pieces   []*code
}

// add adds code with all that it needs, or nothing.
func (p *program) add(k *code) error {
	entities, pieces, fields := map[*entity]bool{}, []*code{}, maps.Clone(p.fields)
	var visit func(k *code) error
	visit = func(k *code) error {
		pieces = append(pieces, k)
		for name, e := range k.fields {
			if other := cmp.Or(fields[name], e); other != e {
				return fmt.Errorf("this needs both the old type %s and the new one, and one of them is embedded: run the cells "+
					"again that declare what has the old one", name)
			}
			fields[name] = e
		}
		for e := range k.entities {
			if p.entities[e] || entities[e] {
				continue
			}
			entities[e] = true
			if p.whole && p.bodies[e] == nil && e.body != nil {
				p.bodies[e] = e.body
			}
			if err := visit(&e.code); err != nil {
				return err
			}
			if body := p.bodies[e]; body != nil {
				if err := visit(body); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := visit(k)
	if err == nil {
		maps.Copy(p.entities, entities)
		p.fields, p.pieces = fields, append(p.pieces, pieces...)
	}
	return err
}

// file writes the package but for its end, with the given text behind the imports. The types inside
// of functions are counted: each must have the number that it has had.
func (p *program) file(first string) string {
	var b strings.Builder
	imports, needed := map[string]bool{runtime: true}, map[string]bool{}
	for _, k := range p.pieces {
		maps.Copy(needed, k.packages)
	}
	for path, used := range needed {
		imports[path] = imports[path] || used
	}
	b.WriteString("package main\n")
	for _, path := range slices.Sorted(maps.Keys(imports)) {
		name := "_"
		if imports[path] {
			name = p.nb.alias(path)
		}
		fmt.Fprintf(&b, "import %s %q\n", name, path)
	}
	fmt.Fprintf(&b, "//line %s:1\n%s", our, first)
	for _, name := range slices.Sorted(maps.Keys(p.fields)) {
		if e := p.fields[name]; e.id != name {
			fmt.Fprintf(&b, "type %s%s = %s%s\n", name, e.params[0], e.id, e.params[1])
		}
	}
	slices.SortStableFunc(p.pieces, func(a, b *code) int {
		return cmp.Or(a.first-b.first, strings.Compare(a.text, b.text))
	})
	next := 1
	for _, k := range p.pieces {
		if k.locals > 0 && next < k.first {
			b.WriteString("func _() {\n")
			for ; next < k.first; next++ {
				fmt.Fprintf(&b, "type t%d int\n", next)
			}
			b.WriteString("}\n")
		}
		next += k.locals
		if k.text != "" {
			fmt.Fprintf(&b, "//line %s:1\n%s\n", our, k.text)
		}
	}
	fmt.Fprintf(&b, "//line %s:1\n", our)
	return b.String()
}
