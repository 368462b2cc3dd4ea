package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/stamp"
)

// hostPackage has the function Main of the host's program, whose text begins with its import. It is
// the module's, so that the kernel needs nothing of what it hands over.
const (
	hostPackage = "github.com/parallelcl/parallelcl/internal/kernelhost"
	importHost  = "import host \"" + hostPackage + "\"\n"
)

// loader is the rest of a host that loads plugins. Package plugin is nowhere else: with it a
// program is linked as a whole.
const loader = `func main() {
	if len(keep) == 0 {
		return
	}
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
	Source   string      // the fingerprint of the module's source that it was built from
	Sum      string      // and a hash of that source itself
	Files    stamp.Files // of both programs and the packages
	// Assembled are functions of the program that code of Go cannot call; see shared.go.
	Assembled []string

	Note     func(line string) `json:"-"` // is told of what takes time; may be nil
	Progress Progress          `json:"-"` // and this one how far it is; may be nil
}

// hostFile describes a host in its folder.
const hostFile = "host.json"

// Read reads the host in the folder of a kernel. It returns a host with an error where its program
// or packages, which are in Go's cache, are gone or damaged, as far as sizes and times show it.
func Read(dir string) (*Host, error) {
	file, h := filepath.Join(dir, hostFile), new(Host)
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, h)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; `pcl kernel install` makes it again", file, err)
	}
	if h.Files[h.start()].SHA256 == "" {
		return h, fmt.Errorf("%s is of an earlier version", file)
	}
	renewed, err := h.Files.Check(context.Background(), "", false)
	if renewed && err == nil {
		_ = h.write() // else they are read each time
	}
	return h, err
}

// start is the kernel's program, which Jupyter starts.
func (h *Host) start() string { return filepath.Join(filepath.Dir(h.Program), "start") }

func (h *Host) write() error {
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(filepath.Dir(h.Program), hostFile), data)
}

// Verify compares the programs and all packages with their checksums.
func (h *Host) Verify(ctx context.Context) error {
	_, err := h.Files.Check(ctx, "", true)
	return err
}

func (h *Host) note(format string, values ...any) {
	if h.Note != nil {
		h.Note(printable.Line(fmt.Sprintf(format, values...)))
	}
}

// Current returns the host of the same module as it is now: this one, or that of its folder, or
// else it is built, which it notes.
func (h *Host) Current(ctx context.Context) (*Host, error) {
	now := &Host{Module: h.Module, Go: h.Go, Program: h.Program, Source: origin.Fingerprint(h.Module),
		Sum: origin.SourceSum(h.Module), Note: h.Note, Progress: h.Progress}
	if there, _ := h.there(now); there != nil {
		return there, nil
	}
	unlock, err := filelock.Wait(ctx, filepath.Join(filepath.Dir(h.Program), ".lock"), func() {
		h.note("Another kernel builds the program of the cells: waiting for it...")
	})
	if err != nil {
		return nil, err
	}
	defer unlock()
	there, why := h.there(now)
	if there != nil {
		return there, nil
	}
	h.note("%s: the program of the cells is built again...", why)
	for {
		if err := now.make(ctx); err != nil {
			return nil, err
		}
		source := origin.Fingerprint(h.Module)
		if source == now.Source {
			break
		}
		now.Source, now.Sum = source, origin.SourceSum(h.Module) // it has changed meanwhile
	}
	return now, now.write()
}

// there returns this host or that of its folder if it is as now, and otherwise says why none is.
func (h *Host) there(now *Host) (there *Host, why string) {
	there, err := Read(filepath.Dir(h.Program))
	switch {
	case err != nil:
		return nil, err.Error()
	case there.Source != now.Source:
		return nil, "The module has changed"
	case !reflect.DeepEqual(there.Go, now.Go):
		return nil, "Go has changed"
	case h.Source == now.Source:
		return h, ""
	}
	there.Note, there.Progress = h.Note, h.Progress
	return there, ""
}

// ordinary is the mode in which programs are built. Packages that are compiled for plugins and
// linked to a program have types whose pointers the garbage collector does not find.
var ordinary = []string{"-buildmode=default", "-buildvcs=false"}

// make builds the kernel's program, the packages, and the host's program.
func (h *Host) make(ctx context.Context) error {
	dir, kernel, partial := filepath.Dir(h.Program), h.start()+".partial", h.Program+".partial"
	if _, err := h.works(ctx, "1 of 3, compiling the kernel", ordinary, []string{kernelProgram},
		"build", "-ldflags=-s", "-o", kernel); err != nil {
		return err
	}
	paths, err := h.importable(ctx)
	if err != nil {
		return err
	}
	if err := h.compile(ctx, append(paths, hostPackage)); err != nil {
		return err
	}
	if h.Go.Plugins { // which find in it all that they import
		text := "package main\n" + importHost + "import \"plugin\"\n" + keeping(h.Packages, append(paths, rtPackage)) + loader
		if h.Go.Shared {
			text = strings.Replace(text, "[]any{", "[]any{addmoduledata,", 1) + "func addmoduledata()\n"
		}
		err = h.build(ctx, dir, partial, text)
	} else {
		partial, err = h.Cells(dir).Link(ctx, nil)
	}
	if err != nil {
		return err
	}
	for program, partial := range map[string]string{h.start(): kernel, h.Program: partial} {
		if err := os.Rename(partial, program); err != nil {
			return err
		}
		if h.Files[program], err = stamp.Of(ctx, program); err != nil {
			return err
		}
	}
	if h.Go.Shared {
		h.Assembled, err = assembled(h.Program)
	}
	return err
}

// compile builds the packages, and notes what they are. The go command looks only at the sizes of
// the archives in its cache, whose names are their checksums: a damaged one is removed, and built
// again.
func (h *Host) compile(ctx context.Context, paths []string) error {
	for try := range 2 {
		out, err := h.works(ctx, "2 of 3, compiling packages for cells", h.Go.modes(), paths, exports...)
		if err != nil {
			return err
		}
		h.Packages, h.Files = packagesOf(out), stamp.Files{}
		var damaged error
		for _, p := range h.Packages {
			s, err := stamp.Of(ctx, p.Export)
			if err != nil {
				return err
			}
			sum, cached := strings.CutSuffix(filepath.Base(p.Export), "-d")
			if cached && len(sum) == len(s.SHA256) && sum != s.SHA256 {
				damaged = fmt.Errorf("%s %w", p.Export, stamp.ErrDamaged)
				if err := os.Remove(p.Export); err != nil {
					return errors.Join(damaged, err)
				}
			}
			h.Files[p.Export] = s
		}
		if damaged == nil || try > 0 {
			return damaged
		}
	}
	return nil
}

// build builds a program of the given text, that can import the module's internal packages.
func (h *Host) build(ctx context.Context, dir, program, text string) error {
	source, place := filepath.Join(dir, "main.go"), filepath.Join(h.Module, "internal", "kernelhost", "main")
	overlay := filepath.Join(dir, "overlay.json")
	defer os.Remove(source)
	defer os.Remove(overlay)
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return err
	}
	files := map[string]map[string]string{"Replace": {filepath.Join(place, "main.go"): source}}
	replace, err := json.Marshal(files)
	if err != nil {
		return err
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		return err
	}
	flags := "-ldflags=-s -w -checklinkname=0" // main_amd64.s names what only the runtime may
	if h.Go.Linker != "" {
		flags += " -extldflags=-fuse-ld=" + h.Go.Linker
	}
	_, err = h.works(ctx, "3 of 3, compiling the program of the cells", append(ordinary, "-overlay", overlay),
		[]string{place},
		"build", flags, "-o", program)
	return err
}

// unwanted are parts of the standard library whose import does something, or that no notebook needs
// in each of its cells.
var unwanted = []string{"plugin", "debug", "go", "expvar", "syscall", "unsafe"}

// seldom are packages of the module that hardly a cell needs, with much that nothing else here
// needs: a fifth of all that is compiled. A cell that imports one has it built then.
var seldom = []string{
	"github.com/parallelcl/parallelcl/cli",
	"github.com/parallelcl/parallelcl/deploy",
	"github.com/parallelcl/parallelcl/viz/report",
}

// importable lists the packages that cells can use without importing them: those of the module and
// of the standard library.
func (h *Host) importable(ctx context.Context) ([]string, error) {
	const list = `{{if and .GoFiles (ne .Name "main") (not .Error)}}{{.ImportPath}}{{end}}`
	out, err := run(ctx, h.Module, h.Go.CGO, nil, h.Go.Command, "list", "-e", "-f", list, "./...", "std")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Fields(string(out)), func(p string) bool {
		return !cell.Importable(p) || slices.Contains(unwanted, strings.Split(p, "/")[0]) || slices.Contains(seldom, p)
	}), nil
}

const kernelProgram = "./internal/kernel/serve"

// Install builds the kernel and its host into a folder, and returns the program that Jupyter
// starts. This downloads what the module requires and compiles all packages, so that for the user's
// first cell only the cell itself has to be compiled. What is there is verified, and built again
// only if it or the module has changed.
func Install(ctx context.Context, dir, module string, note func(line string), progress Progress) (start string,
	err error) {
	g, err := FindTools(ctx, module)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	h := &Host{Module: module, Go: g, Program: filepath.Join(dir, "host"), Progress: progress}
	there, err := Read(dir)
	if err == nil {
		err = there.Verify(ctx)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "", err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		note(printable.Line(err.Error()) + ": it is made again...")
		fallthrough
	case err != nil:
		if err := os.RemoveAll(filepath.Join(dir, hostFile)); err != nil {
			return "", err
		}
	}
	if _, err := h.Current(ctx); err != nil {
		return "", fmt.Errorf("the module does not build for a notebook: %w", err)
	}
	return h.start(), nil
}
