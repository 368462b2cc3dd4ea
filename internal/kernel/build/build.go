// Package build makes programs of a notebook's cells with Go's own compiler and linker: the host, in which all cells run,
// and a plugin for each cell. It calls them directly, since the go command would take longer than they do.
package build

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// Go is a toolchain.
type Go struct {
	Command string // the go command
	Version string
	Tools   string // the folder of the compiler and the linker
	Root    string
	CC      []string // the C compiler, which links
	Linker  string   // mold, lld, or what the C compiler uses
}

// FindTools asks a go command for its tools.
func FindTools(ctx context.Context, command, dir string) (*Go, error) {
	out, err := run(ctx, dir, command, "env", "-json", "GOVERSION", "GOTOOLDIR", "GOROOT", "CC")
	if err != nil {
		return nil, err
	}
	var env map[string]string
	if err := json.Unmarshal(out, &env); err != nil {
		return nil, err
	}
	g := &Go{Command: command, Version: env["GOVERSION"], Tools: env["GOTOOLDIR"], Root: env["GOROOT"], CC: strings.Fields(env["CC"])}
	g.Linker = g.findLinker(ctx)
	return g, nil
}

// findLinker looks for a linker that is quicker than the C compiler's own, and tries it.
func (g *Go) findLinker(ctx context.Context) string {
	for _, name := range []string{"mold", "lld"} {
		if runtime.GOOS != "linux" || len(g.CC) == 0 {
			break
		}
		if _, err := run(ctx, "", g.CC[0], append(g.CC[1:], "-fuse-ld="+name, "-Wl,--version")...); err == nil {
			return name
		}
	}
	return ""
}

// Environment is the environment of the go command, without variables by which it would look elsewhere.
func Environment() []string {
	return append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOOS=", "GOARCH=")
}

// exportsOf builds packages for plugins and lists them with all that they need.
func (g *Go) exportsOf(ctx context.Context, dir string, paths ...string) (list []cell.Package, err error) {
	out, err := run(ctx, dir, g.Command, append([]string{"list", "-export", "-deps", "-buildmode=plugin", "-f",
		`{{if and .Export (ne .Name "main")}}{{.Name}} {{.ImportPath}} {{.Export}}{{end}}`}, paths...)...)
	for line := range strings.Lines(string(out)) {
		if f := strings.SplitN(strings.TrimSpace(line), " ", 3); len(f) == 3 {
			list = append(list, cell.Package{Name: f[0], Path: f[1], Export: f[2]})
		}
	}
	return list, err
}

// Failed is the error of a tool that has something to say about the code.
type Failed struct{ Tool, Output string }

func (f *Failed) Error() string { return fmt.Sprintf("%s: %s", f.Tool, f.Output) }

// run runs a tool in a process group of its own, which ends with all that it has started. The user can interrupt it.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	Group(cmd)
	cmd.Dir, cmd.Env = dir, Environment()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	said := strings.TrimSpace(cmp.Or(stderr.String(), stdout.String()))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && said != "":
		return nil, &Failed{filepath.Base(name), said}
	case err != nil:
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	return stdout.Bytes(), nil
}

func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, data)
}
