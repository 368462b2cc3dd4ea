package kernel

import (
	"context"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/build"
)

// A kernel's files in the cache.
const (
	startFile = "start" // what Jupyter runs
	sourceDir = "src"   // the copied module, where it is not a clone
)

// writeStart builds the kernel's program and the host of its cells into the folder of a kernel. This downloads what the module
// requires and compiles all packages, so that for the user's first cell only the cell itself has to be compiled.
func writeStart(ctx context.Context, dir string, o Options, s Source) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return build.Install(ctx, dir, startFile, s.Dir, o.Go)
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
