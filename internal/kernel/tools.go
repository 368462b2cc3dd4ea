package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// GoNB and the tools that it needs, at versions that were tested together. They have a go.mod of their own, so that our
// module does not get their requirements. GoNB is built from its source with our changes.
var (
	//go:embed pins/tools.mod
	toolsMod []byte
	//go:embed pins/tools.sum
	toolsSum []byte
	//go:embed shim/*.go
	shimSource embed.FS
)

// toolNames are the programs in the tools' folder. GoNB calls the shim, which calls the others.
var toolNames = []string{"gonb", "goimports", "gopls", shimName}

const shimName = "shim"

// pinned returns a folder of the cache whose name depends on the pinned versions, so that other versions get another folder.
func pinned(cache, name string, pins []byte) string {
	sum := sha256.Sum256(pins)
	return filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:4]))
}

func toolsDir(cache string) string {
	made := bytes.Clone(toolsMod)
	for _, m := range mends {
		made = append(made, m.file+m.old+m.new...)
	}
	for _, text := range shimFiles() {
		made = append(made, text...)
	}
	return pinned(cache, "tools", made)
}

// shimFiles returns the source files of the shim, in the order of their names.
func shimFiles() (texts [][]byte) {
	for _, name := range shimNames() {
		text, err := shimSource.ReadFile("shim/" + name)
		if err != nil {
			panic(err) // cannot happen: the file is embedded in this program
		}
		texts = append(texts, text)
	}
	return texts
}

func shimNames() (names []string) {
	entries, err := shimSource.ReadDir("shim")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			names = append(names, e.Name())
		}
	}
	return names
}

func toolsInstalled(dir string) bool {
	for _, name := range toolNames {
		if _, err := os.Stat(filepath.Join(dir, "bin", name)); err != nil {
			return false
		}
	}
	return true
}

// installTools builds the tools in a temporary folder, and renames it when all of them are there.
func installTools(ctx context.Context, o Options) error {
	dir := toolsDir(o.Cache)
	if toolsInstalled(dir) {
		return nil
	}
	done := o.step("Building GoNB, goimports and gopls at their pinned versions")
	partial := dir + ".partial"
	defer os.RemoveAll(partial)
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"go.mod": toolsMod, "go.sum": toolsSum} {
		if err := atomicfile.WriteBytes(filepath.Join(partial, name), data); err != nil {
			return err
		}
	}
	if err := mendedGoNB(ctx, o, partial, filepath.Join(partial, "gonb")); err != nil {
		return err
	}
	replaced := fmt.Appendf(bytes.Clone(toolsMod), "\nreplace %s => ./gonb\n", gonb)
	if err := atomicfile.WriteBytes(filepath.Join(partial, "go.mod"), replaced); err != nil {
		return err
	}
	if err := buildShim(ctx, o, filepath.Join(partial, "shim"), filepath.Join(partial, "bin")); err != nil {
		return err
	}
	env := append(goEnv(), "GOBIN="+filepath.Join(partial, "bin"))
	if _, err := run(ctx, partial, env, o.Go, "install", "-buildvcs=false", "tool"); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Rename(partial, dir); err != nil {
		return err
	}
	done()
	return nil
}

// buildShim builds the shim in a folder, from its source, which is embedded in this program.
func buildShim(ctx context.Context, o Options, dir, bin string) error {
	for i, text := range shimFiles() {
		if err := atomicfile.WriteBytes(filepath.Join(dir, shimNames()[i]), text); err != nil {
			return err
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, "go.mod"), []byte("module shim\n\ngo 1.26.0\n")); err != nil {
		return err
	}
	_, err := run(ctx, dir, goEnv(), o.Go, "build", "-buildvcs=false", "-ldflags=-s", "-o", filepath.Join(bin, shimName))
	return err
}
