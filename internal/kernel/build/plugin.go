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

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// Builder builds cells in a folder. Its methods may be called side by side.
type Builder struct {
	*Go
	Dir string

	mu      sync.Mutex
	exports map[string]string
}

// Add adds packages that cells can import.
func (b *Builder) Add(packages []cell.Package) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.exports == nil {
		b.exports = map[string]string{}
	}
	for _, p := range packages {
		b.exports[p.Path] = p.Export
	}
}

// Export returns the file with a package's compiled code.
func (b *Builder) Export(path string) (file string, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	file, ok = b.exports[path]
	return file, ok
}

// Compile compiles a cell.
func (b *Builder) Compile(ctx context.Context, c *cell.Cell) (archive string, err error) {
	name := fmt.Sprintf("c%d", c.ID)
	source := filepath.Join(b.Dir, name+".go")
	if err := os.WriteFile(source, []byte(c.Text), 0o600); err != nil {
		return "", err
	}
	if err := b.writeConfig(); err != nil {
		return "", err
	}
	if err := b.compile(ctx, cell.Path(c.ID), name+".a", source); err != nil {
		return "", err
	}
	archive = filepath.Join(b.Dir, name+".a")
	b.Add([]cell.Package{{Path: cell.Path(c.ID), Name: "cell", Export: archive}})
	return archive, nil
}

// Plugin links a compiled cell into a plugin.
func (b *Builder) Plugin(ctx context.Context, id int) (file string, err error) {
	name := fmt.Sprintf("c%dm", id)
	main := fmt.Sprintf("package main; import c %q; var Run = c.Run; func main() {}\n", cell.Path(id))
	source := filepath.Join(b.Dir, name+".go")
	if err := os.WriteFile(source, []byte(main), 0o600); err != nil {
		return "", err
	}
	if err := b.writeConfig(); err != nil {
		return "", err
	}
	if err := b.compile(ctx, "nb/"+name, name+".a", source); err != nil {
		return "", err
	}
	defer os.Remove(filepath.Join(b.Dir, name+".a"))
	defer os.Remove(source)
	file = filepath.Join(b.Dir, name+".so")
	return file, b.link(ctx, file, name+".a", "-buildmode=plugin", "-pluginpath=nb/"+name)
}

const config = "importcfg"

func (b *Builder) writeConfig() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s strings.Builder
	for p, f := range b.exports {
		fmt.Fprintf(&s, "packagefile %s=%s\n", p, f)
	}
	partial := filepath.Join(b.Dir, config+".partial")
	if err := os.WriteFile(partial, []byte(s.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(partial, filepath.Join(b.Dir, config))
}

func (b *Builder) compile(ctx context.Context, path, out string, files ...string) error {
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
	cmd.Dir = b.Dir
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
