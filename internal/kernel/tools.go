package kernel

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// The tools that GoNB needs and GoNB itself, at the versions that were tested together: a module of
// its own, because theirs must not weigh on ours.
var (
	//go:embed pins/tools.mod
	toolsMod []byte
	//go:embed pins/tools.sum
	toolsSum []byte
)

// toolNames are the programs of the tools module.
var toolNames = []string{"gonb", "goimports", "gopls"}

// pinned is a folder of the cache that belongs to pins: other pins, another folder.
func pinned(cache, name string, pins []byte) string {
	sum := sha256.Sum256(pins)
	return filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:4]))
}

func toolsDir(cache string) string { return pinned(cache, "tools", toolsMod) }

func toolsInstalled(dir string) bool {
	for _, name := range toolNames {
		if _, err := os.Stat(filepath.Join(dir, "bin", name)); err != nil {
			return false
		}
	}
	return true
}

// installTools builds the tools. The folder gets its name when all are there.
func installTools(ctx context.Context, o Options) error {
	dir := toolsDir(o.Cache)
	if toolsInstalled(dir) {
		return nil
	}
	done := o.step("Building GoNB, goimports and gopls at their pinned versions")
	partial := dir + ".partial"
	defer os.RemoveAll(partial)
	for name, data := range map[string][]byte{"go.mod": toolsMod, "go.sum": toolsSum} {
		if err := atomicfile.WriteBytes(filepath.Join(partial, name), data); err != nil {
			return err
		}
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
