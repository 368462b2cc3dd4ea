// Package kernel installs the Jupyter kernel "ParallelCL (Go)", with which notebooks run Go cells
// that use this module. The first cell can use the module without importing or downloading
// anything. Begin with [Install].
//
// The kernel is one folder in the user's Jupyter; nothing else there is changed. All other files
// are in our cache: those of the kernel, for each folder of the module that it was installed for,
// and a private JupyterLab, if the user has none.
package kernel

import (
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Name is the name by which notebooks ask for the kernel.
const Name = "parallelcl"

// Kernel is the installed kernel.
type Kernel struct {
	Version string `json:"version"` // of the module; "devel" where that is a clone, whose changes take effect in the next cell
	Source  string `json:"source"`  // the module's folder
	Start   string `json:"start"`   // the program that Jupyter runs
}

//go:embed logo.svg
var logo []byte

// Options say where the kernel and its files are put.
type Options struct {
	Cache string                             // our folder
	Data  string                             // Jupyter's data folder of the user; see [DataDir]
	Note  func(format string, values ...any) // is told of what takes time

	Progress build.Progress // is told how far that is
}

// DataDir returns the folder in which Jupyter looks for what a user has installed.
func DataDir() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	home, err := os.UserHomeDir()
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), err
	}
	return filepath.Join(cmp.Or(os.Getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share")), "jupyter"), err
}

// spec is the kernel's folder in the user's Jupyter.
func (o Options) spec() string { return filepath.Join(o.Data, "kernels", Name) }

// Read reads the kernel that is installed. If there is none, or its files or its module are gone,
// the error is [os.ErrNotExist].
func Read(o Options) (k Kernel, err error) {
	data, err := os.ReadFile(filepath.Join(o.spec(), "kernel.json"))
	if err != nil {
		return k, err
	}
	var spec struct{ Metadata struct{ ParallelCL Kernel } }
	err = json.Unmarshal(data, &spec)
	if k = spec.Metadata.ParallelCL; err != nil || k.Source == "" {
		return k, fmt.Errorf("%s is not a kernel of parallelcl: move it away first", o.spec())
	}
	for _, file := range []string{k.Start, filepath.Join(k.Source, "go.mod")} {
		if _, err := os.Stat(file); err != nil {
			return k, fmt.Errorf("its files are gone: %w", err)
		}
	}
	return k, nil
}

// Install installs the kernel for the module in a folder: its files, and its folder in the user's
// Jupyter. It builds all packages, so that cells can later be built without a network. Calling it
// again is quick and updates everything.
func Install(ctx context.Context, o Options, source string) (k Kernel, err error) {
	if err := system(); err != nil {
		return k, err
	}
	if err := o.foreign(); err != nil {
		return k, err
	}
	unlock, err := o.lock(ctx, filepath.Join(o.Cache, ".lock"))
	if err != nil {
		return k, err
	}
	defer unlock()
	sum := sha256.Sum256([]byte(source))
	note := func(line string) { o.Note("%s", line) }
	start, err := build.Install(ctx, filepath.Join(o.Cache, "kernels", hex.EncodeToString(sum[:6])), source, note,
		o.Progress)
	if err != nil {
		return k, err
	}
	_, version, _ := strings.Cut(filepath.Base(source), "@") // as in Go's cache
	k = Kernel{cmp.Or(version, devel), source, start}
	return k, k.register(o)
}

// register writes the kernel's folder in the user's Jupyter.
func (k Kernel) register(o Options) error {
	data, err := json.MarshalIndent(map[string]any{ // as the Jupyter client documents it
		"argv": []string{k.Start, "{connection_file}"}, "display_name": "ParallelCL (Go)", "language": "go",
		"interrupt_mode": "message",
		"metadata":       map[string]any{"parallelcl": k},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(o.spec(), "logo-svg.svg"), logo); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(o.spec(), "kernel.json"), data)
}

// system is the error of a system on which no kernel runs.
func system() error {
	if runtime.GOOS == "windows" {
		return errors.New("on Windows itself no kernel runs, for want of pipes to the process of the cells: use WSL")
	}
	return nil
}

// Remove deletes the kernel and the cache, with all that Install and [Jupyter] have put there.
func Remove(o Options) error {
	if err := o.foreign(); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(o.spec()), os.RemoveAll(o.Cache))
}

// foreign is the error of a kernel that is there, but is not ours.
func (o Options) foreign() error {
	if _, err := Read(o); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// lock makes sure that only one process at a time installs the same. If that process dies, the
// system releases its lock.
func (o Options) lock(ctx context.Context, file string) (unlock func(), err error) {
	return filelock.Wait(ctx, file, func() {
		o.Note("Waiting for another process that installs...")
	})
}

// Check is one thing that notebooks need. Mend is what to do if it is missing, and empty if it is
// there.
type Check struct{ Name, Detail, Mend string }

// check makes a check. mend is what to do about an error.
func check(name, detail string, err error, mend string) Check {
	if err != nil {
		return Check{name, printable.Line(err.Error()), mend}
	}
	return Check{name, printable.Line(detail), ""}
}

// Doctor checks everything that notebooks need. It changes nothing.
func Doctor(ctx context.Context, o Options) []Check {
	g, err := build.FindTools(ctx, os.TempDir())
	if err == nil && version.Compare(g.Version, "go1.21") < 0 { // later ones fetch the version that the module asks for
		err = errors.New(g.Version)
	}
	k, gone := Read(o)
	now := g.Plugins
	h, damaged := build.Read(filepath.Dir(k.Start))
	if h != nil && gone == nil {
		g.Plugins, g.Linker = h.Go.Plugins, h.Go.Linker
	}
	cells := "each is a program of its own, since cgo is off or no C compiler works (Debian, Ubuntu: apt install gcc " +
		"libc6-dev): " +
		"one that only prints takes about twice as long as a plugin, and one that imports pcl no longer; what cannot be " +
		"copied, " +
		"such as functions, and what runs in the background end before the next cell; there is no XLA"
	if g.Plugins {
		linker := "the C compiler's own linker"
		if !g.Shared {
			linker += "; with mold or lld they start in about half the time"
		}
		cells = "plugins, linked by " + cmp.Or(g.Linker, linker)
	}
	unfit, mend := system(), "use WSL"
	if unfit == nil && err == nil && g.Plugins != now {
		unfit, mend = fmt.Errorf("%s. This has changed since the installation", cells), "pcl kernel install"
	}
	if gone == nil {
		gone = damaged
	}
	if gone == nil {
		gone = h.Verify(ctx)
	}
	lab, absent := findLab(ctx, o.Cache, false)
	return []Check{
		check("Go", g.Version, err, "install Go 1.26.5 or later and put it on PATH"),
		check("Cells", cells, unfit, mend),
		check("JupyterLab", lab.Version+" ("+lab.Path+")", absent, "pcl notebook"),
		check("Kernel "+Name, "version "+k.Version+", module in "+k.Source, gone, "pcl kernel install"),
	}
}

// modulePath is the path of the module that cells can use.
const modulePath = "github.com/parallelcl/parallelcl"

// FindSource finds the folder of the module for a kernel: the one that is named; otherwise the
// clone that the current folder lies in; otherwise what this program was built from. If that is
// gone, it is the published module of the same version.
func FindSource(ctx context.Context, named string) (source string, err error) {
	if named != "" && !isModule(named) {
		return "", fmt.Errorf("%s is not the folder of %s: it has no go.mod of that module", named, modulePath)
	}
	if named != "" {
		return filepath.Abs(named)
	}
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := here; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if isModule(dir) {
			return dir, nil
		}
	}
	_, file, _, _ := runtime.Caller(0)
	if built := filepath.Join(file, "../../.."); filepath.IsAbs(built) && isModule(built) {
		return built, nil
	}
	return published(ctx)
}

func isModule(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && strings.HasPrefix(string(text), "module "+modulePath+"\n")
}

// published downloads the module, in the version that this program has of it, into Go's cache.
func published(ctx context.Context) (string, error) {
	version, _ := origin.Version()
	dir, err := build.Run(ctx, os.TempDir(), "go", "mod", "download", "-json", modulePath+"@"+version)
	if err != nil {
		return "", fmt.Errorf("the source that this pcl was built from is gone: call it in a clone of %s, or name one "+
			"with --module (%w)", modulePath, err)
	}
	var m struct{ Dir string }
	err = json.Unmarshal(dir, &m)
	return m.Dir, err
}

// devel stands for the version of a clone.
const devel = "devel"

// Quickstart returns the path of the notebook to begin with. If the kernel uses a clone, it is the
// clone's. Otherwise the notebooks are copied to a folder under the current one, with one for each
// version, because an older version's may not run.
func Quickstart(k Kernel) (string, error) {
	from, folder := filepath.Join(k.Source, "notebooks"), filepath.Join("parallelcl-notebooks", k.Version)
	if k.Version == devel {
		folder = from
	} else if _, err := os.Stat(folder); err != nil { // those that are there may have been changed
		if err := os.CopyFS(folder, os.DirFS(from)); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, "00-quickstart.ipynb"), nil
}
