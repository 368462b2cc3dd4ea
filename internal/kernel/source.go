package kernel

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
)

// modulePath is the path of the module that cells can use.
const modulePath = "github.com/parallelcl/parallelcl"

// FindSource finds the folder of the module for a kernel: the one that is named; otherwise the clone that the current folder
// lies in; otherwise what this program was built from. If that is gone, it is the published module of the same version.
func FindSource(ctx context.Context, named string) (string, error) {
	if named != "" && !isModule(named) {
		return "", fmt.Errorf("%s is not the folder of %s: it has no go.mod of that module", named, modulePath)
	}
	if named != "" {
		return filepath.Abs(named)
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
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
	info, _ := debug.ReadBuildInfo()
	version := info.Main.Version
	for _, m := range info.Deps { // of a program that calls package cli
		if m.Path == modulePath {
			version = m.Version
		}
	}
	var m struct{ Dir string }
	out, err := build.Run(ctx, os.TempDir(), "go", "mod", "download", "-json", modulePath+"@"+version)
	if err == nil {
		err = json.Unmarshal(out, &m)
	}
	if err != nil {
		return "", fmt.Errorf("the source that this pcl was built from is gone: call it in a clone of %s, or name one with --module (%w)", modulePath, err)
	}
	return m.Dir, nil
}

// devel stands for the version of a clone.
const devel = "devel"

// versionOf returns the version of a module in Go's cache.
func versionOf(source string) string {
	if _, version, ok := strings.Cut(filepath.Base(source), "@"); ok {
		return version
	}
	return devel
}

// Quickstart returns the path of the notebook to begin with. If the kernel uses a clone, it is the clone's. Otherwise the
// notebooks are copied to a folder under the current one, with one for each version, because an older version's may not run.
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
