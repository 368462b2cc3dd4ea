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

// hostPackage has the program of the host, and servePackage is that of the kernel, within the module.
const (
	modulePath   = "github.com/parallelcl/parallelcl/"
	hostPackage  = "internal/kernel/host"
	servePackage = "internal/kernel/serve"
)

// importHost begins the text of a program of the host.
const importHost = "import host \"" + modulePath + hostPackage + "\"\n"

// Host is a built host: its program, and the packages that cells share with it.
type Host struct {
	Module   string // the module's folder
	Go       Go
	Program  string
	Packages []cell.Package
	Source   string // the fingerprint of the module's source that it was built from
	Sum      string // and a hash of that source itself

	dir   string         // where it builds cells
	built []cell.Package // which cells have beside its own: those that were fetched, and earlier cells
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

// Current returns the host of the same module as it is now. If there is none, it is built.
func (h *Host) Current(ctx context.Context) (now *Host, err error) {
	defer fail.Caught(&err)
	dir := filepath.Dir(h.Program)
	now = &Host{Module: h.Module, Go: h.Go, Program: h.Program, Source: origin.Fingerprint(h.Module), Sum: origin.SourceSum(h.Module)}
	if there, err := Read(dir); err == nil && there.Source == now.Source && reflect.DeepEqual(there.Go, now.Go) {
		return there, nil
	}
	paths := fail.Or(h.Go.importable(ctx, h.Module))
	now.Packages = fail.Or(h.Go.exportsOf(ctx, h.Module, append(paths, cell.Runtime, modulePath+hostPackage)...))
	text, flags := importHost, []string(nil)
	if h.Go.Plugins { // which find in it all that they import
		flags = []string{"-buildmode=pie", "-linkmode=external"}
		for _, p := range paths {
			text += fmt.Sprintf("import _ %q\n", p)
		}
	}
	partial := h.Program + ".partial"
	now.In(dir).program(ctx, partial, "main", text+"func main() { host.Main(nil) }\n", flags...)
	fail.If(os.Rename(partial, h.Program))
	return now, atomicfile.WriteBytes(filepath.Join(dir, hostFile), fail.Or(json.Marshal(now)))
}

// importable lists the packages that cells can import: those of the module and of the standard library.
func (g *Go) importable(ctx context.Context, module string) (paths []string, err error) {
	out, err := g.run(ctx, module, "list", "-e", "-f", `{{if and .GoFiles (ne .Name "main") (not .Error)}}{{.ImportPath}}{{end}}`, "./...", "std")
	for _, p := range strings.Fields(string(out)) {
		if cell.Importable(p) && !slices.Contains(unwanted, strings.Split(p, "/")[0]) {
			paths = append(paths, p)
		}
	}
	return paths, err
}

// unwanted are parts of the standard library whose import does something, or that no notebook needs in each of its cells.
var unwanted = []string{"plugin", "debug", "go", "expvar", "syscall", "unsafe"}

// Install builds the kernel and its host into a folder, and returns the program that Jupyter starts. This downloads what the
// module requires and compiles all packages, so that for the user's first cell only the cell itself has to be compiled.
func Install(ctx context.Context, dir, module, goCommand string) (start string, err error) {
	defer fail.Caught(&err)
	g := fail.Or(FindTools(ctx, goCommand, module))
	fail.If(os.MkdirAll(dir, 0o777))
	start = filepath.Join(dir, "start")
	partial := start + ".partial"
	fail.Or(g.run(ctx, module, "build", "-buildvcs=false", "-ldflags=-s", "-o", partial, "./"+servePackage))
	fail.If(os.Rename(partial, start))
	h := &Host{Module: module, Go: g, Program: filepath.Join(dir, "host")}
	if _, err := h.Current(ctx); err != nil {
		return "", fmt.Errorf("the module does not build for a notebook: %w", err)
	}
	return start, nil
}
