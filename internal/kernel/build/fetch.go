package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// ModuleDir is the folder of the cells' module in that of a builder.
const ModuleDir = "module"

// Fetch brings packages that the host does not have, from the module cache or the network. They come into the plugins of the
// cells that import them, never into the module's go.mod.
func (b *Builder) Fetch(ctx context.Context, module string, paths []string) (added []cell.Package, err error) {
	dir := filepath.Join(b.dir, ModuleDir)
	if err := MakeModule(dir, module); err != nil {
		return nil, err
	}
	for _, p := range paths {
		list, err := b.exportsOf(ctx, dir, p)
		if err != nil && ctx.Err() == nil {
			if _, err = b.run(ctx, dir, "get", p); err == nil {
				list, err = b.exportsOf(ctx, dir, p)
			}
		}
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			b.mu.Lock()
			have, ok := b.exports[one.Path]
			b.mu.Unlock()
			if ok && have != one.Export {
				return nil, fmt.Errorf("%s needs another version of %s than this module does", p, one.Path)
			}
			if !ok {
				added = append(added, one)
			}
		}
		b.add(added)
	}
	return added, nil
}

// MakeModule makes the module of the cells in a folder, if it is not there: it requires what ours does.
func MakeModule(dir, module string) error {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	for _, name := range []string{"go.sum", "go.mod"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return err
		}
		if err := atomicfile.WriteBytes(filepath.Join(dir, name), data); err != nil {
			return err
		}
	}
	return nil
}
