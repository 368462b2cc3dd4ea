package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// Fetch brings packages that the host does not have, from the module cache or the network. They come into the plugins of the
// cells that import them, never into the module's go.mod.
func (b *Builder) Fetch(ctx context.Context, module string, paths []string) (added []cell.Package, err error) {
	if err := b.MakeModule(module); err != nil {
		return nil, err
	}
	dir := filepath.Join(b.Dir, "module")
	for _, p := range paths {
		list, err := b.Exports(ctx, dir, p)
		if err != nil && ctx.Err() == nil {
			if _, err = b.run(ctx, dir, "get", p); err == nil {
				list, err = b.Exports(ctx, dir, p)
			}
		}
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			if have, ok := b.Export(one.Path); ok {
				if have != one.Export {
					return nil, fmt.Errorf("%s needs another version of %s than this module does", p, one.Path)
				}
				continue
			}
			added = append(added, one)
		}
		b.Add(added)
	}
	return added, nil
}

// MakeModule makes the module of the cells, in the folder module: it requires what ours does.
func (b *Builder) MakeModule(module string) error {
	dir := filepath.Join(b.Dir, "module")
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, name := range []string{"go.sum", "go.mod"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
