// Package build makes programs of a notebook's cells with Go's own compiler and linker: the host,
// in which all cells run, and a plugin for each cell, or where there are no plugins, a host for
// each cell that has it and all earlier ones. It calls them directly, since the go command would
// take longer than they do.
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

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/tempdir"
)

// Go is a toolchain.
type Go struct {
	Command, Version, Root string
	Plugins                bool     // whether cells can be plugins: the system has them, and the C compiler works
	Shared                 bool     // whether plugins can find packages in the host; see shared.go
	Linker                 string   // mold, lld, or what the C compiler uses
	CGO                    string   // of the environment, so that all packages are compiled alike, and
	Mode                   string   // the flag with which they are
	Compile, Link          []string // the compiler and the linker, with their flags
}

// FindTools asks the go command for its tools.
func FindTools(ctx context.Context, dir string) (g Go, err error) {
	command, err := exec.LookPath("go")
	if err != nil {
		return g, fmt.Errorf("cells are compiled by Go: %w", err)
	}
	out, err := Run(ctx, dir, command, "env", "-json", "GOVERSION", "GOTOOLDIR", "GOROOT", "CC", "CGO_ENABLED")
	if err != nil {
		return g, err
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return g, err
	}
	tools, cc := env["GOTOOLDIR"], strings.Fields(env["CC"])
	g = Go{Command: command, Version: env["GOVERSION"], Root: env["GOROOT"], CGO: "CGO_ENABLED=0", Mode: "-buildmode=exe",
		Compile: []string{filepath.Join(tools, "compile"), "-complete", "-goversion", env["GOVERSION"], "-c=2"},
		Link:    []string{filepath.Join(tools, "link"), "-s", "-w"}}
	if env["CGO_ENABLED"] == "1" && len(cc) > 0 && slices.Contains([]string{"linux", "freebsd"}, runtime.GOOS) {
		if err := g.findLinker(ctx, cc); err != nil {
			return g, err
		}
	}
	if !g.Plugins {
		g.Link = append(g.Link, "-linkmode=internal")
		return g, nil
	}
	g.CGO, g.Mode = "CGO_ENABLED=1", "-buildmode=plugin"
	if g.Shared = runtime.GOOS == "linux" && runtime.GOARCH == "amd64"; g.Shared {
		g.Compile = append(g.Compile, "-linkshared")
	}
	g.Compile = append(g.Compile, "-installsuffix", "dynlink", "-dynlink")
	g.Link = append(g.Link, "-installsuffix", "dynlink", "-extld="+cc[0])
	return g, nil
}

// findLinker links a program with the C compiler's own linker, and with those that are quicker.
func (g *Go) findLinker(ctx context.Context, cc []string) error {
	temp, err := tempdir.Make("parallelcl-linker-")
	if err != nil {
		return err
	}
	defer temp.Remove()
	dir := temp.Path
	const text = "#include <pthread.h>\nint main(void) { return 0; }\n"
	if err := os.WriteFile(filepath.Join(dir, "main.c"), []byte(text), 0o600); err != nil {
		return err
	}
	link := append(cc[1:], "-o", "main", "main.c")
	_, err = Run(ctx, dir, cc[0], link...)
	g.Plugins = err == nil
	for _, name := range []string{"lld", "mold"} {
		if _, err := Run(ctx, dir, cc[0], append(link, "-fuse-ld="+name)...); err == nil && runtime.GOOS == "linux" {
			g.Linker = name
		}
	}
	return nil
}

// modes are the flags with which packages for cells are compiled.
func (g *Go) modes() []string {
	if g.Shared {
		return []string{g.Mode, "-gcflags=all=-linkshared"}
	}
	return []string{g.Mode}
}

// exports are arguments of the go command by which it builds packages for cells and lists them, for
// packagesOf, with all that they need.
var exports = []string{"list", "-export", "-deps", "-f",
	`{{if and .Export (ne .Name "main")}}{{.Name}} {{.ImportPath}} {{.Export}}{{end}}`}

func packagesOf(list []byte) (packages []cell.Package) {
	for line := range strings.Lines(string(list)) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
			packages = append(packages, cell.Package{Name: f[0], Path: f[1], Export: f[2]})
		}
	}
	return packages
}

// Run runs a program in a process group of its own, which ends with all that it has started when
// ctx does, and returns its output. The error of one that fails has what it said.
func Run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return run(ctx, dir, "GOFLAGS=", nil, name, args...)
}

// Watch is Run for a program that says how far it is. Lines for which said returns true are heard
// by it alone; the others make up an error.
func Watch(ctx context.Context, dir string, said func(line string) bool, name string, args ...string) error {
	cmd := command(ctx, dir, "GOFLAGS=", name, args...)
	var rest bytes.Buffer
	cmd.Stderr = &lines{said: said, rest: &rest}
	cmd.Stdout = cmd.Stderr
	return finish(ctx, cmd, &rest, &rest)
}

// run is Run with a variable of the environment. said, which may be nil, hears the standard error.
func run(ctx context.Context, dir, variable string, said func(string) bool, name string,
	args ...string) ([]byte, error) {
	cmd := command(ctx, dir, variable, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if said != nil {
		cmd.Stderr = &lines{said: said, rest: &stderr}
	}
	err := finish(ctx, cmd, &stdout, &stderr)
	if ctx.Err() != nil {
		return nil, err
	}
	return stdout.Bytes(), err
}

func command(ctx context.Context, dir, variable, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	Group(cmd)
	cmd.Dir = dir
	// the go command is not to look elsewhere
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=", variable)
	return cmd
}

// finish runs a command. If it fails, the error is what it has said.
func finish(ctx context.Context, cmd *exec.Cmd, stdout, stderr *bytes.Buffer) error {
	err := cmd.Run()
	if l, ok := cmd.Stderr.(*lines); ok {
		l.rest.Write(l.part)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		said := strings.TrimSpace(cmp.Or(stderr.String(), stdout.String(), err.Error()))
		err = printable.Error(fmt.Errorf("%s: %s", filepath.Base(cmd.Path), said))
	}
	return err
}

// Cells are the cells of a notebook, compiled for a host.
type Cells struct {
	*Host
	*cell.Notebook
	IDs []int // of those that are committed

	dir      string         // where they are
	packages []cell.Package // those of the host, others that were fetched, and the cells
	reach    reach
}

// Cells returns what compiles cells in a folder, one after the other.
func (h *Host) Cells(dir string) *Cells {
	c := &Cells{Host: h, Notebook: cell.New(h.Packages, h.Go.Root), dir: dir, packages: slices.Clip(h.Packages)}
	c.Others = c.others
	return c
}

// Compile translates a cell. It fetches what the cell imports and the host does not have.
func (c *Cells) Compile(ctx context.Context, s cell.Source) (one *cell.Cell, err error) {
	one, err = c.Translate(s)
	if err != nil && one != nil && len(one.Missing) > 0 {
		if err := c.fetch(ctx, one.Missing); err != nil {
			return nil, err
		}
		one, err = c.Translate(s)
	}
	return one, c.cause(ctx, err)
}

// Commit makes what a compiled cell declares known to later cells.
func (c *Cells) Commit(one *cell.Cell) {
	c.Notebook.Commit(one)
	c.IDs = append(c.IDs, one.ID)
}

// fetch brings packages that the host does not have: the module's, or from the module cache or the
// network. They come into what is linked for the cells that import them, never into the module's
// go.mod.
func (c *Cells) fetch(ctx context.Context, paths []string) error {
	dir, err := c.ModuleDir()
	if err != nil {
		return err
	}
	command := func(dir string, args ...string) ([]byte, error) {
		return run(ctx, dir, c.Go.CGO, nil, c.Go.Command, append(args, paths...)...)
	}
	build := slices.Concat(exports, c.Go.modes())
	out, unknown := command(dir, build...)
	if unknown != nil { // the copy of go.mod has not the module's own packages beside it
		out, unknown = command(c.Module, build...)
	}
	if unknown != nil {
		if _, err := command(dir, "get"); err != nil {
			return err
		}
		if out, err = command(dir, build...); err != nil {
			return err
		}
	}
	list := packagesOf(out)
	have := map[string]string{} // files of packages
	for _, p := range c.packages {
		have[p.Path] = p.Export
	}
	list = slices.DeleteFunc(list, func(p cell.Package) bool { return have[p.Path] == p.Export })
	for _, p := range list {
		if have[p.Path] != "" {
			return fmt.Errorf("%s: another version of %s is needed than this module has", strings.Join(paths, ", "), p.Path)
		}
	}
	c.packages = append(c.packages, list...)
	c.Add(list)
	return nil
}

// Link links cells into a plugin with a function Replay, in which some declare what they do, and
// Run, which runs others. Where there are no plugins, it is a host that has these cells.
func (c *Cells) Link(ctx context.Context, replay []int, run ...int) (file string, err error) {
	name := fmt.Sprintf("nb/plugin%d", time.Now().UnixNano())
	cells, err := c.Package(name, replay, run...)
	if err != nil {
		return "", err
	}
	archive, err := c.compile(ctx, cell.Path, path.Base(name)+"-cells", cells)
	if err != nil {
		return "", err
	}
	defer os.Remove(archive)
	text := fmt.Sprintf("import (\n_ %q\nrt %q\n)\nvar Replay, Run = rt.Offered(%q)\n", cell.Path, rtPackage, name)
	file = filepath.Join(c.dir, path.Base(name)+".so")
	have := c.packages
	c.packages = append(slices.Clip(have), cell.Package{Path: cell.Path, Export: archive})
	defer func() { c.packages = have }()
	if !c.Go.Plugins {
		return file, c.program(ctx, file, "main", importHost+text+`func main() {
	host.Main(func(_, name string) (any, error) { return map[string]any{"Replay": &Replay, "Run": &Run}[name], nil })
}
`)
	}
	symbols, err := c.Go.ownSymbols(c.dir)
	if err != nil {
		return "", err
	}
	flags := []string{"-buildmode=plugin", "-pluginpath=" + name, "-extldflags=" + symbols}
	if c.Go.Shared {
		if done, err := c.share(ctx, file, name, text, flags); done || err != nil {
			return file, err
		}
	}
	return file, c.program(ctx, file, name, text+"func main() {}\n", flags...)
}

const (
	rtPackage = "github.com/parallelcl/parallelcl/internal/kernel/rt"
	// versions is a version script of the linker. Plugins share the types of the cells' package,
	// and nothing else of it.
	versions = `{ local: "go:link.pkghash.nb/main"; "go:link.pkghashbytes.nb/main"; nb?main.*; };`
)

// ownSymbols returns the flags of the C linker by which a plugin has functions and variables of its
// own.
func (g Go) ownSymbols(dir string) (flags string, err error) {
	file := filepath.Join(dir, "versions")
	text := versions
	if g.Shared {
		text = strings.Replace(text, `"go:link.pkghash.nb/main"; "go:link.pkghashbytes.nb/main"`, "go?link.pkghash*", 1)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	flags = fmt.Sprintf("'-Wl,--version-script=%s'", file)
	if g.Linker != "" {
		flags += " -fuse-ld=" + g.Linker
	}
	return flags, nil
}

// config is the file that tells the tools where packages are.
const config = "importcfg"

// configure writes it. Packages that are shared are found in the host.
func (c *Cells) configure(shared func(path string) bool) error {
	var text strings.Builder
	for _, p := range c.packages {
		if shared(p.Path) {
			fmt.Fprintf(&text, "packageshlib %s=%s\n", p.Path, filepath.Join(c.dir, stubName))
		} else {
			fmt.Fprintf(&text, "packagefile %s=%s\n", p.Path, p.Export)
		}
	}
	return os.WriteFile(filepath.Join(c.dir, config), []byte(text.String()), 0o600)
}

func (c *Cells) compile(ctx context.Context, name, base, text string) (archive string, err error) {
	source := filepath.Join(c.dir, base+".go")
	defer os.Remove(source)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	if err := c.configure(func(string) bool { return false }); err != nil {
		return "", err
	}
	archive = strings.TrimSuffix(source, ".go") + ".a"
	return archive, c.tool(ctx, c.Go.Compile, "-o", archive, "-p", name, "-pack", source)
}

// program compiles and links a package main.
func (c *Cells) program(ctx context.Context, file, name, text string, flags ...string) error {
	archive, err := c.compile(ctx, name, path.Base(name), "package main\n"+text)
	if err != nil {
		return err
	}
	defer os.Remove(archive)
	return c.tool(ctx, c.Go.Link, append(flags, "-o", file, archive)...)
}

// tool runs the compiler or the linker. Its temporary files are in the cells' folder, and go with
// it if the tool is killed.
func (c *Cells) tool(ctx context.Context, tool []string, args ...string) error {
	_, err := run(ctx, c.dir, "TMPDIR="+c.dir, nil, tool[0],
		slices.Concat(tool[1:], []string{"-importcfg", config}, args)...)
	return c.cause(ctx, err)
}

// cause is an error of a cell or, if a package is damaged without which it fails, that.
func (c *Cells) cause(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, damaged := c.Files.Check(ctx, "", false); damaged != nil {
		return fmt.Errorf("%w: %%handover has it made again", damaged)
	}
	return err
}

// ModuleDir returns the folder of the cells' own module, which requires what ours does. If it is
// not there, it is made.
func (c *Cells) ModuleDir() (dir string, err error) {
	dir = filepath.Join(c.dir, "module")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return "", err
	}
	for _, name := range []string{"go.sum", "go.mod"} {
		text, err := os.ReadFile(filepath.Join(c.Module, name))
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return "", err
		}
	}
	return dir, nil
}
