package build

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// Builder builds cells in a folder, one after the other.
type Builder struct {
	*Go
	dir     string
	exports map[string]string
}

// NewBuilder returns a builder for a folder, for cells that can import packages.
func NewBuilder(g *Go, dir string, packages []cell.Package) *Builder {
	b := &Builder{g, dir, map[string]string{}}
	for _, p := range packages {
		b.exports[p.Path] = p.Export
	}
	return b
}

// Compile compiles a cell.
func (b *Builder) Compile(ctx context.Context, c *cell.Cell) error {
	archive, err := b.compile(ctx, cell.Path(c.ID), c.Text)
	if err == nil {
		b.exports[cell.Path(c.ID)] = archive
	}
	return err
}

// Plugin links a compiled cell into a plugin.
func (b *Builder) Plugin(ctx context.Context, id int) (file string, err error) {
	return b.pluginOf(ctx, fmt.Sprintf("import c %q; var Run = c.Run", cell.Path(id)))
}

// Replay links compiled cells into one plugin, which declares again what they declare and registers what they register, without
// running their other statements.
func (b *Builder) Replay(ctx context.Context, ids []int) (file string, err error) {
	imports, declares, registers := "", "", ""
	for _, id := range ids {
		imports += fmt.Sprintf("import c%d %q\n", id, cell.Path(id))
		declares += fmt.Sprintf("c%d.Declare(); ", id)
		registers += fmt.Sprintf("c%d.Register(); ", id)
	}
	return b.pluginOf(ctx, imports+"var Run = func() { "+declares+registers+"}")
}

func (b *Builder) pluginOf(ctx context.Context, text string) (file string, err error) {
	name := fmt.Sprintf("nb/plugin%d", time.Now().UnixNano())
	archive, err := b.compile(ctx, name, "package main\n"+text+"\nfunc main() {}\n")
	if err != nil {
		return "", err
	}
	defer os.Remove(archive)
	file = strings.TrimSuffix(archive, ".a") + ".so"
	return file, b.link(ctx, file, archive, "-buildmode=plugin", "-pluginpath="+name)
}

// config is the file that tells the tools where packages are.
const config = "importcfg"

// compile compiles a package of one file.
func (b *Builder) compile(ctx context.Context, name, text string) (archive string, err error) {
	var packages strings.Builder
	for p, f := range b.exports {
		fmt.Fprintf(&packages, "packagefile %s=%s\n", p, f)
	}
	source := filepath.Join(b.dir, path.Base(name)+".go")
	defer os.Remove(source)
	err = os.WriteFile(source, []byte(text), 0o600)
	if err = cmp.Or(err, os.WriteFile(filepath.Join(b.dir, config), []byte(packages.String()), 0o600)); err != nil {
		return "", err
	}
	archive = strings.TrimSuffix(source, ".go") + ".a"
	_, err = run(ctx, b.dir, filepath.Join(b.Tools, "compile"), "-o", archive, "-p", name, "-complete", "-installsuffix", "dynlink",
		"-goversion", b.Version, "-c=2", "-dynlink", "-importcfg", config, "-pack", source)
	return archive, err
}

func (b *Builder) link(ctx context.Context, out, archive string, flags ...string) error {
	args := append([]string{"-o", out, "-importcfg", config, "-installsuffix", "dynlink", "-s", "-w", "-extld=" + b.CC[0]}, flags...)
	if b.Linker != "" {
		args = append(args, "-extldflags=-fuse-ld="+b.Linker)
	}
	_, err := run(ctx, b.dir, filepath.Join(b.Tools, "link"), append(args, archive)...)
	return err
}

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
			if _, err = run(ctx, dir, b.Command, "get", p); err == nil {
				list, err = b.exportsOf(ctx, dir, p)
			}
		}
		if err != nil {
			return nil, err
		}
		for _, one := range list {
			switch have, ok := b.exports[one.Path]; {
			case !ok:
				b.exports[one.Path] = one.Export
				added = append(added, one)
			case have != one.Export:
				return nil, fmt.Errorf("%s needs another version of %s than this module does", p, one.Path)
			}
		}
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
