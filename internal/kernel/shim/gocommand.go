//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// goCommand is the go command of the kernel. In a cell's folder it differs from Go's in three things: a new cell module
// requires what the module requires, with the same checksums, so that nothing has to be looked up; the bare "go get"
// before each build looks only for what is not there; and a build leaves out the helpers that the cell does not use, and tells the program what its results are made by.
// Elsewhere it is the user's own call, as in a cell with !go build.
func (c *config) goCommand(args []string) int {
	path, err := c.findGo()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	switch {
	case len(args) == 3 && args[0] == "mod" && args[1] == "init" && strings.HasPrefix(args[2], "gonb_"):
		if err := c.newCell(args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	case !isCell("."):
	case len(args) > 0 && args[0] == "get" && (len(args) == 1 || slices.Equal(args[1:], []string{"-t"})):
		return get(path, ".")
	case len(args) > 2 && (args[0] == "build" || args[0] == "test" && args[1] == "-c"):
		return c.build(path, args)
	}
	return become(path, args...)
}

// isCell reports whether a folder is that of a kernel's cells.
func isCell(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ownerFile))
	return err == nil
}

// newCell makes the current folder the module that all cells of a kernel are compiled in.
func (c *config) newCell(name string) error {
	text, err := os.ReadFile(filepath.Join(c.Source, "go.mod"))
	if err != nil {
		return fmt.Errorf("the module is gone (%w): run pcl kernel install", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n", name)
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "module ") {
			b.WriteString(absoluteReplace(line, c.Source))
		}
	}
	fmt.Fprintf(&b, "\nrequire %s v0.0.0\nreplace %s => %q\n", c.Module, c.Module, c.Source)
	sums, err := os.ReadFile(filepath.Join(c.Source, "go.sum"))
	if err != nil {
		return err
	}
	files := map[string]string{"go.mod": b.String(), "go.sum": string(sums), "main.go": c.warmUp(), ownerFile: owner(os.Getppid())}
	for name, text := range helpers {
		files[helperFile(name)] = text
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// absoluteReplace returns a line of the go.mod in a folder. If it replaces a module by a folder, it names that folder's absolute
// path, because the line is for a go.mod elsewhere.
func absoluteReplace(line, folder string) string {
	replaced, by, ok := strings.Cut(line, "=>")
	by, _, _ = strings.Cut(by, "//")
	by = strings.TrimSpace(by)
	if path, err := strconv.Unquote(by); err == nil {
		by = path
	}
	if !ok || by != "." && by != ".." && !strings.HasPrefix(by, "./") && !strings.HasPrefix(by, "../") {
		return line
	}
	return fmt.Sprintf("%s=> %q\n", replaced, filepath.Join(folder, by))
}

// warmUp is a first program, which is never run: gopls reads it as the kernel starts, so that it knows every package
// before anybody asks it something.
func (c *config) warmUp() string {
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range append([]string{"bytes", "fmt", "math", "os", "slices", "sort", "strings", "time"}, c.lines(packagesFile)...) {
		if path != "" {
			fmt.Fprintf(&b, "\t_ %q\n", path)
		}
	}
	b.WriteString(")\n\nfunc main() {}\n")
	return b.String()
}
