package cell

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"go/types"
	"regexp"
	"strings"
)

// Source is the text of a cell, taken apart.
type Source struct {
	File     string    // what messages call the cell, such as In[3]
	Cell     string    // what the front end calls it, in all its versions; may be empty
	Magic    string    // a first line such as %%bash, which says what the other lines are; empty in a cell of Go
	Body     string    // those other lines
	Commands []Command // the lines that begin with ! or %
	Go       string    // the cell with blanks in place of the commands, so that nothing else moves

	measured map[int]string // lines whose statement is measured, by %time or %timeit; line 0 stands for the cell
}

// measures finds a command that measures the statement behind it, or the whole cell.
var measures = regexp.MustCompile(`^(?://gonb:)?(%%?)(time|timeit)(?:[ \t]+|$)`)

// Command is a line of a cell that is a command of the notebook: !SHELL or %NAME. Lines that end in
// a backslash go on.
type Command struct {
	Line  int // from 1
	Text  string
	After bool // statements that run stand above it
}

// magics are the first words of cells that are not Go.
var magics = map[string]bool{"%%writefile": true, "%%script": true, "%%bash": true, "%%sh": true, "%%html": true,
	"%%markdown": true}

// commentPrefix may stand before a command, which is then a comment for other tools.
const commentPrefix = "//gonb:"

// Read takes a cell apart. A line is a command only where a Go statement could begin: inside of a
// string, a comment or an expression it is text.
func Read(file, code string) Source {
	first, body, _ := strings.Cut(strings.TrimLeft(code, "\n"), "\n")
	first = strings.TrimSpace(strings.TrimPrefix(first, commentPrefix))
	if word, _, _ := strings.Cut(first, " "); magics[word] {
		return Source{File: file, Magic: first, Body: body}
	}
	s := Source{File: file, Go: code, measured: map[int]string{}}
	after := false
	for st := (statement{}); st.next < len(s.Go); {
		st = s.statement(st.next)
		after = after || st.runs()
		if st.command {
			text := s.Go[st.begin:st.end]
			m := measures.FindStringSubmatch(text)
			if m != nil && (m[1] == "%%" || len(m[0]) < len(text)) {
				line := s.place(st.begin).Line
				if m[1] == "%%" {
					line = 0
				}
				s.measured[line] = m[2]
				st.next = st.begin + len(m[0])
				s.Go = s.Go[:st.begin] + strings.Repeat(" ", len(m[0])) + s.Go[st.next:]
				continue
			}
			line := strings.TrimSpace(strings.ReplaceAll(text, "\\\n", " "))
			s.Commands = append(s.Commands, Command{s.place(st.begin).Line, strings.TrimPrefix(line, commentPrefix), after})
			blank := inLine.ReplaceAllStringFunc(text, func(part string) string { return strings.Repeat(" ", len(part)) })
			s.Go = s.Go[:st.begin] + blank + s.Go[st.end:]
		}
	}
	return s
}

var (
	commandText = regexp.MustCompile(`^([^\n]*\\\n)*[^\n]*`)
	inLine      = regexp.MustCompile(`[^\n]+`)
)

// statement is a statement, a declaration or a command, which need not be right.
type statement struct {
	begin, end int // of its text
	next       int // where the next one may begin
	command    bool
	words      []string // its tokens, unless it is a command
	open       int      // how many of its brackets are open at its end; -1 if it ends with one that closes nothing
}

// runs says whether it does something itself when its cell runs.
func (st statement) runs() bool {
	if len(st.words) == 0 {
		return false
	}
	switch st.words[0] {
	case "package", "import", "const", "type", "var":
		return false
	}
	return !outside.MatchString(strings.Join(st.words, " "))
}

var nesting = map[token.Token]int{token.LPAREN: 1, token.LBRACK: 1, token.LBRACE: 1, token.RPAREN: -1, token.RBRACK: -1,
	token.RBRACE: -1}

// statement finds the first statement behind an offset. It has no words if there is none.
func (s Source) statement(from int) statement {
	st := statement{begin: from, end: from, next: len(s.Go)}
	src := []byte(s.Go[from:] + "\x00") // so that the scanner does not add a semicolon after the last token
	file := token.NewFileSet().AddFile("", -1, len(src))
	var tokens scanner.Scanner
	tokens.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	headed := false // it begins with if, for or switch: the semicolons before its block do not end it
	remark := -1    // the offset of the first comment after the last word
	for {
		pos, tok, text := tokens.Scan()
		text = cmp.Or(text, tok.String())
		at := from + file.Offset(pos)
		switch {
		case at >= len(s.Go), st.open < 0:
			return st
		case len(st.words) == 0 && s.isCommand(at):
			end := at + len(commandText.FindString(s.Go[at:]))
			return statement{begin: at, end: end, next: end, command: true}
		case tok == token.COMMENT:
			if remark < 0 {
				remark = at
			}
		case tok == token.SEMICOLON && st.open == 0 &&
			(!headed || st.words[len(st.words)-1] == "}" && (text == "\n" || isWhole(s.Go[st.begin:st.end]))):
			// the end of the line may be within a comment
			if st.next = at + strings.Count(text, ";"); text == "\n" && remark >= 0 {
				st.next = remark
			}
			return st
		default:
			if len(st.words) == 0 {
				st.begin = at
			}
			st.words, st.end, remark = append(st.words, text), min(at+len(text), len(s.Go)), -1
			headed = headed || st.open == 0 && (tok == token.IF || tok == token.FOR || tok == token.SWITCH)
			st.open += nesting[tok]
		}
	}
}

func isWhole(code string) bool {
	_, err := parser.ParseFile(token.NewFileSet(), "", "package cell; func _() {"+code+"\n}", 0)
	return err == nil
}

// isCommand says whether a command begins at the offset of a statement, alone on its line.
func (s Source) isCommand(at int) bool {
	begins := strings.IndexByte("!%", s.Go[at]) >= 0 || strings.HasPrefix(s.Go[at:], commentPrefix)
	return begins && strings.TrimSpace(s.Go[strings.LastIndexByte(s.Go[:at], '\n')+1:at]) == ""
}

// place is the place of an offset.
func (s Source) place(at int) token.Position {
	line, column := 1+strings.Count(s.Go[:at], "\n"), at-strings.LastIndexByte(s.Go[:at], '\n')
	return token.Position{Filename: s.File, Line: line, Column: column}
}

func (s Source) end() token.Position { return s.place(len(strings.TrimRight(s.Go, " \t\n"))) }

// outside matches statements that the parser reads only outside of functions. All others can be
// read inside of one.
var outside = regexp.MustCompile(`^(import |func [\pL_]|func \( [^()]*\) [\pL_]\S* \()`)

// Complete says whether a cell can run as it is: whether it is "complete", "incomplete" or
// "invalid". After incomplete code, a next line is indented by depth.
func Complete(code string) (status string, depth int) {
	s := Read("", code)
	p, err := parse(token.NewFileSet(), s)
	list, _ := err.(scanner.ErrorList)
	switch {
	case len(list) == 0:
		return "complete", 0
	case list[0].Pos == s.end(), strings.HasPrefix(list[0].Msg, "raw string"),
		strings.HasPrefix(list[0].Msg, "comment not"):
		return "incomplete", p.open
	}
	return "invalid", 0
}

// part is a part of a cell: a statement, an import, or a declaration of one name or of variables
// that belong together.
type part struct {
	node ast.Node
	name string // of a function or type, or of a method: T.M
	of   string // the type that it declares, or to which the method belongs
	text string // without comments, and formatted
	head string // the text of a function without its body
	from Source // the cell that it is from

	defines bool                  // it is a definition with :=
	fixed   bool                  // it is a method whose body cannot be replaced later; see isFixed
	carried bool                  // it comes from an earlier cell
	body    bool                  // only the body of a method is new; the checker sees it as a function
	uses    map[types.Object]bool // what it mentions of the notebook: true if that is within the body of a function

	measured string // "time" or "timeit"
	hidden   bool   // it ends in a semicolon, so that its value is not shown
	place    int    // among several values in a line, from 0
}

// free is the object of names that a statement uses and does not declare.
var free = ast.NewObj(ast.Bad, "free")

// parsed is the Go code of a cell.
type parsed struct {
	parts   []part
	open    int  // how many brackets are open at its end
	program bool // it is a whole file, with a package clause
}

// parse cuts the Go code of a cell into its parts, one statement after the other. Each import, each
// type and each line of variables is one; the lines of constants belong together. With an error, it
// has what parses before the tenth.
func parse(fset *token.FileSet, s Source) (p parsed, err error) {
	wrong := s.directives()
	for st := (statement{}); st.next < len(s.Go) && len(wrong) < 10; {
		st = s.statement(st.next)
		if len(st.words) > 0 && st.words[0] == "package" {
			if len(p.parts) > 0 || p.program || len(st.words) != 2 || st.words[1] != "main" {
				wrong.Add(s.place(st.begin), "all cells are package main: leave this line out")
			}
			p.program = true
			continue
		}
		if p.open = st.open; p.open < 0 {
			wrong.Add(s.place(st.end-1), "a "+s.Go[st.end-1:st.end]+" that closes nothing")
			break
		}
		place := s.place(st.begin)
		form := "package cell; func " + our + "() { /*line %s:%d:%d*/%s\n}" // it may end in a comment
		if outside.MatchString(strings.Join(st.words, " ")) {
			form = "package cell; /*line %s:%d:%d*/%s"
		}
		text := strings.Repeat("\n", place.Line-1) + // the printer knows lines of files only
			fmt.Sprintf(form, s.File, place.Line, place.Column, s.Go[st.begin:st.next])
		f, err := parser.ParseFile(fset, s.File, text, 0)
		if err != nil {
			several := fmt.Sprintf("%spackage cell; func %s() { %[2]s(/*line %s:%d:%d*/%s) }",
				strings.Repeat("\n", place.Line-1),
				our, s.File, place.Line, place.Column, s.Go[st.begin:st.end])
			if values := parseValues(fset, s.File, several); values != nil {
				f, err = values, nil
			}
		}
		if list, ok := err.(scanner.ErrorList); ok { // the others may only follow from the first
			at, end := list[0].Pos, s.end()
			if at.Line > end.Line || at.Line == end.Line && at.Column >= end.Column {
				list[0] = &scanner.Error{Pos: end, Msg: "the cell ends within a statement"}
			}
			if strings.Contains(list[0].Msg, "'?'") {
				list[0].Msg = "? asks nothing here; Shift-Tab describes what the cursor is at"
			}
			wrong = append(wrong, list[0])
		}
		for _, id := range f.Unresolved {
			id.Obj = free
		}
		for _, d := range f.Decls {
			for i, one := range split(d) {
				one.text, one.from, one.measured = textOf(one.node), s, s.measured[place.Line]
				one.hidden, one.place = strings.Contains(s.Go[st.end:max(st.end, st.next)], ";"), i
				if f, ok := one.node.(*ast.FuncDecl); ok {
					one.head = textOf(&ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type})
					one.fixed = one.of != "" && isFixed(f)
					if f.Body == nil {
						wrong.Add(fset.Position(f.Pos()), "the body of the function "+one.name+
							" is missing; put what is not Go into a package of a module")
					}
				}
				p.parts = append(p.parts, one)
			}
		}
	}
	return p, wrong.Err()
}

// parseValues parses values in a line, which are the arguments of a call: a file with each as a
// statement, or nil if they are no such values.
func parseValues(fset *token.FileSet, file, text string) *ast.File {
	f, err := parser.ParseFile(fset, file, text, 0)
	if err != nil {
		return nil
	}
	body := f.Decls[0].(*ast.FuncDecl).Body
	call, ok := body.List[0].(*ast.ExprStmt).X.(*ast.CallExpr)
	if !ok || len(body.List) > 1 || len(call.Args) < 2 || call.Ellipsis.IsValid() {
		return nil
	}
	body.List = nil
	for _, x := range call.Args {
		body.List = append(body.List, &ast.ExprStmt{X: x})
	}
	return f
}

// textOf is the text of syntax without comments, formatted.
func textOf(n ast.Node) string {
	var text strings.Builder
	printer.Fprint(&text, token.NewFileSet(), n)
	return text.String()
}

// directives finds directives of the compiler and the go command, which begin a line. Directives
// that change nothing in a cell may stay: a function of a cell is never inlined.
func (s Source) directives() (wrong scanner.ErrorList) {
	for _, at := range directive.FindAllStringSubmatchIndex(s.Go, -1) {
		name, advice := s.Go[at[2]:at[3]], "leave the line out, or put the code into a package of a module and import that"
		switch name {
		case "noinline", "generate", "fix":
			continue
		case "embed":
			advice = "read the file with os.ReadFile, or embed it in a package of a module and import that"
		case "build":
			advice = "a cell is always built: leave the line out, or ask for runtime.GOOS"
		}
		if _, in := s.tokensTo(at[0] + 2); in == token.COMMENT { // and no string
			wrong.Add(s.place(at[0]), "go:"+name+" does not work in a cell; "+advice)
		}
	}
	return wrong
}

var directive = regexp.MustCompile(`(?m)^//go:(\w+)`)

// split divides what the parser has read into parts. A function that [parse] has added is divided
// into its statements.
func split(n ast.Node) (parts []part) {
	one := part{node: n}
	switch n := n.(type) {
	case *ast.EmptyStmt:
		return nil
	case *ast.DeclStmt:
		return split(n.Decl)
	case *ast.AssignStmt: // a definition is a declaration of variables
		s := &ast.ValueSpec{Values: n.Rhs}
		for _, x := range n.Lhs {
			if id, ok := x.(*ast.Ident); ok && n.Tok == token.DEFINE {
				s.Names = append(s.Names, id)
			}
		}
		if len(s.Names) == len(n.Lhs) {
			one.node, one.defines = &ast.GenDecl{TokPos: n.Pos(), Tok: token.VAR, Specs: []ast.Spec{s}}, true
		}
	case *ast.FuncDecl:
		if one.name = n.Name.Name; n.Recv.NumFields() > 0 {
			one.of, _, _ = strings.Cut(strings.Trim(types.ExprString(n.Recv.List[0].Type), "*()"), "[")
			one.name = one.of + "." + one.name
		} else if one.name == our && n.Body != nil {
			for _, s := range n.Body.List {
				parts = append(parts, split(s)...)
			}
			return parts
		}
	case *ast.GenDecl:
		for _, s := range n.Specs {
			one := part{node: &ast.GenDecl{TokPos: s.Pos(), Tok: n.Tok, Specs: []ast.Spec{s}}}
			switch s := s.(type) {
			case *ast.TypeSpec:
				one.name, one.of = s.Name.Name, s.Name.Name
			case *ast.ImportSpec:
				one.node = s
			}
			parts = append(parts, one)
		}
		if n.Tok != token.CONST {
			return parts
		}
	}
	return []part{one}
}
