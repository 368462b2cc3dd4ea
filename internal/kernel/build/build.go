// Package build makes programs of a notebook's cells with Go's own compiler and linker: the host, in which all cells run,
// and a plugin for each cell, or where there are no plugins, a host for each cell that has it and all earlier ones. It calls
// them directly, since the go command would take longer than they do.
package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Go is a toolchain.
type Go struct {
	Command string // the go command
	Version string
	Tools   string // the folder of the compiler and the linker
	Root    string
	CC      []string // the C compiler, which links
	Linker  string   // mold, lld, or what the C compiler uses
	Plugins bool     // whether cells can be plugins: the system has them, and the C compiler works
}

// FindTools asks a go command for its tools.
func FindTools(ctx context.Context, command, dir string) (g Go, err error) {
	defer fail.Caught(&err)
	var env map[string]string
	fail.If(json.Unmarshal(fail.Or(Run(ctx, dir, command, "env", "-json", "GOVERSION", "GOTOOLDIR", "GOROOT", "CC", "CGO_ENABLED")), &env))
	g = Go{Command: command, Version: env["GOVERSION"], Tools: env["GOTOOLDIR"], Root: env["GOROOT"], CC: strings.Fields(env["CC"])}
	if env["CGO_ENABLED"] == "1" && len(g.CC) > 0 && slices.Contains([]string{"linux", "darwin", "freebsd"}, runtime.GOOS) {
		fail.If(g.findLinker(ctx))
	}
	return g, nil
}

// findLinker links a program with the C compiler's own linker, and with those that are quicker.
func (g *Go) findLinker(ctx context.Context) (err error) {
	defer fail.Caught(&err)
	dir := fail.Or(os.MkdirTemp("", "parallelcl-linker-"))
	defer os.RemoveAll(dir)
	fail.If(os.WriteFile(filepath.Join(dir, "main.c"), []byte("#include <pthread.h>\nint main(void) { return 0; }\n"), 0o600))
	link := append(g.CC[1:], "-o", "main", "main.c")
	_, err = Run(ctx, dir, g.CC[0], link...)
	g.Plugins = err == nil
	for _, name := range []string{"lld", "mold"} {
		if _, err := Run(ctx, dir, g.CC[0], append(link, "-fuse-ld="+name)...); err == nil && runtime.GOOS == "linux" {
			g.Linker = name
		}
	}
	return nil
}

// run runs the go command. All packages are compiled alike, whatever the environment says.
func (g *Go) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cgo := "CGO_ENABLED=0"
	if g.Plugins {
		cgo = "CGO_ENABLED=1"
	}
	return run(ctx, dir, []string{cgo}, g.Command, args...)
}

// exportsOf builds packages for cells and lists them with all that they need.
func (g *Go) exportsOf(ctx context.Context, dir string, paths ...string) (list []cell.Package, err error) {
	mode := "-buildmode=exe"
	if g.Plugins {
		mode = "-buildmode=plugin"
	}
	out, err := g.run(ctx, dir, append([]string{"list", "-export", "-deps", mode, "-f",
		`{{if and .Export (ne .Name "main")}}{{.Name}} {{.ImportPath}} {{.Export}}{{end}}`}, paths...)...)
	for line := range strings.Lines(string(out)) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
			list = append(list, cell.Package{Name: f[0], Path: f[1], Export: f[2]})
		}
	}
	return list, err
}

// Run runs a program in a process group of its own, which ends with all that it has started when ctx does, and returns its
// output. The error of one that fails has what it said.
func Run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return run(ctx, dir, nil, name, args...)
}

func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	Group(cmd)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH="), env...) // the go command is not to look elsewhere
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		said := strings.TrimSpace(cmp.Or(stderr.String(), stdout.String(), err.Error()))
		err = printable.Error(fmt.Errorf("%s: %s", filepath.Base(name), said))
	}
	return stdout.Bytes(), err
}

// In returns a copy of a host that builds cells in a folder, one after the other.
func (h *Host) In(dir string) *Host {
	in := *h
	in.dir, in.built = dir, nil
	return &in
}

// Compile compiles a cell.
func (h *Host) Compile(ctx context.Context, c *cell.Cell) (err error) {
	defer fail.Caught(&err)
	path := cell.Path(c.ID)
	h.built = append(h.built, cell.Package{Path: path, Export: h.compile(ctx, path, c.Text)})
	return nil
}

// Link links compiled cells into a plugin with a function Replay, in which some declare what they do, and Run, which runs
// others. Where there are no plugins, it is a host that has these cells.
func (h *Host) Link(ctx context.Context, replay []int, run ...int) (file string, err error) {
	defer fail.Caught(&err)
	imports, calls := "", [2]string{}
	for i, ids := range [][]int{replay, run} {
		for _, id := range ids {
			imports += fmt.Sprintf("import c%d %q\n", id, cell.Path(id))
			calls[i] += fmt.Sprintf("c%d.%s(); ", id, []string{cell.Replay, cell.Run}[i])
		}
	}
	text := fmt.Sprintf("%svar Replay, Run = func() { %s}, func() { %s}\n", imports, calls[0], calls[1])
	name := fmt.Sprintf("nb/plugin%d", time.Now().UnixNano())
	file = filepath.Join(h.dir, path.Base(name)+".so")
	if h.Go.Plugins {
		h.program(ctx, file, name, text+"func main() {}\n", "-buildmode=plugin", "-pluginpath="+name)
	} else {
		h.program(ctx, file, "main", importHost+text+"func main() { host.Main(map[string]func(){\"Replay\": Replay, \"Run\": Run}) }\n")
	}
	return file, nil
}

// config is the file that tells the tools where packages are.
const config = "importcfg"

// compile compiles a package of one file.
func (h *Host) compile(ctx context.Context, name, text string) (archive string) {
	var packages strings.Builder
	for _, p := range slices.Concat(h.Packages, h.built) {
		fmt.Fprintf(&packages, "packagefile %s=%s\n", p.Path, p.Export)
	}
	source := filepath.Join(h.dir, path.Base(name)+".go")
	defer os.Remove(source)
	fail.If(os.WriteFile(source, []byte(text), 0o600))
	fail.If(os.WriteFile(filepath.Join(h.dir, config), []byte(packages.String()), 0o600))
	archive = strings.TrimSuffix(source, ".go") + ".a"
	args := []string{"-o", archive, "-p", name, "-complete", "-goversion", h.Go.Version, "-c=2", "-importcfg", config, "-pack"}
	if h.Go.Plugins {
		args = append(args, "-installsuffix", "dynlink", "-dynlink")
	}
	fail.Or(Run(ctx, h.dir, filepath.Join(h.Go.Tools, "compile"), append(args, source)...))
	return archive
}

// program compiles and links a package main.
func (h *Host) program(ctx context.Context, file, name, text string, flags ...string) {
	archive := h.compile(ctx, name, "package main\n"+text)
	defer os.Remove(archive)
	args := append([]string{"-o", file, "-importcfg", config, "-s", "-w"}, flags...)
	if h.Go.Plugins {
		args = append(args, "-installsuffix", "dynlink", "-extld="+h.Go.CC[0])
	} else {
		args = append(args, "-linkmode=internal")
	}
	if h.Go.Linker != "" {
		args = append(args, "-extldflags=-fuse-ld="+h.Go.Linker)
	}
	fail.Or(Run(ctx, h.dir, filepath.Join(h.Go.Tools, "link"), append(args, archive)...))
}

// Fetch brings packages that the host does not have, from the module cache or the network. They come into the plugins of the
// cells that import them, never into the module's go.mod.
func (h *Host) Fetch(ctx context.Context, paths []string) (list []cell.Package, err error) {
	defer fail.Caught(&err)
	dir := fail.Or(h.MakeModule())
	list, err = h.Go.exportsOf(ctx, dir, paths...)
	if err != nil {
		fail.Or(h.Go.run(ctx, dir, append([]string{"get"}, paths...)...))
		list = fail.Or(h.Go.exportsOf(ctx, dir, paths...))
	}
	have := map[string]string{} // files of packages
	for _, p := range slices.Concat(h.Packages, h.built) {
		have[p.Path] = p.Export
	}
	list = slices.DeleteFunc(list, func(p cell.Package) bool { return have[p.Path] == p.Export })
	for _, p := range list {
		fail.When(have[p.Path] != "", "%s: another version of %s is needed than this module has", strings.Join(paths, ", "), p.Path)
	}
	h.built = append(h.built, list...)
	return list, nil
}

// ModuleDir is the folder of the cells' own module; see [Host.MakeModule].
func (h *Host) ModuleDir() string { return filepath.Join(h.dir, "module") }

// MakeModule makes the module of the cells, if it is not there: it requires what ours does.
func (h *Host) MakeModule() (dir string, err error) {
	defer fail.Caught(&err)
	dir = h.ModuleDir()
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return dir, nil
	}
	for _, name := range []string{"go.sum", "go.mod"} {
		fail.If(atomicfile.WriteBytes(filepath.Join(dir, name), fail.Or(os.ReadFile(filepath.Join(h.Module, name)))))
	}
	return dir, nil
}
