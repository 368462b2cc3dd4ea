package backend

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/disk"
	"github.com/parallelcl/parallelcl/internal/download"
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

// installed reports whether the plugin seems to be there, judging by its size.
func (p plugin) installed(cacheDir string) bool {
	info, err := os.Stat(p.path(cacheDir))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.Bytes
}

// intact returns an error unless the plugin is there and has its known SHA-256.
func (p plugin) intact(ctx context.Context, cacheDir string) error {
	return checkSHA256(ctx, p.path(cacheDir), p.FileSHA256)
}

// install returns the plugin's file in the cache folder and installs it first if need be, also where
// it is damaged. Any number of processes may call it at the same time: one installs, the others wait.
func (p plugin) install(ctx context.Context, cacheDir string, progress io.Writer) (string, error) {
	if cacheDir == "" {
		return "", errNoCacheDir
	}
	file := p.path(cacheDir)
	if p.intact(ctx, cacheDir) == nil {
		return file, nil
	}
	dir := filepath.Dir(file)
	unlock, err := lockDir(ctx, dir, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	state := p.intact(ctx, cacheDir)
	if state == nil { // another process was faster
		return file, nil
	}
	if errors.Is(state, errDamaged) && progress != nil {
		fmt.Fprintf(progress, "The plugin %s is damaged: installing it again.\n", file)
	}
	err = p.bring(ctx, file, progress)
	if err != nil && errors.Is(state, errDamaged) {
		err = fmt.Errorf("%w, and installing it again failed: %w", state, err)
	}
	return file, err
}

// bring downloads the wheel and unpacks the plugin. The caller holds the folder's lock.
func (p plugin) bring(ctx context.Context, file string, progress io.Writer) error {
	removeLeftovers(filepath.Dir(file))
	release, err := p.release(ctx)
	if err != nil {
		return err
	}
	archive := file + ".whl"
	here, err := os.Stat(archive)
	need := p.Bytes + release.Size
	if err == nil {
		need -= min(here.Size(), release.Size)
	}
	if err := disk.Room(filepath.Dir(file), need); err != nil {
		return err
	}
	if err := release.fetch(ctx, archive, progress); err != nil {
		return err
	}
	defer download.Forget(archive)
	return disk.Explain(unpack(ctx, archive, p.File, file, p.FileSHA256, progress), filepath.Dir(file))
}

// lockDir takes the lock of a folder, creating it, and returns the function that gives it back.
// The operating system frees the lock of a process that dies: a stale lock file is harmless.
func lockDir(ctx context.Context, dir string, progress io.Writer) (func(), error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot install a plugin: %w", err)
	}
	lock := flock.New(filepath.Join(dir, ".lock"))
	got, err := lock.TryLock()
	if err == nil && !got {
		if progress != nil {
			fmt.Fprintln(progress, "Waiting for another process that installs the plugin...")
		}
		_, err = lock.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock %s: %w", lock.Path(), err)
	}
	return func() { lock.Unlock() }, nil
}

// removeLeftovers deletes the temporary files of killed installations. The caller holds the folder's lock.
func removeLeftovers(dir string) {
	for _, f := range glob(dir, ".*.tmp") {
		os.Remove(f)
	}
}

// unpack writes the member of a zip archive whose base name is name to path, if it has the
// SHA-256 want.
func unpack(ctx context.Context, archive, name, to, want string, progress io.Writer) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("open %s: %w", archive, err)
	}
	defer z.Close()
	for _, f := range z.File {
		if path.Base(f.Name) == name {
			return unpackMember(ctx, f, to, want, progress)
		}
	}
	return fmt.Errorf("%s has no member %s", archive, name)
}

func unpackMember(ctx context.Context, f *zip.File, to, want string, progress io.Writer) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	defer r.Close()
	bar := newBar(progress, int64(f.UncompressedSize64), "Unpacking "+path.Base(f.Name))
	return atomicfile.Write(to, func(w io.Writer) error {
		hash := sha256.New()
		if _, err := io.Copy(io.MultiWriter(w, hash, bar), ctxio.Reader(ctx, r)); err != nil {
			return err
		}
		if sum := hex.EncodeToString(hash.Sum(nil)); sum != want {
			return fmt.Errorf("unpack %s: SHA-256 is %s, expected %s", f.Name, sum, want)
		}
		return bar.Close()
	})
}
