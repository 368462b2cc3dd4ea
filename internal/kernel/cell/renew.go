package cell

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// Translate checks and translates the Go code of a cell. The names that it declares are known to
// later cells after [Notebook.Commit]. If it declares a name again, the declarations of earlier
// cells that use the name are compiled again with it, as if the whole notebook were. Variables keep
// their memory, even under a new type, if that has the same layout.
func (nb *Notebook) Translate(s Source) (*Cell, error) {
	defer nb.lock()()
	return nb.translated(s)
}

// Ahead translates a cell before its turn. The notebook does not know of it before [Notebook.Take].
func (nb *Notebook) Ahead(s Source) (*Cell, error) {
	defer nb.lock()()
	told, mentions, sets := nb.told, nb.mentions, nb.sets
	nb.told, nb.mentions, nb.sets = maps.Clone(told), maps.Clone(mentions), maps.Clone(sets)
	c, err := nb.translated(s)
	newTold, newMentions, newSets, changes := nb.told, nb.mentions, nb.sets, nb.changes
	nb.told, nb.mentions, nb.sets = told, mentions, sets
	c.take = func() bool {
		if nb.changes != changes || len(nb.lost) > 0 {
			return false
		}
		nb.told, nb.mentions, nb.sets = newTold, newMentions, newSets
		return true
	}
	return c, err
}

// Take is the turn of a cell that was translated ahead. It returns false if meanwhile something has
// changed, so that the cell must be translated again.
func (nb *Notebook) Take(c *Cell) bool {
	defer nb.lock()()
	return c.take()
}

func (nb *Notebook) translated(s Source) (*Cell, error) {
	carry, dropped := map[string]bool{}, map[string]string{}
	for {
		c, err := nb.understand(s, carry, dropped)
		c.compareLayouts()
		more := c.dependents()
		maps.DeleteFunc(more, func(key string, _ bool) bool { return carry[key] || dropped[key] != "" })
		if len(c.failed)+len(more) == 0 {
			if err == nil {
				err = c.readsLost()
			}
			if err == nil {
				return c, c.translate(dropped)
			}
			c.note(dropped)
			if list, ok := err.(scanner.ErrorList); ok {
				c.seek(list)
				for _, text := range c.Notes { // may be why
					list.Add(list[0].Pos, text)
				}
				err = list
			}
			return c, err
		}
		if maps.Copy(carry, more); len(more) == 0 { // else they may fit what comes along
			maps.Copy(dropped, c.failed)
		}
	}
}

// names lists what a part declares but for variables, of which some are only assigned to.
func (p part) names() (names []string) {
	d, ok := p.node.(*ast.GenDecl)
	if ok && (d.Tok == token.CONST || d.Tok == token.VAR && p.carried) {
		for _, s := range d.Specs {
			for _, id := range s.(*ast.ValueSpec).Names {
				names = append(names, id.Name)
			}
		}
		return names
	}
	if _, isFunc := p.node.(*ast.FuncDecl); p.name != "" && (!isFunc || p.of == "" && p.name != "init") {
		names = append(names, p.name)
	}
	return names
}

// key names a part among those that come along.
func (p part) key() string {
	if p.name != "" {
		return p.name
	}
	return p.text
}

// assemble finds the parts that the cell consists of. A type that changes is declared again with
// all its methods. A cell that says of a type what is known already declares nothing, and one that
// changes no more than the body of a method declares only that.
func (c *Cell) assemble(parts []part, carry map[string]bool, dropped map[string]string) {
	own := map[string]bool{}
	for i := range parts {
		c.rebase(&parts[i], parts)
		own[parts[i].key()] = true
		for _, name := range parts[i].names() {
			own[name] = true
		}
		if d, ok := parts[i].node.(*ast.GenDecl); ok && d.Tok == token.VAR {
			for _, id := range d.Specs[0].(*ast.ValueSpec).Names {
				own[id.Name] = true
			}
		}
	}
	renewed := map[string]bool{}
	for name := range carry {
		renewed[name] = c.nb.isType(name) && dropped[name] == "" && !own[name]
	}
	imports := c.imports(parts)
	for more := true; more; { // a type that changes may be part of another
		more = false
		for _, p := range parts {
			if !renewed[p.of] && c.nb.differs(p, renewed, imports) {
				renewed[p.of], more = true, true
			}
		}
	}
	read := map[string][]part{} // of earlier cells
	carryPart := func(p part, bodyOnly bool) {
		for _, name := range p.names() { // of constants that were declared together, some may be others now
			if own[name] || !slices.ContainsFunc(c.nb.symbols[name].parts, func(q part) bool { return q.text == p.text }) {
				return
			}
		}
		if !own[p.key()] && dropped[p.key()] == "" {
			own[p.key()] = true
			c.parts = append(c.parts, c.again(p, bodyOnly, read))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(carry)) {
		s := c.nb.symbols[name]
		of, _, isMethod := strings.Cut(name, ".")
		switch v, isVar := s.obj.(*types.Var); {
		case renewed[name], renewed[of], own[name]:
		case isVar && dropped[name] == "":
			c.retype(v)
		case isMethod:
			for _, p := range c.nb.symbols[of].parts {
				if p.name == name {
					carryPart(p, true)
				}
			}
		default:
			for _, p := range s.parts {
				carryPart(p, false)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(renewed)) {
		for _, p := range c.nb.symbols[name].parts {
			if renewed[name] {
				carryPart(p, false)
			}
		}
	}
	for _, p := range parts {
		switch known := c.nb.isType(p.of); {
		case p.of == "", !known, renewed[p.of]:
			c.parts = append(c.parts, p)
		case c.nb.known(p).text != p.text:
			c.parts = append(c.parts, asBody(p))
		}
	}
}

func (nb *Notebook) isType(name string) bool {
	_, ok := nb.symbols[name].obj.(*types.TypeName)
	return ok
}

// known is what the notebook has in place of a part of a type.
func (nb *Notebook) known(p part) part {
	parts := nb.symbols[p.of].parts
	if i := slices.IndexFunc(parts, func(k part) bool { return k.name == p.name }); i >= 0 {
		return parts[i]
	}
	return part{}
}

// differs says whether a part makes a new type of its type: the part itself has changed, or
// something that it is made of.
func (nb *Notebook) differs(p part, renewed map[string]bool, imports map[string]*types.Package) bool {
	if !nb.isType(p.of) {
		return false
	}
	k := nb.known(p)
	if k.text != p.text && (k.head == "" || k.head != p.head || k.fixed || p.fixed) {
		return true
	}
	for o, inBody := range k.uses {
		if (!inBody || k.fixed) && o.Name() != p.of && (renewed[o.Name()] || nb.isAnother(o, imports)) {
			return true
		}
	}
	return false
}

// isAnother says whether the name of something that an earlier cell has used means something else
// now. A package is the same one until a cell imports another by its name.
func (nb *Notebook) isAnother(o types.Object, imports map[string]*types.Package) bool {
	now := nb.symbols[o.Name()].obj
	pkg, isPackage := o.(*types.PkgName)
	if !isPackage {
		return now != o
	}
	if p := imports[o.Name()]; p != nil {
		return p.Path() != pkg.Imported().Path()
	}
	p, isPackage := now.(*types.PkgName)
	return now != nil && (!isPackage || p.Imported().Path() != pkg.Imported().Path())
}

// imports finds the packages that the cell imports, by their names in it.
func (c *Cell) imports(parts []part) map[string]*types.Package {
	list := map[string]*types.Package{}
	for _, p := range parts {
		s, ok := p.node.(*ast.ImportSpec)
		if !ok {
			continue
		}
		if name, pkg, err := c.nb.imported(s); err == nil { // else a mistake, which addImport tells
			list[name] = pkg
		}
	}
	return list
}

// isFixed says whether the body of a method cannot be replaced later, so that a new body makes a
// new type: if the type is generic, or if the method asks who has called it.
func isFixed(f *ast.FuncDecl) bool {
	_, fixed := receiver(f)
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		fixed = fixed || ok && (id.Name == "recover" || strings.HasPrefix(id.Name, "Caller"))
		return true
	})
	return fixed
}

// receiver is the name of the type that a method belongs to, and whether that is generic.
func receiver(f *ast.FuncDecl) (name *ast.Ident, generic bool) {
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr, *ast.IndexListExpr:
			generic = true
		case *ast.Ident:
			if name == nil {
				name = n
			}
		}
		return true
	})
	return name, generic
}

// rebase lets a method belong to a type where it is declared on an alias of that.
func (c *Cell) rebase(p *part, parts []part) {
	f, ok := p.node.(*ast.FuncDecl)
	if !ok || p.of == "" {
		return
	}
	id, _ := receiver(f)
	for range 10 {
		i := slices.IndexFunc(parts, func(other part) bool { return other.of == p.of && other.name == p.of })
		if i >= 0 {
			s := parts[i].node.(*ast.GenDecl).Specs[0].(*ast.TypeSpec)
			to, isName := ast.Unparen(s.Type).(*ast.Ident)
			if !s.Assign.IsValid() || !isName {
				return
			}
			p.of = to.Name
		} else if alias, ok := c.nb.symbols[p.of].obj.(*types.TypeName); ok && alias.IsAlias() {
			named, ok := types.Unalias(alias.Type()).(*types.Named)
			if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != Path {
				return
			}
			p.of = named.Obj().Name()
		}
		if id != nil {
			id.Name = p.of
		}
		p.name = p.of + "." + f.Name.Name
	}
}

// again reads a part of an earlier cell again.
func (c *Cell) again(p part, bodyOnly bool, read map[string][]part) part {
	if read[p.from.Go] == nil {
		parsed, _ := parse(c.fset, p.from) // which has been read before
		for i := range parsed.parts {
			c.rebase(&parsed.parts[i], parsed.parts)
		}
		read[p.from.Go] = parsed.parts
	}
	i := slices.IndexFunc(read[p.from.Go], func(other part) bool { return other.name == p.name && other.text == p.text })
	p = read[p.from.Go][i]
	if bodyOnly && !p.fixed {
		p = asBody(p)
	}
	p.carried = true
	return p
}

// asBody turns a method into a function whose first parameter is the receiver.
func asBody(p part) part {
	f := p.node.(*ast.FuncDecl)
	signature := *f.Type
	signature.Params = &ast.FieldList{Opening: f.Type.Params.Opening, List: slices.Concat(f.Recv.List, f.Type.Params.List),
		Closing: f.Type.Params.Closing}
	for i, field := range signature.Params.List {
		if len(field.Names) == 0 { // some have names
			signature.Params.List[i] = &ast.Field{Names: []*ast.Ident{{NamePos: field.Pos(), Name: "_"}}, Type: field.Type}
		}
	}
	name := &ast.Ident{NamePos: f.Name.Pos(), Name: our + strings.ReplaceAll(p.name, ".", dot)}
	p.node, p.body = &ast.FuncDecl{Name: name, Type: &signature, Body: f.Body}, true
	return p
}

// retype declares a variable of an earlier cell again. Its type has the same text, in which names
// may have another meaning.
func (c *Cell) retype(v *types.Var) {
	text := types.TypeString(v.Type(), func(p *types.Package) string {
		if p.Path() == Path {
			return ""
		}
		name := c.nb.alias(p.Path())
		c.marked[name] = p.Name()
		c.see(types.NewPkgName(token.NoPos, c.pkg, name, p))
		return name
	})
	t, err := parser.ParseExprFrom(c.fset, "", text, 0)
	if err != nil {
		c.failed[v.Name()] = "its type cannot be written"
		return
	}
	spec := &ast.ValueSpec{Names: []*ast.Ident{{NamePos: t.Pos(), Name: v.Name()}}, Type: t}
	c.parts = append(c.parts, part{node: &ast.GenDecl{TokPos: t.Pos(), Tok: token.VAR, Specs: []ast.Spec{spec}},
		name: v.Name(), carried: true})
}

// compareLayouts finds variables whose memory cannot be that of their new type.
func (c *Cell) compareLayouts() {
	for _, p := range c.parts {
		old, isVar := c.nb.symbols[p.name].obj.(*types.Var)
		if p.carried && isVar && c.failed[p.name] == "" && !sameLayout(old.Type(), c.scope.Lookup(p.name).Type(), nil) {
			c.failed[p.name] = "its memory is laid out in another way"
		}
	}
}

// dependents finds the declarations of earlier cells that mention something that this cell has
// changed.
func (c *Cell) dependents() (more map[string]bool) {
	more = map[string]bool{}
	changed := map[types.Object]bool{}
	for name := range c.top {
		before, now := c.nb.symbols[name].obj, c.scope.Lookup(name)
		if before != nil && now != nil && c.mine[now] && !isSame(before, now) {
			changed[before] = true
		}
	}
	for name, s := range c.nb.symbols {
		if v, ok := s.obj.(*types.Var); ok && !c.top[name] && mentions(v.Type(), changed) {
			more[name] = true
		}
		for _, p := range s.parts {
			for o, inBody := range p.uses {
				if !changed[o] || c.top[name] {
					continue
				}
				if p.of != "" && p.name != p.of && inBody && !p.fixed {
					more[p.name] = true
				} else {
					more[name] = true
				}
			}
		}
	}
	return more
}

// isSame says whether functions that were compiled with an earlier meaning of a name are right with
// the present one, so that they need not be compiled again.
func isSame(before, now types.Object) bool {
	if kindOf(before) != kindOf(now) {
		return false
	}
	switch now := now.(type) {
	case *types.Const:
		return types.Identical(before.Type(), now.Type()) && constant.Compare(before.(*types.Const).Val(),
			token.EQL, now.Val())
	case *types.TypeName:
		return before == now
	}
	invalid := now.Type() == nil || now.Type() == types.Typ[types.Invalid]
	return invalid || types.Identical(before.Type(), now.Type()) && isStored(now)
}

// note says what the user should know of what was declared again.
func (c *Cell) note(dropped map[string]string) {
	var names []string
	for _, name := range slices.Sorted(slices.Values(c.renewed)) {
		if id := c.nb.entities[c.scope.Lookup(name)].id; !c.nb.told[name] {
			names = append(names, "main."+id)
		}
		c.nb.told[name] = true
	}
	if len(names) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("Declared again: %%T and reflect say %s.", strings.Join(names, ", ")))
	}
	var variables []string
	for _, key := range slices.Sorted(maps.Keys(dropped)) {
		_, isVar := c.nb.symbols[key].obj.(*types.Var)
		switch {
		case isVar:
			variables = append(variables, key)
		case strings.Contains(key, ".") && c.top[key[:strings.Index(key, ".")]]:
			c.Notes = append(c.Notes, fmt.Sprintf("The method %s does not fit the new type and is left out: run its cell again.",
				key))
		default:
			c.Notes = append(c.Notes, fmt.Sprintf("%s still uses what was declared before, since it does not fit what is new "+
				"(%s): run its cell again.", key, dropped[key]))
		}
	}
	if len(variables) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("The new type has another layout, so these keep the old one and its values: "+
			"%s. To have the new one, declare them again.",
			strings.Join(variables, ", ")))
	}
}
