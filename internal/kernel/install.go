package kernel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Options say where the kernel and its files are put.
type Options struct {
	Cache    string    // our folder: JupyterLab, kernels
	Data     string    // Jupyter's data folder of the user; see [DataDir]
	Go       string    // the go command; see [FindGo]
	Progress io.Writer // where messages about the progress are written; nil writes none
}

// leastGo is the oldest version of Go that compiles cells.
const leastGo = "1.26.5"

// FindGo finds the go command on PATH.
func FindGo() (string, error) {
	path, err := exec.LookPath("go")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", errors.New("cells are compiled by Go: install Go " + leastGo + " or later and put it on PATH")
	}
	return path, nil
}

// A kernel's files in the cache.
const (
	startFile = "start" // what Jupyter runs
	sourceDir = "src"   // the copied module, where it is not a clone
)

// Install installs the kernel for a source: its files, and its folder in the user's Jupyter. It builds all packages, so that
// cells can later be built without a network. Calling it again is quick and updates everything.
func Install(ctx context.Context, o Options, s Source) (Kernel, error) {
	if runtime.GOOS == "windows" {
		return Kernel{}, errors.New("cells are plugins of Go, which Windows does not have: use WSL")
	}
	if !validVersion(s.Version) {
		return Kernel{}, fmt.Errorf("no folder can be named after the version %q", s.Version)
	}
	unlock, err := o.lock(ctx)
	if err != nil {
		return Kernel{}, err
	}
	defer unlock()
	if err := removeOldTools(o.Cache); err != nil {
		return Kernel{}, err
	}
	dir := o.files(s)
	if !s.Clone {
		if s.Dir, err = freshCopy(s.Dir, filepath.Join(dir, sourceDir)); err != nil {
			return Kernel{}, err
		}
	}
	done := o.step("Building the kernel and the module for its cells")
	if err := build.Install(ctx, dir, startFile, s.Dir, o.Go); err != nil {
		return Kernel{}, err
	}
	done()
	return register(o.Data, Kernel{Version: s.Version, Source: s.Dir, Clone: s.Clone, Start: filepath.Join(dir, startFile)})
}

// removeOldTools removes what earlier versions of this program have installed for all kernels: a patched GoNB and its tools.
func removeOldTools(cache string) error {
	old, err := filepath.Glob(filepath.Join(cache, "tools-*"))
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return err
}

// files returns the folder of the kernel for a source.
func (o Options) files(s Source) string { return filepath.Join(o.Cache, "kernels", s.Version) }

// freshCopy makes to a copy of the module in from. Cells that are built meanwhile find the module: an equal copy stays as it
// is, and another one is replaced only when the new one is complete.
func freshCopy(from, to string) (string, error) {
	if from == to {
		return to, nil
	}
	partial := to + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", err
	}
	defer os.RemoveAll(partial)
	if err := copySource(from, partial); err != nil {
		return "", err
	}
	if sameFiles(partial, to) {
		return to, nil
	}
	old := to + ".old"
	if err := os.RemoveAll(old); err != nil {
		return "", err
	}
	defer os.RemoveAll(old)
	if err := os.Rename(to, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return to, os.Rename(partial, to)
}

// sameFiles reports whether two folders have the same files with the same contents.
func sameFiles(a, b string) bool {
	one, err := contents(a)
	if err != nil {
		return false
	}
	other, err := contents(b)
	return err == nil && maps.Equal(one, other)
}

// contents returns the contents of all files in a folder by their paths within it.
func contents(dir string) (map[string]string, error) {
	texts := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		texts[path] = string(data)
		return err
	})
	return texts, err
}

// lock makes sure that only one process at a time installs. If that process dies, the system releases its lock.
func (o Options) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(o.Cache, 0o755); err != nil {
		return nil, err
	}
	return filelock.Wait(ctx, filepath.Join(o.Cache, ".lock"), func() {
		if o.Progress != nil {
			fmt.Fprintln(o.Progress, "Waiting for another process that installs...")
		}
	})
}

// step prints what is about to be done and, when done is called, how long it took.
func (o Options) step(what string) (done func()) {
	if o.Progress == nil {
		return func() {}
	}
	begin := time.Now()
	fmt.Fprintf(o.Progress, "%s...\n", what)
	return func() { fmt.Fprintf(o.Progress, "  done in %.0f s\n", time.Since(begin).Seconds()) }
}

// patience is how long a program that downloads or builds may take.
const patience = time.Hour

// run runs a program and returns its output. If the program fails, the error ends with the last part of the output.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s was not done in %s", name, patience))
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, printable.Error(fmt.Errorf("%s: %w\n%s", cmd, err, tail(append(stdout.Bytes(), stderr.Bytes()...))))
	}
	return stdout.Bytes(), nil
}

// tail returns the end of a program's output.
func tail(out []byte) []byte {
	const most = 2000
	out = bytes.TrimSpace(out)
	return out[max(0, len(out)-most):]
}
