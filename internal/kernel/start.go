package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// A kernel's files in the cache.
const (
	startFile     = "start"         // what Jupyter runs
	goFile        = "bin/go"        // what GoNB calls as the go command
	goimportsFile = "bin/goimports" // what GoNB calls as goimports
	goplsFile     = "bin/gopls"     // what GoNB calls as gopls
	shimFile      = "bin/" + shimName
	configFile    = "shim.json" // what the shim knows of the kernel
	packagesFile  = "packages"  // what a cell need not import itself
	stdFile       = "std"       // and of the standard library, with names
	sourceDir     = "src"       // the copied module, where it is not a clone
	firstDir      = "first"     // a cell that uses every package
)

// shimConfig is the configuration that the shim reads; see the type config there.
type shimConfig struct {
	Go, Tools, Module, Source string
}

// writeStart puts the shim, under all its names, into the folder of a kernel.
func writeStart(dir, tools, goCommand string, s Source) error {
	data, err := json.MarshalIndent(shimConfig{goCommand, tools, Module, s.Dir}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, configFile), append(data, '\n')); err != nil {
		return err
	}
	program, err := os.ReadFile(filepath.Join(tools, "bin", shimName))
	if err != nil {
		return err
	}
	shim := filepath.Join(dir, filepath.FromSlash(shimFile))
	partial := shim + ".partial" // which has the name that a cell calls only when it can be run
	if err := atomicfile.WriteBytes(partial, program); err != nil {
		return err
	}
	if err := makeProgram(partial); err != nil {
		return err
	}
	if err := os.Rename(partial, shim); err != nil {
		return err
	}
	for name, target := range map[string]string{
		startFile: shimFile, goFile: shimName, goimportsFile: shimName, goplsFile: shimName,
	} {
		if err := symlink(filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// symlink makes path a link to target. A cell may be calling what is there, so there is something at every moment.
func symlink(target, path string) error {
	if old, err := os.Readlink(path); err == nil && old == target {
		return nil
	}
	partial := path + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.Symlink(target, partial); err != nil {
		return err
	}
	return os.Rename(partial, path)
}

// makeProgram makes a file executable for everybody who may read it.
func makeProgram(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	mode := info.Mode().Perm()
	return os.Chmod(file, mode|mode&0o444>>2)
}

// writePackages writes the lists of the packages that a cell can use without importing them.
func writePackages(ctx context.Context, dir, goCommand string, s Source) error {
	out, err := run(ctx, s.Dir, goEnv(), goCommand, "list", "-e", "-f", "{{.Standard}} {{.Name}} {{.ImportPath}}", "./...", "std")
	if err != nil {
		return err
	}
	lists := map[string]string{}
	for line := range strings.Lines(string(out)) {
		standard, rest, _ := strings.Cut(line, " ")
		lists[standard] += rest
	}
	for file, list := range map[string][]string{packagesFile: importable(lists["false"]), stdFile: public(lists["true"])} {
		if err := atomicfile.WriteBytes(filepath.Join(dir, file), []byte(strings.Join(list, "\n")+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// public returns the lines of a list of names and paths whose packages anybody can import.
func public(list string) (lines []string) {
	for line := range strings.Lines(list) {
		line = strings.TrimSpace(line)
		name, p, _ := strings.Cut(line, " ")
		elements := strings.Split(p, "/")
		if name != "main" && !slices.Contains(elements, "internal") && elements[0] != "vendor" {
			lines = append(lines, line)
		}
	}
	return lines
}

// importable returns the packages of a list of names and paths that a cell can import.
func importable(list string) []string {
	var paths []string
	for line := range strings.Lines(list) {
		name, p, ok := strings.Cut(strings.TrimSpace(line), " ")
		internal := slices.Contains(strings.Split(p, "/"), "internal")
		if ok && name == path.Base(p) && !internal { // else a command, or it does not parse
			paths = append(paths, p)
		}
	}
	return paths
}

// firstCell builds a cell that imports every package. This downloads what the module requires and compiles all packages, so
// that for the user's first cell only the cell itself has to be compiled.
func firstCell(ctx context.Context, dir, goCommand string) error {
	cell := filepath.Join(dir, firstDir)
	if err := os.MkdirAll(cell, 0o755); err != nil {
		return err
	}
	packages, err := os.ReadFile(filepath.Join(dir, packagesFile))
	if err != nil {
		return err
	}
	text := "package main\n\n"
	for p := range strings.Lines(string(packages)) {
		text += fmt.Sprintf("import _ %q\n", strings.TrimSpace(p))
	}
	if err := atomicfile.WriteBytes(filepath.Join(cell, "main.go"), []byte(text+"\nfunc main() {}\n")); err != nil {
		return err
	}
	env := append(goEnv(), "PARALLELCL_GO="+goCommand, "GOFLAGS=-buildvcs=false -ldflags=-s")
	goPath := filepath.Join(dir, filepath.FromSlash(goFile))
	for _, args := range [][]string{{"mod", "init", "gonb_first"}, {"build", "-o", "cell"}} {
		if _, err := run(ctx, cell, env, goPath, args...); err != nil {
			return fmt.Errorf("the module does not build in a notebook: %w", err)
		}
	}
	return os.Remove(filepath.Join(cell, "cell"))
}
