package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// plugin is a plugin that consists of one file of a wheel.
type plugin struct {
	wheel
	File       string // the member's base name, also when installed
	Bytes      int64
	FileSHA256 string
}

// path is where the plugin lies in a cache folder when it is installed.
func (p plugin) path(cacheDir string) string {
	return filepath.Join(pluginDir(cacheDir), p.Package+"-"+p.Version, p.File)
}

// installed returns the plugin's file in the cache folder of o. It installs it first if it is not there or is damaged, and o allows
// that. Any number of processes may call it at the same time: one installs, the others wait.
func (p plugin) installed(ctx context.Context, o Options) (string, error) {
	file := p.path(o.CacheDir)
	err := checkSHA256(ctx, file, p.FileSHA256)
	if err == nil || ctx.Err() != nil {
		return file, err
	}
	if o.NoInstall {
		return "", fmt.Errorf("the plugin is damaged, and installing is switched off: %w", err)
	}
	unlock, err := lockPlugins(ctx, o)
	if err != nil {
		return "", err
	}
	defer unlock()
	state := checkSHA256(ctx, file, p.FileSHA256)
	if state == nil { // another process was faster
		return file, nil
	}
	damaged := !errors.Is(state, fs.ErrNotExist)
	if damaged && o.Progress != nil {
		fmt.Fprintf(o.Progress, "The plugin %s is damaged: installing it again.\n", file)
	}
	err = p.install(ctx, file, o.Progress)
	if err != nil && damaged {
		err = fmt.Errorf("the plugin is damaged: %w, and installing it again failed: %w", state, err)
	}
	return file, err
}

// install brings the plugin to file. The caller holds the lock.
func (p plugin) install(ctx context.Context, file string, progress io.Writer) error {
	r, err := p.release(ctx)
	if err != nil {
		return err
	}
	keep := func(member string) (string, bool) { return p.File, path.Base(member) == p.File }
	check := func(dir string) error { return checkSHA256(ctx, filepath.Join(dir, p.File), p.FileSHA256) }
	return unpackWheels(ctx, filepath.Dir(file), []*release{r}, keep, check, progress)
}

// wheelLimits are those of one wheel.
var wheelLimits = archive.Limits{Bytes: 4 << 30, Members: 100_000}

// unpackWheels makes the folder dir of those members of wheels that keep names. It makes everything or nothing: the folder gets its
// name only when it has passed check. The caller holds the lock.
func unpackWheels(ctx context.Context, dir string, wheels []*release, keep func(string) (string, bool), check func(dir string) error, progress io.Writer) error {
	part, partial := dir+".whl", dir+".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	for _, r := range wheels {
		if err := r.fetch(ctx, part, progress); err != nil {
			return err
		}
		err := archive.Unpack(ctx, part, archive.Zip, keep, partial, wheelLimits)
		os.Remove(part)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", printable.Line(r.Filename), err)
		}
	}
	if err := check(partial); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // it is damaged or incomplete
		return err
	}
	return os.Rename(partial, dir)
}

// lockPlugins takes the lock of the folder of plugins, creating it, and returns the function that gives it back.
func lockPlugins(ctx context.Context, o Options) (func(), error) {
	if o.CacheDir == "" {
		return nil, errNoCacheDir
	}
	dir := pluginDir(o.CacheDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot install a plugin: %w", err)
	}
	return filelock.Wait(ctx, filepath.Join(dir, ".lock"), func() {
		if o.Progress != nil {
			fmt.Fprintln(o.Progress, "Waiting for another process that installs a plugin...")
		}
	})
}
