package build

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// Builder builds cells in a folder. Its methods may be called side by side.
type Builder struct {
	*Go
	dir string

	mu      sync.Mutex
	exports map[string]string
}

// NewBuilder returns a builder for a folder, for cells that can import packages.
func NewBuilder(g *Go, dir string, packages []cell.Package) *Builder {
	b := &Builder{Go: g, dir: dir, exports: map[string]string{}}
	b.add(packages)
	return b
}

func (b *Builder) add(packages []cell.Package) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range packages {
		b.exports[p.Path] = p.Export
	}
}

// Compile compiles a cell.
func (b *Builder) Compile(ctx context.Context, c *cell.Cell) error {
	archive, err := b.compileText(ctx, cell.Path(c.ID), c.Text)
	if err == nil {
		b.add([]cell.Package{{Path: cell.Path(c.ID), Name: "cell", Export: archive}})
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
	path := fmt.Sprintf("nb/plugin%d", time.Now().UnixNano())
	archive, err := b.compileText(ctx, path, "package main\n"+text+"\nfunc main() {}\n")
	if err != nil {
		return "", err
	}
	defer os.Remove(archive)
	file = strings.TrimSuffix(archive, ".a") + ".so"
	return file, b.link(ctx, file, archive, "-buildmode=plugin", "-pluginpath="+path)
}

// compileText compiles a package of one file.
func (b *Builder) compileText(ctx context.Context, path, text string) (archive string, err error) {
	source := filepath.Join(b.dir, filepath.Base(path)+".go")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return "", err
	}
	defer os.Remove(source)
	archive = strings.TrimSuffix(source, ".go") + ".a"
	return archive, b.compile(ctx, path, archive, source)
}

const config = "importcfg"

func (b *Builder) writeConfig() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for p, f := range b.exports {
		fmt.Fprintf(&s, "packagefile %s=%s\n", p, f)
	}
	partial := filepath.Join(b.dir, config+".partial")
	if err := os.WriteFile(partial, []byte(s.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(b.dir, config))
}

func (b *Builder) compile(ctx context.Context, path, out string, files ...string) error {
	if err := b.writeConfig(); err != nil {
		return err
	}
	return b.tool(ctx, "compile", append([]string{"-o", out, "-p", path, "-complete", "-installsuffix", "dynlink", "-goversion", b.Version,
		"-c=2", "-dynlink", "-importcfg", config, "-pack"}, files...)...)
}

func (b *Builder) link(ctx context.Context, out, archive string, flags ...string) error {
	args := append([]string{"-o", out, "-importcfg", config, "-installsuffix", "dynlink", "-s", "-w", "-extld=" + b.CC[0]}, flags...)
	if b.Linker != "" {
		args = append(args, "-extldflags=-fuse-ld="+b.Linker)
	}
	return b.tool(ctx, "link", append(args, archive)...)
}

// Failed is the error of a tool that has something to say about the code.
type Failed struct{ Tool, Output string }

func (f *Failed) Error() string { return fmt.Sprintf("%s: %s", f.Tool, f.Output) }

func (b *Builder) tool(ctx context.Context, name string, args ...string) error {
	cmd := command(ctx, filepath.Join(b.Tools, name), args...)
	cmd.Dir = b.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && out.Len() > 0:
		return &Failed{name, strings.TrimSpace(out.String())}
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// command is a command in a process group of its own, which ends with all that it has started.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	Group(cmd)
	return cmd
}
