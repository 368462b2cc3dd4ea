package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// hostPackage has the program of the host, and servePackage is that of the kernel, within the module.
const (
	modulePath   = "github.com/parallelcl/parallelcl/"
	hostPackage  = "internal/kernel/host"
	servePackage = "internal/kernel/serve"
)

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
	for _, p := range append(h.Packages, cell.Package{Export: h.Program}) {
		if _, err := os.Stat(p.Export); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// Host builds the host for a module into a folder, unless the one there is what it would build.
func (g *Go) Host(ctx context.Context, module, dir string) (*Host, error) {
	source := origin.Fingerprint(module)
	if h, err := ReadHost(dir); err == nil && h.Source == source && h.Go == g.Version {
		return h, nil
	}
	paths, err := g.importable(ctx, module)
	if err != nil {
		return nil, err
	}
	// A kernel may be starting the program that is there, so the new one has another name.
	h := &Host{Go: g.Version, Source: source, Sum: origin.SourceSum(module), Program: filepath.Join(dir, hostPrefix+source)}
	if h.Packages, err = g.exportsOf(ctx, module, append(paths, "./"+hostPackage)...); err != nil {
		return nil, err
	}
	b := NewBuilder(g, dir, h.Packages)
	text := fmt.Sprintf("package main\nimport (\n\thost %q\n", modulePath+hostPackage)
	for _, p := range paths {
		text += fmt.Sprintf("\t_ %q\n", p)
	}
	archive, err := b.compile(ctx, "main", text+")\nfunc main() { host.Main() }\n")
	if err != nil {
		return nil, err
	}
	defer os.Remove(archive)
	partial := h.Program + ".partial"
	if err := b.link(ctx, partial, archive, "-buildmode=pie", "-linkmode=external"); err != nil {
		return nil, err
	}
	if err := os.Rename(partial, h.Program); err != nil {
		return nil, err
	}
	return h, errors.Join(removeOldHosts(dir), writeJSON(filepath.Join(dir, hostFile), h))
}

// hostPrefix begins the names of programs of hosts.
const hostPrefix = "host-"

// removeOldHosts removes programs that no kernel is likely to start any more: all but the newest.
func removeOldHosts(dir string) error {
	const keep = 4
	entries, err := os.ReadDir(dir)
	var programs []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), hostPrefix) {
			programs = append(programs, info)
		}
	}
	slices.SortFunc(programs, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, old := range programs[min(keep, len(programs)):] {
		err = errors.Join(err, os.Remove(filepath.Join(dir, old.Name())))
	}
	return err
}

// importable lists the packages that cells can import: those of the module and of the standard library.
func (g *Go) importable(ctx context.Context, module string) (paths []string, err error) {
	out, err := run(ctx, module, g.Command, "list", "-e", "-f", "{{.Standard}} {{.Name}} {{.ImportPath}}", "./...", "std")
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		switch {
		case len(f) != 3, f[1] == "main", !cell.Importable(f[2]):
		case f[0] == "true" && slices.Contains(unwanted, strings.Split(f[2], "/")[0]):
		case f[0] == "false" && f[1] != filepath.Base(f[2]): // it does not parse, or is no package to import
		default:
			paths = append(paths, f[2])
		}
	}
	return paths, err
}

// unwanted are parts of the standard library whose import does something, or that no notebook needs in each of its cells.
var unwanted = []string{"plugin", "debug", "go", "cmd", "expvar", "syscall", "unsafe"}

// Settings are what the installer tells a kernel, in a file beside its program.
type Settings struct {
	Module string // the module's folder
	Go     *Go
}

// SettingsFile lies beside the kernel's program, and so does the folder HostDir of its hosts.
const (
	SettingsFile = "settings.json"
	HostDir      = "host"
)

// Install builds the kernel and its host into a folder. Jupyter starts the program, which has the name start. This downloads
// what the module requires and compiles all packages, so that for the user's first cell only the cell itself has to be compiled.
func Install(ctx context.Context, dir, start, module, goCommand string) error {
	if err := os.MkdirAll(filepath.Join(dir, HostDir), 0o777); err != nil {
		return err
	}
	g, err := FindTools(ctx, goCommand, module)
	if err != nil {
		return err
	}
	partial := filepath.Join(dir, start+".partial")
	if _, err := run(ctx, module, g.Command, "build", "-buildvcs=false", "-ldflags=-s", "-o", partial, "./"+servePackage); err != nil {
		return err
	}
	if err := os.Rename(partial, filepath.Join(dir, start)); err != nil {
		return err
	}
	if _, err := g.Host(ctx, module, filepath.Join(dir, HostDir)); err != nil {
		return fmt.Errorf("the module does not build for a notebook: %w", err)
	}
	return writeJSON(filepath.Join(dir, SettingsFile), Settings{module, g})
}

// ReadSettings reads the settings of a kernel.
func ReadSettings(dir string) (s Settings, err error) {
	err = readJSON(filepath.Join(dir, SettingsFile), &s)
	return s, err
}
