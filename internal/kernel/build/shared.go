package build

import (
	"context"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// A plugin that brings all packages that its cell needs is half as large as the host, and takes
// seconds to link. So plugins are linked as if the host were one of Go's shared libraries: what
// they mention of its packages is found in it when they are loaded. The linker reads that from a
// stub: a library with the symbols that the plugin mentions, and no code.

// keeping is Go that mentions all that cells can use of packages, so that the host has it.
func keeping(packages []cell.Package, paths []string) string {
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.Path] = p.Export
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	from := importer.ForCompiler(token.NewFileSet(), "gc", open)
	imports, list := "", ""
	for i, path := range paths {
		p, err := from.Import(path)
		if err != nil {
			continue // no cell can import it either
		}
		name, before := fmt.Sprint("p", i), len(list)
		for _, exported := range p.Scope().Names() {
			list += mention(p.Scope().Lookup(exported), name+"."+exported)
		}
		if len(list) == before {
			name = "_"
		}
		imports += fmt.Sprintf("import %s %q\n", name, path)
	}
	return imports + "var keep = []any{\n" + list + "}\n"
}

// mention is an expression that has the linker keep something of a package, with its methods.
func mention(o types.Object, name string) string {
	if !o.Exported() {
		return ""
	}
	switch o := o.(type) {
	case *types.Var:
		return "&" + name + ",\n"
	case *types.Func:
		if o.Signature().TypeParams().Len() == 0 {
			return name + ",\n"
		}
	case *types.TypeName:
		if named, ok := o.Type().(*types.Named); ok && named.TypeParams().Len() == 0 && !types.IsInterface(named) {
			return "(*" + name + ")(nil),\n"
		}
	}
	return ""
}

// share links a program and the cells' archive to a plugin that finds in the host what it has. It
// is not done if the host lacks something of the runtime, of which no plugin can bring only parts.
func (c *Cells) share(ctx context.Context, file, name, text string, flags []string) (done bool, err error) {
	// the hash is that of the stub, which has none; the packages are what the linker looks for
	// itself
	text = "package main\nimport (\n_ \"runtime\"\n_ \"runtime/cgo\"\n_ \"unsafe\"\n)\n" + text +
		"//go:linkname hash go:link.abihash." + stubName + "\nvar hash string\nfunc main() { _ = *&hash }\n"
	archive, err := c.compile(ctx, name, path.Base(name), text)
	if err != nil {
		return false, err
	}
	defer os.Remove(archive)
	linked, err := c.stub(archive)
	if err != nil || linked["runtime"] {
		return false, err
	}
	if err := c.addAssembly(ctx, archive); err != nil {
		return false, err
	}
	if err := c.configure(func(path string) bool { return !linked[path] }); err != nil {
		return false, err
	}
	flags = append(flags, "-linkshared", "-E", "main.addmoduledata")
	if err := c.tool(ctx, c.Go.Link, append(flags, "-o", file, archive)...); err != nil {
		return false, err
	}
	return true, nameAsHost(file)
}

// addAssembly adds to an archive what a plugin calls when it is loaded: the host's function.
func (c *Cells) addAssembly(ctx context.Context, archive string) error {
	object := filepath.Join(c.dir, "module.o")
	data, err := os.ReadFile(object)
	if errors.Is(err, fs.ErrNotExist) {
		source := filepath.Join(c.dir, "module.s")
		const text = "TEXT runtime·addmoduledata(SB),4,$0-0\n\tJMP main·addmoduledata(SB)\n"
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			return err
		}
		asm, flags := filepath.Join(filepath.Dir(c.Go.Compile[0]), "asm"), []string{"-p", "main", "-dynlink", "-linkshared"}
		if _, err := run(ctx, c.dir, "TMPDIR="+c.dir, nil, asm, append(flags, "-o", object, source)...); err != nil {
			return err
		}
		data, err = os.ReadFile(object)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(archive, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%-16s%-12d%-6d%-6d%-8o%-10d`\n%s%s", "module.o", 0, 0, 0, 0o644, len(data), data,
		"\n"[:len(data)%2])
	return err
}
