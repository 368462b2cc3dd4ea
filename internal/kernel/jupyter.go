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
	"github.com/parallelcl/parallelcl/internal/printable"
)

//go:embed pins/requirements.txt
var requirements []byte

// Lab is an installed JupyterLab.
type Lab struct {
	Path    string `json:"path"` // the path of its program jupyter-lab
	Version string `json:"version"`
	Private bool   `json:"private"` // whether it is the private one in our cache
}

// FindLab looks for JupyterLab 4. It takes the user's own on PATH, unless private is set, and otherwise the private one in
// our cache.
func FindLab(ctx context.Context, cache string, private bool) (Lab, bool) {
	if path, err := exec.LookPath("jupyter-lab"); err == nil && !private {
		if v, err := labVersion(ctx, path); err == nil {
			return Lab{Path: path, Version: v}, true
		}
	}
	dir := labDir(cache)
	if _, err := os.Stat(filepath.Join(dir, labComplete)); err != nil {
		return Lab{}, false
	}
	path := filepath.Join(dir, "bin", "jupyter-lab")
	v, err := labVersion(ctx, path)
	return Lab{Path: path, Version: v, Private: true}, err == nil
}

func labVersion(ctx context.Context, path string) (string, error) {
	out, err := run(ctx, "", os.Environ(), path, "--version")
	v := printable.Line(string(out))
	if err == nil && !strings.HasPrefix(v, "4.") {
		err = fmt.Errorf("%s is JupyterLab %q, not 4", path, v)
	}
	return v, err
}

// labComplete is a file in the virtual environment that says that the environment is complete. An environment cannot be
// installed under a temporary name and then renamed.
const labComplete = "parallelcl-complete"

// labDir is a folder of the cache whose name depends on the pinned versions, so that other versions get another folder.
func labDir(cache string) string {
	sum := sha256.Sum256(requirements)
	return filepath.Join(cache, "jupyter-"+hex.EncodeToString(sum[:4]))
}

// labSettings keeps a new JupyterLab from asking about news and from looking for them. It also allows completions to take
// longer than one second, as a kernel's first one may on a busy machine.
const labSettings = `{
  "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false},
  "@jupyterlab/completer-extension:manager": {"providerTimeout": 10000}
}
`

// writeSettings updates the settings of our private JupyterLab.
func writeSettings(cache string) error {
	path := filepath.Join(labDir(cache), "share", "jupyter", "lab", "settings", "overrides.json")
	if text, err := os.ReadFile(path); err == nil && string(text) == labSettings {
		return nil
	}
	return atomicfile.WriteBytes(path, []byte(labSettings))
}

// Jupyter finds JupyterLab as [FindLab] does. If there is none, it installs one into a private environment.
func Jupyter(ctx context.Context, o Options, private bool) (Lab, error) {
	unlock, err := o.lock(ctx)
	if err != nil {
		return Lab{}, err
	}
	defer unlock()
	if lab, ok := FindLab(ctx, o.Cache, private); ok {
		if lab.Private {
			err = writeSettings(o.Cache)
		}
		return lab, err
	}
	python, err := findPython(ctx)
	if err != nil {
		return Lab{}, err
	}
	dir := labDir(o.Cache)
	done := o.step("Installing JupyterLab into a private environment")
	if _, err := run(ctx, "", os.Environ(), python, "-m", "venv", "--clear", dir); err != nil {
		return Lab{}, err
	}
	list := filepath.Join(dir, "requirements.txt")
	if err := atomicfile.WriteBytes(list, requirements); err != nil {
		return Lab{}, err
	}
	pip := filepath.Join(dir, "bin", "python")
	if _, err := run(ctx, dir, os.Environ(), pip, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
		"--constraint", list, "jupyterlab", "nbconvert", "ipykernel"); err != nil {
		return Lab{}, err
	}
	if err := writeSettings(o.Cache); err != nil {
		return Lab{}, err
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, labComplete), nil); err != nil {
		return Lab{}, err
	}
	done()
	lab, ok := FindLab(ctx, o.Cache, true)
	if !ok {
		return lab, fmt.Errorf("JupyterLab in %s does not start: delete the folder and try again", dir)
	}
	return lab, nil
}

// findPython finds a Python with which an environment for the pinned JupyterLab can be made.
func findPython(ctx context.Context) (string, error) {
	const ask = "import sys, venv, ensurepip; assert sys.version_info >= (3, 11)"
	path, err := exec.LookPath("python3")
	if err == nil {
		_, err = run(ctx, "", os.Environ(), path, "-c", ask)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", errors.New("JupyterLab needs Python 3.11 or later with its venv module (Debian, Ubuntu: apt install python3-venv), " +
			"or install JupyterLab 4 yourself so that jupyter-lab is on PATH")
	}
	return path, nil
}
