package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

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

var goCommand = regexp.MustCompile(`^!\*?\s*go (get|doc|list|vet|test)\s`)

// propose proposes how the line of a command may go on. It is not ok where the rest of the line is
// Go.
func (p *process) propose(code string, offset int, line string) (start int, list []cell.Proposal, ok bool) {
	name, rest, hasArgs := strings.Cut(line[1:], " ")
	word := rest[strings.LastIndexByte(rest, ' ')+1:]
	if line[0] == '%' && !hasArgs {
		for _, one := range special {
			for _, n := range strings.Fields(one.names) {
				if strings.HasPrefix(n, name) && (n[0] != '%' || n == "%" || !strings.Contains(code[:offset], "\n")) {
					list = append(list, cell.Proposal{Text: "%" + n, Kind: "magic", Signature: one.args})
				}
			}
		}
		return offset - len(line), list, true
	}
	add := func(kind string, texts ...string) {
		for _, text := range texts {
			if strings.HasPrefix(text, word) {
				list = append(list, cell.Proposal{Text: text, Kind: kind})
			}
		}
	}
	names := func(kinds ...string) {
		for _, v := range p.Names(kinds...) {
			add(kinds[0], v.Name)
		}
	}
	one, _ := commandNamed(name)
	if line[0] == '!' {
		one, word = command{}, line[strings.LastIndexAny(line, " !=")+1:]
		if goCommand.MatchString(line) {
			list = p.Imports(word)
		}
	}
	switch one.args {
	case "statement":
		return 0, nil, false
	case "name":
		names("var", "func", "type", "const", "package")
	case "f [args]":
		names("func")
	case "[go.mod]":
		add("path", "go.mod")
	case "NAME VALUE":
		for _, v := range os.Environ() {
			text, _, _ := strings.Cut(v, "=")
			add("variable", text)
		}
	case "[args]":
	default:
		list = append(list, files(word, one.args == "[folder]")...)
	}
	return offset - len(word), list, true
}

// files proposes files, or only folders, whose path begins with a text.
func files(begun string, onlyFolders bool) (list []cell.Proposal) {
	dir, base := filepath.Split(begun)
	place := dir
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		place = os.Getenv("HOME") + "/" + rest
	}
	entries, _ := os.ReadDir(filepath.Clean(place))
	for _, e := range entries {
		name := e.Name()
		s, err := os.Stat(filepath.Join(place, name)) // of what a link leads to
		isFolder := err == nil && s.IsDir()
		if !strings.HasPrefix(name, base) || base == "" && name[0] == '.' || onlyFolders && !isFolder {
			continue
		}
		if isFolder {
			name += "/"
		}
		list = append(list, cell.Proposal{Text: dir + name, Kind: "path"})
	}
	return list
}
