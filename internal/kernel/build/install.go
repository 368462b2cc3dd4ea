package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

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

// servePackage is the program of the kernel, within the module.
const servePackage = "internal/kernel/serve"

// Install builds the kernel and its host into a folder. Jupyter starts the program, which has the name start. This downloads
// what the module requires and compiles all packages, so that for the user's first cell only the cell itself has to be compiled.
func Install(ctx context.Context, dir, start, module, goCommand string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	g, err := FindTools(ctx, goCommand, module)
	if err != nil {
		return err
	}
	partial := filepath.Join(dir, start+".partial")
	if _, err := g.run(ctx, module, "build", "-buildvcs=false", "-ldflags=-s", "-o", partial, "./"+servePackage); err != nil {
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
