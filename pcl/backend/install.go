package backend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/filelock"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/stamp"
)

// plugin is a plugin of XLA, which is installed from wheels, the archives of Python's package
// index.
type plugin struct {
	Package, Version string
	Platform         *regexp.Regexp // of the wheel's name
	SHA256           string         // of the wheel
	File             string         // pattern of its path in the folder where it is installed
	// FileSHA256 is the checksum of that file, if it is the only one that is unpacked. It is empty
	// if the whole wheel is.
	FileSHA256 string
	Libraries  string // package whose requirements are the libraries of NVIDIA that it needs
}

// The names of Python wheels that run on a platform.
var (
	linuxAMD64 = regexp.MustCompile(`-manylinux.*x86_64\.whl$`)
	linuxARM64 = regexp.MustCompile(`-manylinux.*aarch64\.whl$`)
)

// cpuPlugins are the XLA CPU plugins by platform: OpenXLA's official builds. The tests of this
// library run with that for linux/amd64.
var cpuPlugins = map[string]plugin{
	"linux/amd64": {
		Package: "xla-cpu-pjrt", Version: "0.0.1", Platform: linuxAMD64, File: "xla_cpu_pjrt.so",
		SHA256:     "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
		FileSHA256: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
	},
	"linux/arm64": {
		Package: "xla-cpu-pjrt", Version: "0.0.1", Platform: linuxARM64, File: "xla_cpu_pjrt.so",
		SHA256:     "8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9",
		FileSHA256: "fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d",
	},
}

// thisPlatform is what the program was built for, and cpuPlugin its plugin.
const thisPlatform = runtime.GOOS + "/" + runtime.GOARCH

var cpuPlugin = cpuPlugins[thisPlatform]

// folder is where the plugin is installed. That for CUDA is laid out like Python's site-packages,
// because the plugin looks for its libraries relative to itself.
func (p plugin) folder(cache string) string {
	return filepath.Join(cache, "plugins", p.Package+"-"+p.Version)
}

// stampsFile in the folder of an installed plugin has the stamps of its files.
const stampsFile = ".stamps.json"

// in returns the plugin's file in a folder. The dynamic loader would run whatever is in a file, or
// crash. So the files of an installed plugin are compared with their stamps first: by size and
// time, and by their 259 MB only if these differ or whole is set.
func (p plugin) in(ctx context.Context, dir string, whole bool) (string, error) {
	found, _ := fs.Glob(os.DirFS(dir), p.File)
	if len(found) == 0 {
		return "", fmt.Errorf("no %s in %s: %w", p.File, dir, fs.ErrNotExist)
	}
	name := slices.Max(found) // of the newest CUDA
	var files stamp.Files
	data, err := os.ReadFile(filepath.Join(dir, stampsFile))
	if err == nil {
		_ = json.Unmarshal(data, &files) // a damaged one is written again
	}
	if p.FileSHA256 != "" && files[name].SHA256 != p.FileSHA256 {
		files = stamp.Files{name: {SHA256: p.FileSHA256}}
	}
	renewed, err := files.Check(ctx, dir, whole)
	if renewed && err == nil {
		_ = writeStamps(dir, files) // in a folder of others it is read each time
	}
	return filepath.Join(dir, name), err
}

func writeStamps(dir string, files stamp.Files) error {
	data, err := json.Marshal(files)
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(filepath.Join(dir, stampsFile), data)
}

// installed returns the plugin's file in the cache folder of o. It installs it first if it is not
// there or is damaged. Any number of processes may call it at the same time: one installs, the
// others wait.
func (p plugin) installed(ctx context.Context, o Options) (_ string, err error) {
	if o.cache == "" {
		return "", errors.New("no cache folder to install its plugin into: set HOME or XDG_CACHE_HOME")
	}
	dir := p.folder(o.cache)
	file, err := p.in(ctx, dir, o.Verify)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err == nil {
		return file, nil
	}
	unlock, err := lockPlugins(ctx, o)
	if err != nil {
		return "", err
	}
	defer unlock()
	file, state := p.in(ctx, dir, o.Verify)
	if state == nil { // another process was faster
		return file, nil
	}
	if !errors.Is(state, fs.ErrNotExist) {
		if o.Progress != nil {
			fmt.Fprintf(o.Progress, "%v: installing it again\n", state)
		}
		defer func() {
			if err != nil {
				err = fmt.Errorf("%s: %w", state.Error(), err)
			}
		}()
	}
	if err := p.install(ctx, dir, o); err != nil {
		return "", err
	}
	return p.in(ctx, dir, false)
}

// wheelLimits bound one wheel.
var wheelLimits = archive.Limits{Bytes: 4 << 30, Members: 100_000}

// install makes the folder dir of wheels: everything or nothing. The caller holds the lock.
func (p plugin) install(ctx context.Context, dir string, o Options) error {
	wheels, err := p.wheels(ctx)
	if err != nil {
		return err
	}
	part, partial := dir+".whl", dir+".partial"
	if err := errors.Join(os.RemoveAll(partial), os.MkdirAll(partial, 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	for _, w := range wheels {
		wheel := download.File{URL: w.URL, Bytes: w.Size, SHA256: w.Digests.SHA256}
		if err := (&download.Client{Progress: o.Progress}).To(ctx, wheel, part); err != nil {
			return err
		}
		err := archive.Unpack(ctx, part, p.keep, partial, wheelLimits)
		os.Remove(part)
		if err != nil {
			return fmt.Errorf("unpack %s: %w", printable.Line(w.Filename), err)
		}
	}
	files, err := stamp.In(ctx, partial)
	if err := errors.Join(err, writeStamps(partial, files)); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil { // it is damaged or incomplete
		return err
	}
	return os.Rename(partial, dir)
}

// keep says which members of wheels are unpacked, and where.
func (p plugin) keep(member string) (string, bool) {
	if p.FileSHA256 == "" {
		return member, true
	}
	return p.File, path.Base(member) == p.File
}

// lockPlugins takes the lock of the folder of plugins, and returns the function that gives it back.
func lockPlugins(ctx context.Context, o Options) (func(), error) {
	return filelock.Wait(ctx, filepath.Join(o.cache, "plugins", ".lock"), func() {
		if o.Progress != nil {
			fmt.Fprintln(o.Progress, "Waiting for another process that installs a plugin...")
		}
	})
}
