package texts

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

var regen = flag.Bool("regen", false, "write api/0.1.txt anew")

const apiFile = "api/0.1.txt"

// TestAPI: the exported names and types of the packages that docs/promises.md lists are those of
// api/0.1.txt, so that a break is a decision. After a decision: go test ./internal/texts -run API
// -regen.
func TestAPI(t *testing.T) {
	packages := promisedPackages(t)
	got := strings.Join(surface(t, packages), "\n") + "\n"
	if *regen {
		must.Do(t, os.WriteFile(filepath.Join(root, apiFile), []byte(got), 0o644))
	}
	want := strings.Split(read(t, apiFile), "\n")
	for _, line := range strings.Split(got, "\n") {
		if !slices.Contains(want, line) {
			t.Errorf("new, and not in %s: %s", apiFile, line)
		}
		want = slices.DeleteFunc(want, func(w string) bool { return w == line })
	}
	for _, line := range want {
		t.Errorf("gone or changed since %s: %s", apiFile, line)
	}
}

// promisedPackages reads the list of packages that stay.
func promisedPackages(t *testing.T) []string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, "docs/promises.md"), "Packages that stay:")
	list, _, _ := strings.Cut(rest, "\n\n")
	names := regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(list, -1)
	if !found || len(names) == 0 {
		t.Fatal("docs/promises.md does not list the packages that stay")
	}
	paths := make([]string, len(names))
	for i, n := range names {
		paths[i] = module + n[1]
	}
	return paths
}

// surface lists what packages export, one line for each name, method and field.
func surface(t *testing.T, paths []string) (lines []string) {
	t.Helper()
	imp := compiled(t, paths)
	for _, path := range paths {
		p := must.Get(imp.Import(path))(t)
		prefix := "pkg " + strings.TrimPrefix(path, module) + ", "
		for _, name := range p.Scope().Names() {
			if o := p.Scope().Lookup(name); o.Exported() {
				for _, line := range described(o) {
					lines = append(lines, prefix+line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// compiled imports packages from their export data, which the build cache holds.
func compiled(t *testing.T, paths []string) types.Importer {
	t.Helper()
	flags := []string{"list", "-export", "-deps", "-json=ImportPath,Export"}
	if info, _ := debug.ReadBuildInfo(); slices.Contains(info.Settings,
		debug.BuildSetting{Key: "-trimpath", Value: "true"}) {
		flags = append(flags, "-trimpath") // or all packages would be compiled once more
	}
	list := exec.Command("go", append(flags, paths...)...)
	list.Dir = root
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	must.Do(t, err)
	files := map[string]string{}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
}

// described is an exported object as lines: itself, and a type's exported fields and methods.
func described(o types.Object) (lines []string) {
	short := func(p *types.Package) string {
		if p == o.Pkg() {
			return ""
		}
		return p.Name()
	}
	named, isType := o.(*types.TypeName)
	if !isType || named.IsAlias() {
		return []string{types.ObjectString(o, short)}
	}
	head := "type " + o.Name()
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		lines = append(lines, head+" struct")
		for f := range u.Fields() {
			if f.Exported() {
				lines = append(lines, fmt.Sprintf("%s struct, %s %s", head, f.Name(), types.TypeString(f.Type(), short)))
			}
		}
	case *types.Interface:
		lines = append(lines, head+" interface")
		for m := range u.Methods() { // an unexported one keeps others from implementing it
			lines = append(lines, head+" interface, "+m.Name()+signature(m, short))
		}
	default:
		lines = append(lines, head+" "+types.TypeString(u, short))
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	if types.IsInterface(o.Type()) {
		return lines
	}
	for s := range methods.Methods() {
		if s.Obj().Exported() {
			lines = append(lines, "method "+o.Name()+"."+s.Obj().Name()+signature(s.Obj(), short))
		}
	}
	return lines
}

// signature is a method's parameters and results.
func signature(m types.Object, q types.Qualifier) string {
	return strings.TrimPrefix(types.TypeString(m.Type(), q), "func")
}
