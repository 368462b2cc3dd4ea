//go:build unix

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Lists in the kernel's folder, one package to a line.
const (
	packagesFile = "packages" // of the module
	stdFile      = "std"      // of the standard library, each behind its name
)

// goimports adds to a cell the imports that it leaves out and drops those that it does not use. What the module and the
// standard library have is known by name; only for the rest the real goimports has to search the disk. Left to itself that
// finds a package only where the package has what the cell asks of it, so that a misspelt function reads "undefined: pcl".
//
// A cell that does not parse yet, of which GoNB wants completions, gets its imports too.
func (c *config) goimports(args []string) int {
	if len(args) == 2 && args[0] == "-main" {
		return impliedMain(args[1])
	}
	if len(args) == 2 && args[0] == "-w" {
		if done, err := c.fixImports(args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		} else if done {
			return 0
		}
	}
	return become(c.tool("goimports"), args...)
}

// fixImports rewrites a file and says whether nothing is left to search for.
func (c *config) fixImports(file string) (done bool, err error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.ParseComments)
	if f == nil || !f.Package.IsValid() {
		return true, nil
	}
	known := c.known()
	if err != nil {
		add := c.guessed(src, file, known)
		return true, os.WriteFile(file, withImports(src, set.Position(f.Name.End()).Offset, add), 0o600)
	}
	used := usedPackages(f)
	unused, sure := drop(set, src, f, used, known)
	add, found := resolve(f, used, declaredBeside(file), known)
	return sure && found, os.WriteFile(file, withImports(unused, set.Position(f.Name.End()).Offset, add), 0o600)
}

// packages are what is known of packages: by their names, the paths that have it.
type packages map[string][]string

// known are the packages of the module, and of the standard library those whose name the module does not have.
func (c *config) known() packages {
	k := packages{}
	for _, p := range c.lines(packagesFile) {
		if p != "" {
			k[path.Base(p)] = []string{p}
		}
	}
	ours := maps.Clone(k)
	for _, line := range c.lines(stdFile) {
		if name, p, ok := strings.Cut(line, " "); ok && ours[name] == nil {
			k[name] = append(k[name], p)
		}
	}
	return k
}

// name is the name of a package, where it is known.
func (k packages) name(p string) (string, bool) {
	for _, name := range []string{path.Base(p), path.Base(path.Dir(p))} { // the latter for .../v2
		if slices.Contains(k[name], p) {
			return name, true
		}
	}
	return "", false
}

// preferred are paths for names that several packages of the standard library have, where the cell does not tell which.
var preferred = map[string]string{"rand": "math/rand/v2", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof"}

// one is the package that a name most likely means.
func (k packages) one(name string) string {
	list := k[name]
	if slices.Contains(list, preferred[name]) {
		return preferred[name]
	}
	if len(list) == 0 {
		return ""
	}
	return slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) })
}

var versionSuffix = regexp.MustCompile(`[./]v[0-9]+$`)

// assumedName is the name that a package of a path most likely has.
func assumedName(p string) string { return path.Base(versionSuffix.ReplaceAllString(p, "")) }

// usedPackages are the names x of all x.y in a file where nothing in the file declares x.
func usedPackages(f *ast.File) map[string]bool {
	unresolved := map[*ast.Ident]bool{}
	for _, id := range f.Unresolved {
		unresolved[id] = true
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := s.X.(*ast.Ident); ok && unresolved[id] {
				used[id.Name] = true
			}
		}
		return true
	})
	return used
}

// importName is the name under which an import is used, where it is known.
func importName(s *ast.ImportSpec, known packages) (string, bool) {
	if s.Name != nil {
		return s.Name.Name, true
	}
	p, err := strconv.Unquote(s.Path.Value)
	if err != nil {
		return "", false
	}
	return known.name(p)
}

// drop blanks the imports that a file does not use. No line moves. It is not sure where an import's name is unknown.
func drop(set *token.FileSet, src []byte, f *ast.File, used map[string]bool, known packages) (text []byte, sure bool) {
	text, sure = bytes.Clone(src), true
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		for _, s := range g.Specs {
			name, ok := importName(s.(*ast.ImportSpec), known)
			if !ok {
				sure = false
				continue
			}
			if used[name] || name == "_" || name == "." || s.(*ast.ImportSpec).Path.Value == `"C"` {
				continue
			}
			from, to := s.Pos(), s.End()
			if !g.Lparen.IsValid() {
				from = g.Pos()
			}
			blank(text[set.Position(from).Offset:set.Position(to).Offset])
		}
	}
	return text, sure
}

func blank(b []byte) {
	for i := range b {
		if b[i] != '\n' {
			b[i] = ' '
		}
	}
}

// resolve finds the packages that a file uses and does not import. It did not find all where one name remains that is
// neither a package's nor declared in another file beside this one.
func resolve(f *ast.File, used, beside map[string]bool, known packages) (add []string, all bool) {
	have := map[string]bool{}
	for _, s := range f.Imports {
		name, ok := importName(s, known)
		if !ok {
			name = assumedName(strings.Trim(s.Path.Value, "\"`"))
		}
		have[name] = true
	}
	all = true
	for _, name := range slices.Sorted(maps.Keys(used)) {
		switch {
		case have[name] || beside[name]:
		case len(known[name]) == 1:
			add = append(add, known[name][0])
		default:
			all = false
		}
	}
	return add, all
}

// declaredBeside are the names that the other files of a file's package declare.
func declaredBeside(file string) map[string]bool {
	names := map[string]bool{}
	paths, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	for _, p := range paths {
		if filepath.Base(p) == filepath.Base(file) {
			continue
		}
		if f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution); err == nil {
			maps.Copy(names, topLevel(f))
		}
	}
	return names
}

// withImports adds imports behind the package clause, so that no line moves.
func withImports(src []byte, end int, add []string) []byte {
	var b bytes.Buffer
	b.Write(src[:end])
	for _, spec := range add {
		if !strings.HasSuffix(spec, `"`) {
			spec = strconv.Quote(spec)
		}
		fmt.Fprintf(&b, "; import %s", spec)
	}
	b.Write(src[end:])
	return b.Bytes()
}

// memory is the file in which GoNB puts what earlier cells declared and imported, while a cell does not parse.
const memory = "other.go"

// guessed are the imports of a file that does not parse, by its words: of every x in x.y that names a package. A variable of
// that name does no harm, as it stands nearer; one of the whole package would be hidden by the import.
func (c *config) guessed(src []byte, file string, known packages) (add []string) {
	words, declared := selected(src)
	maps.Copy(declared, declaredBeside(file))
	remembered := c.remembered(filepath.Join(filepath.Dir(file), memory), known)
	for _, name := range slices.Sorted(maps.Keys(words)) {
		switch {
		case declared[name]:
		case remembered[name] != "":
			add = append(add, remembered[name])
		case known.one(name) != "":
			add = append(add, known.one(name))
		}
	}
	return add
}

// remembered are the imports of earlier cells by their names.
func (c *config) remembered(file string, known packages) map[string]string {
	specs := map[string]string{}
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		return specs
	}
	for _, s := range f.Imports {
		spec := s.Path.Value
		name, ok := importName(s, known)
		if !ok {
			name = assumedName(strings.Trim(spec, "\"`"))
		}
		if s.Name != nil {
			spec = name + " " + spec
		}
		specs[name] = spec
	}
	return specs
}

// selected are the words before a dot in a text, and those that it declares outside of functions or imports itself.
func selected(src []byte) (words, declared map[string]bool) {
	words, declared = map[string]bool{}, map[string]bool{}
	list := scan(src)
	for _, p := range outermost(list) {
		first := p.list[0].tok
		for i, l := range p.list[1:] {
			last := p.list[i].tok // the one before l
			switch {
			case first == token.IMPORT && l.tok == token.STRING && (last == token.IDENT || last == token.PERIOD):
				declared[p.list[i].text] = true
			case first == token.IMPORT && l.tok == token.STRING:
				declared[assumedName(strings.Trim(l.text, "\"`"))] = true
			case i == 0 && l.tok == token.IDENT && p.declaration:
				declared[l.text] = true
			}
		}
	}
	for i := 1; i < len(list); i++ {
		if list[i].tok == token.PERIOD && list[i-1].tok == token.IDENT && (i == 1 || list[i-2].tok != token.PERIOD) {
			words[list[i-1].text] = true
		}
	}
	return words, declared
}

// lexeme is one token of a text.
type lexeme struct {
	tok    token.Token
	text   string
	offset int
}

func (l lexeme) end() int {
	if l.text == "" {
		return l.offset + len(l.tok.String())
	}
	return l.offset + len(l.text)
}

// scan cuts a text into tokens. Of what is no Go it makes ILLEGAL ones.
func scan(src []byte) (list []lexeme) {
	var s scanner.Scanner
	f := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(f, src, func(token.Position, string) {}, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return list
		}
		list = append(list, lexeme{tok, text, f.Offset(pos)})
	}
}
