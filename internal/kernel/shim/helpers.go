//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
)

// helpers are what every cell has without declaring it, each in a file of its own in the cell's folder. The files stay
// there, where gopls reads them; a build takes those that the cell uses and does not declare itself.
var helpers = map[string]string{
	"must": `package main

// must returns v. An error ends the cell and is shown with the line that it came from.
func must[T any](v T, err error) T {
	if err != nil {
		parallelclFail(err)
	}
	return v
}
`,
	"check": `package main

// check ends the cell if there is an error, which is shown with the line that it came from.
func check(err error) {
	if err != nil {
		parallelclFail(err)
	}
}
`,
	"ctx": `package main

import (
	"context"
	"os"
	"os/signal"
)

// ctx is done when the notebook's stop button is pressed. Pressed again, it ends the cell at once.
var ctx = func() context.Context {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	return ctx
}()
`,
	failHelper: `package main

import (
	"fmt"
	"os"
	"runtime"
)

// parallelclFail says where a cell called must or check, and ends it.
func parallelclFail(err error) {
	_, file, line, _ := runtime.Caller(2)
	fmt.Fprintf(os.Stderr, "%s:%d: %v\n", file, line, err)
	os.Exit(1)
}
`,
}

// failHelper is what must and check need.
const failHelper = "parallelclFail"

func helperFile(name string) string { return "parallelcl_" + name + ".go" }

// build runs go build, or go test -c, without the helpers that the cell does not need, and has the program know what its
// results are made by.
func (c *config) build(goPath string, args []string) int {
	overlay, err := writeOverlay(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	flags := []string{args[0], "-overlay=" + overlay, "-ldflags=-s -X " + c.Module + "/internal/origin.cell=" + c.origin(".")}
	return run(goPath, append(flags, args[1:]...)...)
}

// writeOverlay writes which helpers a build in a folder is to take for absent.
func writeOverlay(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	needed := neededHelpers(dir)
	absent := map[string]string{}
	for name := range helpers {
		if !needed[name] {
			absent[filepath.Join(dir, helperFile(name))] = ""
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": absent})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, os.WriteFile(path, data, 0o600)
}

// neededHelpers are those that a cell's files use and do not declare.
func neededHelpers(dir string) map[string]bool {
	used, declared := map[string]bool{}, map[string]bool{}
	for _, f := range cellFiles(dir) {
		for _, id := range f.Unresolved {
			used[id.Name] = true
		}
		for name := range topLevel(f) {
			declared[name] = true
		}
	}
	needed := map[string]bool{}
	for name := range helpers {
		if used[name] && !declared[name] {
			needed[name] = true
		}
	}
	needed[failHelper] = needed["must"] || needed["check"]
	return needed
}

// cellFiles are the parsed files of a cell's folder, without the helpers.
func cellFiles(dir string) []*ast.File {
	paths, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	var files []*ast.File
	for _, path := range paths {
		if isHelper(filepath.Base(path)) {
			continue
		}
		if f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0); err == nil {
			files = append(files, f)
		}
	}
	return files
}

func isHelper(file string) bool {
	for name := range helpers {
		if file == helperFile(name) {
			return true
		}
	}
	return false
}

// topLevel are the names that a file declares for its package.
func topLevel(f *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					names[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names[id.Name] = true
					}
				}
			}
		}
	}
	return names
}
