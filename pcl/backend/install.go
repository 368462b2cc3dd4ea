package backend

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// plugin is a plugin that consists of one file of a wheel.
type plugin struct {
	wheel
	File       string // the member's base name, also when installed
	Bytes      int64
	FileSHA256 string
}

// The XLA CPU plugin: OpenXLA's official build, the one that this library is tested with.
var cpuPlugin = plugin{
	wheel: wheel{
		Package: "xla-cpu-pjrt",
		Version: "0.0.1",
		SHA256:  "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
	},
	File:       "xla_cpu_pjrt.so",
	Bytes:      259284552,
	FileSHA256: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
}

// path is where the plugin lies in a cache folder when it is installed.
func (p plugin) path(cacheDir string) string {
	return filepath.Join(pluginDir(cacheDir), p.Package+"-"+p.Version, p.File)
}

// installed reports whether the whole plugin is there. Its SHA-256 was checked before the file got
// its name, so that its size is enough to tell a damaged one; hashing would cost every start a second.
func (p plugin) installed(cacheDir string) bool {
	info, err := os.Stat(p.path(cacheDir))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.Bytes
}

// install returns the plugin's file in the cache folder and installs it first if need be. Any
// number of processes may call it at the same time: one installs, the others wait.
func (p plugin) install(ctx context.Context, cacheDir string, progress io.Writer) (string, error) {
	if cacheDir == "" {
		return "", errNoCacheDir
	}
	file := p.path(cacheDir)
	if p.installed(cacheDir) {
		return file, nil
	}
	dir := filepath.Dir(file)
	unlock, err := lockDir(ctx, dir, progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if p.installed(cacheDir) { // another process was faster
		return file, nil
	}
	removeLeftovers(dir)
	release, err := p.release(ctx)
	if err != nil {
		return "", err
	}
	archive := file + ".whl"
	if err := fetch(ctx, release, archive, progress); err != nil {
		return "", err
	}
	defer os.Remove(archive)
	if err := unpack(ctx, archive, p.File, file, p.FileSHA256, progress); err != nil {
		return "", err
	}
	return file, nil
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

// removeLeftovers deletes the temporary files of killed installations. Needs the folder's lock.
func removeLeftovers(dir string) {
	old, _ := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	for _, f := range old {
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
		if _, err := io.Copy(io.MultiWriter(w, hash, bar), &ctxReader{ctx, r}); err != nil {
			return err
		}
		if sum := hex.EncodeToString(hash.Sum(nil)); sum != want {
			return fmt.Errorf("unpack %s: SHA-256 is %s, expected %s", f.Name, sum, want)
		}
		return bar.Close()
	})
}

// ctxReader stops reading when its context ends.
type ctxReader struct {
	ctx context.Context
	io.Reader
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
