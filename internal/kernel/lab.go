package kernel

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/kernel/build"
	"github.com/parallelcl/parallelcl/internal/printable"
)

//go:embed pins/requirements.txt
var requirements []byte

// Lab is an installed JupyterLab.
type Lab struct{ Path, Version string } // Path is that of its program jupyter-lab

// findLab looks for JupyterLab 4. It takes the user's own on PATH, unless private is set, and
// otherwise the private one in our cache.
func findLab(ctx context.Context, cache string, private bool) (Lab, error) {
	if path, err := exec.LookPath("jupyter-lab"); err == nil && !private {
		if lab, err := labAt(ctx, path); err == nil {
			return lab, nil
		}
	}
	dir := labDir(cache)
	if _, err := os.Stat(filepath.Join(dir, labSettingsFile)); err != nil {
		return Lab{}, errors.New("not installed")
	}
	return labAt(ctx, filepath.Join(dir, "bin", "jupyter-lab"))
}

func labAt(ctx context.Context, path string) (Lab, error) {
	out, err := build.Run(ctx, "", path, "--version")
	v := printable.Line(string(out))
	if err == nil && !strings.HasPrefix(v, "4.") {
		err = fmt.Errorf("%s is JupyterLab %q; want 4", path, v)
	}
	return Lab{path, v}, err
}

// labDir is a folder of the cache whose name depends on the pinned versions, so that other versions
// get another folder.
func labDir(cache string) string {
	sum := sha256.Sum256(requirements)
	return filepath.Join(cache, "jupyter-"+hex.EncodeToString(sum[:4]))
}

// labSettingsFile is written last into the virtual environment, which is complete when the file is
// there: an environment cannot be installed under a temporary name and then renamed.
const labSettingsFile = "share/jupyter/lab/settings/overrides.json"

// labSettings keeps a new JupyterLab from asking about news and from looking for them. It also
// allows completions to take longer than one second, as a kernel's first one may on a busy machine.
const labSettings = `{
  "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
  "@jupyterlab/completer-extension:manager": {"providerTimeout": 10000}
}
`

// Jupyter returns the JupyterLab that findLab finds. Where it finds none that works, it installs
// one with pip (from the network) into a virtual environment in o.Cache.
func Jupyter(ctx context.Context, o Options, private bool) (lab Lab, err error) {
	unlock, err := o.lock(ctx)
	if err != nil {
		return lab, err
	}
	defer unlock()
	if lab, err := findLab(ctx, o.Cache, private); err == nil {
		return lab, nil
	}
	dir := labDir(o.Cache)
	list := filepath.Join(dir, "requirements.txt")
	o.Note("Installing JupyterLab into a private environment...")
	if _, err := build.Run(ctx, "", "python3", "-m", "venv", "--clear", dir); err != nil {
		return lab,
			fmt.Errorf("JupyterLab needs Python 3.11 or later with its venv module (Debian, Ubuntu: apt install python3-venv), "+
				"or install JupyterLab 4 yourself so that jupyter-lab is on PATH: %w", err)
	}
	if err := atomicfile.WriteBytes(list, requirements); err != nil {
		return lab, err
	}
	_, err = build.Run(ctx, dir, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet",
		"--disable-pip-version-check", "--constraint", list, "jupyterlab", "nbconvert", "ipykernel")
	if err != nil {
		return lab, err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, labSettingsFile), []byte(labSettings)); err != nil {
		return lab, err
	}
	return findLab(ctx, o.Cache, true)
}
