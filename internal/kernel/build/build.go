// Package build makes programs of a notebook's cells with Go's own compiler and linker: the host, in which all cells run,
// and a plugin for each cell. It calls them directly, since the go command would take longer than they do.
package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// hostPackage is the program of the host, within the module.
const hostPackage = "internal/kernel/host"

// Go is a toolchain.
type Go struct {
	Command string // the go command
	Version string
	Tools   string // the folder of the compiler and the linker
	Root    string
	CC      []string // the C compiler, which links
	Linker  string   // mold, lld, or what the C compiler uses
}

// FindTools asks a go command for its tools.
func FindTools(ctx context.Context, command, dir string) (*Go, error) {
	cmd := exec.CommandContext(ctx, command, "env", "-json", "GOVERSION", "GOTOOLDIR", "GOROOT", "CC", "GOOS")
	cmd.Dir, cmd.Env = dir, Environment()
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, err
	}
	g := &Go{Command: command, Version: env["GOVERSION"], Tools: env["GOTOOLDIR"], Root: env["GOROOT"], CC: strings.Fields(env["CC"])}
	g.Linker = g.findLinker(ctx, env["GOOS"])
	return g, nil
}

// findLinker looks for a linker that is quicker than the C compiler's own, and tries it.
func (g *Go) findLinker(ctx context.Context, system string) string {
	if system != "linux" || len(g.CC) == 0 {
		return ""
	}
	for _, name := range []string{"mold", "lld"} {
		if exec.CommandContext(ctx, g.CC[0], append(g.CC[1:], "-fuse-ld="+name, "-Wl,--version")...).Run() == nil {
			return name
		}
	}
	return ""
}

// Environment is the environment of the go command, without variables by which it would look elsewhere.
func Environment() []string {
	return append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
}

// Host is a built host: its program, and the packages that cells share with it.
type Host struct {
	Program  string
	Packages []cell.Package
	Go       string // the version that built it
	Source   string // the fingerprint of the module's source that it was built from
	Sum      string // and a hash of that source itself
}

// hostFile describes a host in its folder.
const hostFile = "host.json"

// ReadHost reads the host in a folder. It fails if one of its packages is gone from Go's cache.
func ReadHost(dir string) (*Host, error) {
	h := new(Host)
	if err := readJSON(filepath.Join(dir, hostFile), h); err != nil {
		return nil, err
	}
	for _, p := range h.Packages {
		if _, err := os.Stat(p.Export); err != nil {
			return nil, err
		}
	}
	_, err := os.Stat(h.Program)
	return h, err
}

// Host builds the host for a module into a folder, unless the one there is what it would build.
func (g *Go) Host(ctx context.Context, module, dir string) (*Host, error) {
	source := origin.Fingerprint(module)
	if h, err := ReadHost(dir); err == nil && h.Source == source && h.Go == g.Version {
		return h, nil
	}
	imports, err := g.imports(ctx, module)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "packages.go")
	if err := atomicfile.WriteBytes(file, []byte(imports)); err != nil {
		return nil, err
	}
	overlayFile := filepath.Join(dir, "overlay.json")
	if err := writeJSON(overlayFile, map[string]any{"Replace": map[string]string{filepath.Join(module, hostPackage, "packages.go"): file}}); err != nil {
		return nil, err
	}
	packages, err := g.exportsOf(ctx, module, "-overlay="+overlayFile, "./"+hostPackage)
	if err != nil {
		return nil, err
	}
	h := &Host{Go: g.Version, Source: source, Sum: origin.SourceSum(module)}
	for _, p := range packages {
		if p.Name != "main" {
			h.Packages = append(h.Packages, p)
		}
	}
	files, err := fs.Glob(os.DirFS(filepath.Join(module, hostPackage)), "*.go")
	if err != nil {
		return nil, err
	}
	for i, name := range files {
		files[i] = filepath.Join(module, hostPackage, name)
	}
	b := NewBuilder(g, dir, h.Packages)
	if err := b.compile(ctx, "main", "host.a", append(files, file)...); err != nil {
		return nil, err
	}
	defer os.Remove(filepath.Join(dir, "host.a"))
	// A kernel may be starting the program that is there, so the new one has another name.
	h.Program = filepath.Join(dir, "host-"+source)
	partial := h.Program + ".partial"
	if err := b.link(ctx, partial, "host.a", "-buildmode=pie", "-linkmode=external"); err != nil {
		return nil, err
	}
	if err := os.Rename(partial, h.Program); err != nil {
		return nil, err
	}
	if err := removeOldHosts(dir); err != nil {
		return nil, err
	}
	return h, writeJSON(filepath.Join(dir, hostFile), h)
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, data)
}

// removeOldHosts removes programs that no kernel is likely to start any more: all but the newest.
func removeOldHosts(dir string) error {
	const keep = 4
	programs, err := fs.Glob(os.DirFS(dir), "host-*")
	age := func(name string) time.Duration {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return 0
		}
		return time.Since(info.ModTime())
	}
	slices.SortFunc(programs, func(a, b string) int { return cmp.Compare(age(a), age(b)) })
	for _, old := range programs[min(keep, len(programs)):] {
		err = errors.Join(err, os.Remove(filepath.Join(dir, old)))
	}
	return err
}

// imports is the file of the host that imports every package that cells can import: those of the module and of the standard
// library.
func (g *Go) imports(ctx context.Context, module string) (string, error) {
	out, err := g.run(ctx, module, "list", "-e", "-f", "{{.Standard}} {{.Name}} {{.ImportPath}}", "./...", "std")
	if err != nil {
		return "", err
	}
	text := "package main\n\nimport (\n"
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[1] == "main" || !cell.Importable(f[2]) || f[0] == "true" && slices.Contains(unwanted, strings.Split(f[2], "/")[0]) {
			continue
		}
		if f[0] == "false" && f[1] != filepath.Base(f[2]) { // it does not parse, or is no package to import
			continue
		}
		text += fmt.Sprintf("\t_ %q\n", f[2])
	}
	return text + ")\n", nil
}

// unwanted are parts of the standard library whose import does something, or that no notebook needs in each of its cells.
var unwanted = []string{"plugin", "debug", "go", "cmd", "expvar", "syscall", "unsafe"}

// exportsOf builds packages for plugins and lists them with all that they need.
func (g *Go) exportsOf(ctx context.Context, dir string, args ...string) (list []cell.Package, err error) {
	out, err := g.run(ctx, dir, append([]string{"list", "-export", "-deps", "-buildmode=plugin", "-f",
		"{{if .Export}}{{.Name}} {{.ImportPath}} {{.Export}}{{end}}"}, args...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
			list = append(list, cell.Package{Name: f[0], Path: f[1], Export: f[2]})
		}
	}
	return list, nil
}

// run runs the go command. The user can interrupt it.
func (g *Go) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := command(ctx, g.Command, args...)
	cmd.Dir, cmd.Env = dir, Environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && stderr.Len() > 0:
		return nil, errors.New(strings.TrimSpace(stderr.String()))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	return stdout.Bytes(), nil
}
