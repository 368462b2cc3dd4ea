package build

import (
	"context"
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/module"

	"github.com/parallelcl/parallelcl/internal/kernel/cell"
)

// reach knows the packages of all modules that the cells' go.mod requires and that are on this
// machine, also those that nothing imports so far.
type reach struct {
	mu       sync.Mutex
	of       time.Time // of that go.mod
	packages []cell.Package
}

// others lists them. The folders are read once, and again if go.mod has changed.
func (c *Cells) others() []cell.Package {
	c.reach.mu.Lock()
	defer c.reach.mu.Unlock()
	dir, err := c.ModuleDir()
	if err != nil {
		return nil
	}
	s, err := os.Stat(filepath.Join(dir, "go.mod"))
	if err != nil || s.ModTime().Equal(c.reach.of) {
		return c.reach.packages
	}
	c.reach.of, c.reach.packages = s.ModTime(), nil
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for module, folder := range c.modules(ctx, dir) {
		c.reach.packages = append(c.reach.packages, packagesIn(module, folder)...)
	}
	return c.reach.packages
}

// modules finds the folders of the modules that a go.mod requires, without asking a network.
func (c *Cells) modules(ctx context.Context, dir string) (folders map[string]string) {
	var file struct {
		Require []module.Version
		Replace []struct{ Old, New module.Version }
	}
	out, err := Run(ctx, dir, c.Go.Command, "mod", "edit", "-json")
	cache, err2 := Run(ctx, dir, c.Go.Command, "env", "GOMODCACHE")
	if err != nil || err2 != nil || json.Unmarshal(out, &file) != nil {
		return nil
	}
	folders = map[string]string{}
	for _, m := range file.Require {
		from := m
		for _, r := range file.Replace {
			if r.Old.Path == m.Path && (r.Old.Version == "" || r.Old.Version == m.Version) {
				from = r.New
			}
		}
		folder := from.Path
		switch {
		case from.Version != "":
			name, err := module.EscapePath(from.Path)
			version, err2 := module.EscapeVersion(from.Version)
			if err != nil || err2 != nil {
				continue
			}
			folder = filepath.Join(strings.TrimSpace(string(cache)), name+"@"+version)
		case !filepath.IsAbs(folder):
			folder = filepath.Join(dir, folder)
		}
		folders[m.Path] = folder
	}
	return folders
}

// packagesIn lists the packages of the module in a folder that others can import.
func packagesIn(module, folder string) (list []cell.Package) {
	filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil
		}
		within, _ := filepath.Rel(folder, name)
		p := path.Join(module, filepath.ToSlash(within))
		_, nested := os.Stat(filepath.Join(name, "go.mod"))
		if base := d.Name(); name != folder && (nested == nil || base == "testdata" || strings.ContainsAny(base[:1], "._")) ||
			!cell.Importable(p) {
			return fs.SkipDir
		}
		for _, file := range cell.Sources(name) {
			f, _ := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
			if f != nil && f.Name.Name != "main" && f.Name.Name != "documentation" {
				list = append(list, cell.Package{Path: p, Name: f.Name.Name, Dir: name})
				break
			}
		}
		return nil
	})
	return list
}
