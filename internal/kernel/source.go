package kernel

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/origin"
)

// Source is the source of the module that a kernel uses.
type Source struct {
	Dir     string // the folder of its go.mod
	Version string // of a clone see cloneVersion, or what the program was built as
	Clone   bool   // the user works in it
}

// FindSource finds the module for a kernel: in the folder that is named; otherwise the clone that dir lies in; otherwise the
// source that this program was built from. If that source is gone, it takes the copy from an earlier installation, or the
// published module of the same version.
func FindSource(ctx context.Context, o Options, named, dir string) (Source, error) {
	if named != "" {
		if !isModule(named) {
			return Source{}, fmt.Errorf("%s is not the folder of %s: it has no go.mod of that module", named, Module)
		}
		return clone(named)
	}
	for d := dir; ; d = filepath.Dir(d) {
		if isModule(d) {
			return clone(d)
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	version := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = builtVersion(info)
	}
	return builtSource(ctx, o, version, builtFrom())
}

// builtVersion returns the version of our module in a program, which may be a program of another module. What replaces our
// module has no published version.
func builtVersion(info *debug.BuildInfo) string {
	m := &info.Main
	for _, d := range info.Deps {
		if d.Path == Module {
			m = d
		}
	}
	if m.Path != Module || m.Version == "" || m.Replace != nil {
		return "(devel)"
	}
	return m.Version
}

// builtSource finds the source of this program, which was built in the folder root and has the given version.
func builtSource(ctx context.Context, o Options, version, root string) (Source, error) {
	s := Source{Version: versionName(version)}
	for _, s.Dir = range []string{root, filepath.Join(o.files(s), sourceDir)} {
		if isModule(s.Dir) {
			return s, nil
		}
	}
	return published(ctx, o, version)
}

func clone(dir string) (Source, error) {
	dir, err := filepath.Abs(dir)
	return Source{Dir: dir, Version: cloneVersion(dir), Clone: true}, err
}

// cloneVersion returns a version that names a clone by its folder, so that several clones can each have a kernel.
func cloneVersion(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "devel-" + hex.EncodeToString(sum[:3])
}

// builtFrom returns the module's folder on the machine on which the program was built. If the build left it out, the result
// is not the path of a folder.
func builtFrom() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
}

func isModule(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if s.Text() == "module "+Module {
			return true
		}
	}
	return false
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// versionName returns a version as it appears in a kernel's name, for which Jupyter allows few characters.
func versionName(version string) string {
	return strings.Trim(notInNames.ReplaceAllString(version, "-"), "-")
}

// published downloads the module in a version from the module proxy.
func published(ctx context.Context, o Options, version string) (Source, error) {
	if !strings.HasPrefix(version, "v") || strings.Contains(version, "+") {
		return Source{}, fmt.Errorf("the source that this pcl (version %s) was built from is gone, and the version is not a published one: "+
			"call it in a clone of %s, or name one with --module", version, Module)
	}
	out, err := run(ctx, os.TempDir(), build.Environment(), o.Go, "mod", "download", "-json", Module+"@"+version)
	if err != nil {
		return Source{}, err
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil || m.Dir == "" {
		return Source{}, fmt.Errorf("download %s@%s: no folder in %q", Module, version, out)
	}
	return Source{Dir: m.Dir, Version: versionName(version)}, nil
}

// copySource copies what is needed to build the module, without tests, hidden folders and nested modules, and makes it
// writable.
func copySource(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && rel != "." && origin.NotSource(path):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o777)
		case !d.Type().IsRegular() || strings.HasSuffix(rel, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), data, 0o666)
	})
}
