package build

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// hostPackage has the program of the host, whose text begins with its import.
const (
	hostPackage = "github.com/parallelcl/parallelcl/internal/kernel/host"
	importHost  = "import host \"" + hostPackage + "\"\n"
)

// loader is the rest of a host that loads plugins. Package plugin is nowhere else: with it a program is linked as a whole.
const loader = `import "plugin"
func main() {
	host.Main(func(file, name string) (any, error) {
		p, err := plugin.Open(file)
		if err != nil {
			return nil, err
		}
		return p.Lookup(name)
	})
}
`

// Host is a built host: its program, and the packages that cells share with it.
type Host struct {
	Module   string // the module's folder
	Go       Go
	Program  string
	Packages []cell.Package
	Source   string // the fingerprint of the module's source that it was built from
	Sum      string // and a hash of that source itself
}

// hostFile describes a host in its folder.
const hostFile = "host.json"

// Read reads the host in the folder of a kernel. It returns a host with an error where packages are gone from Go's cache.
func Read(dir string) (*Host, error) {
	file, h := filepath.Join(dir, hostFile), new(Host)
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, h)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, p := range append(h.Packages, cell.Package{Export: h.Program}) {
		if _, err := os.Stat(p.Export); err != nil {
			return h, err
		}
	}
	return h, nil
}

// Current returns the host of the same module as it is now: this one, or that of its folder, or else it is built.
func (h *Host) Current(ctx context.Context) (now *Host, err error) {
	defer fail.Caught(&err)
	dir := filepath.Dir(h.Program)
	now = &Host{Module: h.Module, Go: h.Go, Program: h.Program, Source: origin.Fingerprint(h.Module), Sum: origin.SourceSum(h.Module)}
	if there, err := Read(dir); err == nil && there.Source == now.Source && reflect.DeepEqual(there.Go, now.Go) {
		if h.Source == now.Source {
			return h, nil
		}
		return there, nil
	}
	paths := now.importable(ctx)
	now.Packages = fail.Or(h.Go.exportsOf(ctx, h.Module, append(paths, hostPackage)...))
	partial := h.Program + ".partial"
	if h.Go.Plugins { // which find in it all that they import
		text := "package main\n" + importHost
		for _, p := range paths {
			text += fmt.Sprintf("import _ %q\n", p)
		}
		now.build(ctx, dir, partial, text+loader)
	} else {
		partial = fail.Or(now.Cells(dir).Link(ctx, nil))
	}
	fail.If(os.Rename(partial, h.Program))
	return now, atomicfile.WriteBytes(filepath.Join(dir, hostFile), fail.Or(json.Marshal(now)))
}

// build builds a program that can import the module's internal packages, in the system's own mode: what is compiled for plugins
// and linked to a program has types whose pointers the garbage collector does not find.
func (h *Host) build(ctx context.Context, dir, program, text string) {
	source, place := filepath.Join(dir, "main.go"), filepath.Join(h.Module, "internal", "kernel", "host", "main")
	overlay := filepath.Join(dir, "overlay.json")
	defer os.Remove(source)
	defer os.Remove(overlay)
	fail.If(os.WriteFile(source, []byte(text), 0o600))
	files := map[string]map[string]string{"Replace": {filepath.Join(place, "main.go"): source}}
	fail.If(os.WriteFile(overlay, fail.Or(json.Marshal(files)), 0o600))
	flags := "-ldflags=-s -w"
	if h.Go.Linker != "" {
		flags += " -extldflags=-fuse-ld=" + h.Go.Linker
	}
	fail.Or(run(ctx, h.Module, h.Go.CGO, h.Go.Command, "build", "-overlay", overlay, "-buildvcs=false", flags, "-o", program, place))
}

// unwanted are parts of the standard library whose import does something, or that no notebook needs in each of its cells.
var unwanted = []string{"plugin", "debug", "go", "expvar", "syscall", "unsafe"}

// importable lists the packages that cells can import: those of the module and of the standard library.
func (h *Host) importable(ctx context.Context) []string {
	const list = `{{if and .GoFiles (ne .Name "main") (not .Error)}}{{.ImportPath}}{{end}}`
	out := fail.Or(run(ctx, h.Module, h.Go.CGO, h.Go.Command, "list", "-e", "-f", list, "./...", "std"))
	return slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool {
		return !cell.Importable(p) || slices.Contains(unwanted, strings.Split(p, "/")[0])
	})
}

// Install builds the kernel and its host into a folder, and returns the program that Jupyter starts. This downloads what the
// module requires and compiles all packages, so that for the user's first cell only the cell itself has to be compiled.
func Install(ctx context.Context, dir, module string) (start string, err error) {
	defer fail.Caught(&err)
	g := fail.Or(FindTools(ctx, module))
	fail.If(os.MkdirAll(dir, 0o777))
	start = filepath.Join(dir, "start")
	partial := start + ".partial"
	fail.Or(run(ctx, module, g.CGO, g.Command, "build", "-buildvcs=false", "-ldflags=-s", "-o", partial, "./internal/kernel/serve"))
	fail.If(os.Rename(partial, start))
	h := &Host{Module: module, Go: g, Program: filepath.Join(dir, "host")}
	if _, err := h.Current(ctx); err != nil {
		return "", fmt.Errorf("the module does not build for a notebook: %w", err)
	}
	return start, nil
}
