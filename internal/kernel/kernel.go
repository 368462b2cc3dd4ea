// Package kernel installs the Jupyter kernel "ParallelCL (Go)", with which notebooks run Go cells that use this module.
// The first cell can use the module without importing or downloading anything. Begin with [Install].
//
// All files are in one folder of the cache: a private JupyterLab, if the user has none; and the files of the kernel for each
// version of the module. In the user's Jupyter folder each kernel has one
// folder under kernels; nothing else there is changed.
package kernel

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// Module is the path of the module that cells of the kernel can use.
const Module = "github.com/parallelcl/parallelcl"

// Name is the name of the kernel that was installed last, which is the one that notebooks ask for. When a kernel of another
// version takes its place, the old one is renamed to Name-VERSION.
const Name = "parallelcl"

// Kernel is an installed kernel.
type Kernel struct {
	Name    string `json:"name"`            // the name of its folder, by which a notebook asks for it
	Title   string `json:"title"`           // what Jupyter shows
	Version string `json:"version"`         // the version of the module
	Source  string `json:"source"`          // the module's folder
	Clone   bool   `json:"clone,omitempty"` // whether the source is the user's own clone, whose changes take effect in the next cell
	Spec    string `json:"spec"`            // the kernel's folder in the user's Jupyter
	Start   string `json:"start"`           // the program that Jupyter runs
	Moved   string `json:"-"`               // what has become of the kernel that had this name before
}

// spec is a kernel.json, as the Jupyter client documents it.
type spec struct {
	Argv          []string      `json:"argv"`
	DisplayName   string        `json:"display_name"`
	Language      string        `json:"language"`
	InterruptMode string        `json:"interrupt_mode"`
	Metadata      *specMetadata `json:"metadata"`
}

// specMetadata is what distinguishes our kernels from others.
type specMetadata struct {
	ParallelCL *specOrigin `json:"parallelcl"`
}

type specOrigin struct {
	Version string `json:"version"`
	Source  string `json:"source"`
	Clone   bool   `json:"clone,omitempty"`
}

//go:embed logo.svg
var logo []byte

// DataDir returns the folder in which Jupyter looks for what a user has installed.
func DataDir() (string, error) {
	if dir := os.Getenv("JUPYTER_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" && runtime.GOOS != "darwin" {
		return filepath.Join(dir, "jupyter"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no folder for Jupyter's kernels (%w): set JUPYTER_DATA_DIR", err)
	}
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Jupyter"), nil
	}
	return filepath.Join(home, ".local", "share", "jupyter"), nil
}

// List returns our kernels in a Jupyter data folder, the current one first.
func List(dataDir string) ([]Kernel, error) {
	entries, err := os.ReadDir(filepath.Join(dataDir, "kernels"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []Kernel
	for _, e := range entries {
		if k, err := read(filepath.Join(dataDir, "kernels", e.Name())); err == nil {
			list = append(list, k)
		}
	}
	slices.SortFunc(list, func(a, b Kernel) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

var errForeign = errors.New("not a kernel of parallelcl")

// read reads the kernel in a folder. If it is not one of ours, the error is errForeign.
func read(dir string) (Kernel, error) {
	data, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return Kernel{}, err
	}
	var s spec
	if err := json.Unmarshal(data, &s); err != nil || s.Metadata == nil || s.Metadata.ParallelCL == nil || len(s.Argv) == 0 {
		return Kernel{}, errForeign
	}
	o := s.Metadata.ParallelCL
	if !validVersion(o.Version) {
		return Kernel{}, errForeign
	}
	return Kernel{
		Name: filepath.Base(dir), Title: s.DisplayName, Version: o.Version, Source: o.Source, Clone: o.Clone,
		Spec: dir, Start: s.Argv[0],
	}, nil
}

// validVersion reports whether a version may be part of a folder's name. Those that we write may, but a kernel.json may have
// been written by anybody.
func validVersion(version string) bool {
	return len(version) <= 100 && version == versionName(version) && strings.Trim(version, ".") != ""
}

// register makes k the kernel that notebooks ask for. If a kernel of another version has that name, it is renamed, and Moved
// says so. An earlier kernel of the same clone is replaced.
func register(dataDir string, k Kernel) (Kernel, error) {
	kernels := filepath.Join(dataDir, "kernels")
	k.Name, k.Title, k.Spec = Name, "ParallelCL (Go)", filepath.Join(kernels, Name)
	if old, err := read(k.Spec); err == nil && old.Version != k.Version && !(old.Clone && k.Clone && old.Source == k.Source) {
		k.Moved = fmt.Sprintf("Notebooks that ask for %q now run on %s; the kernel that runs on %s stays as %q.",
			k.Title, k.Source, old.Source, "ParallelCL "+old.Version+" (Go)")
		old.Name, old.Title = Name+"-"+old.Version, "ParallelCL "+old.Version+" (Go)"
		old.Spec = filepath.Join(kernels, old.Name)
		if err := old.write(); err != nil {
			return k, err
		}
	}
	if err := k.write(); err != nil {
		return k, err
	}
	aside := filepath.Join(kernels, Name+"-"+k.Version)
	if _, err := read(aside); err != nil {
		return k, nil
	}
	return k, os.RemoveAll(aside)
}

// write writes the kernel's folder in the user's Jupyter. A folder of that name that is not ours is left as it is.
func (k Kernel) write() error {
	if _, err := read(k.Spec); errors.Is(err, errForeign) {
		return fmt.Errorf("%s is %w: move it away first", k.Spec, err)
	}
	data, err := json.MarshalIndent(spec{
		Argv:        []string{k.Start, "{connection_file}"},
		DisplayName: k.Title, Language: "go", InterruptMode: "message",
		Metadata: &specMetadata{&specOrigin{Version: k.Version, Source: k.Source, Clone: k.Clone}},
	}, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(k.Spec, "logo-svg.svg"), logo); err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(k.Spec, "kernel.json"), append(data, '\n'))
}

// Remove deletes a kernel: its folder in the user's Jupyter, and its files in the cache. It does not delete a clone that the
// kernel used.
func Remove(cache string, k Kernel) error {
	if again, err := read(k.Spec); err != nil || again.Start != k.Start {
		return fmt.Errorf("remove %s: %w", k.Spec, errForeign)
	}
	if err := os.RemoveAll(k.Spec); err != nil {
		return err
	}
	files := filepath.Dir(k.Start)
	if filepath.Dir(files) != filepath.Join(cache, "kernels") { // of another cache, or meddled with
		return nil
	}
	return os.RemoveAll(files)
}
