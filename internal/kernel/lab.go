package kernel

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// serverSettings are those of its server: our kernel is the one of new notebooks, and Python's,
// which the environment lacks, isn't missed.
const serverSettings = `{
  "KernelSpecManager": {"ensure_native_kernel": false},
  "MultiKernelManager": {"default_kernel_name": "` + Name + `"}
}
`

// Jupyter returns the JupyterLab that findLab finds. Where it finds none that works, it installs
// one with pip (from the network) into a virtual environment in o.Cache. What an interrupted
// installation has downloaded is used by the next one.
func Jupyter(ctx context.Context, o Options, private bool) (lab Lab, err error) {
	dir := labDir(o.Cache)
	unlock, err := o.lock(ctx, dir+".lock")
	if err != nil {
		return lab, err
	}
	defer unlock()
	if lab, err := findLab(ctx, o.Cache, private); err == nil {
		return lab, nil
	}
	list, downloads := filepath.Join(dir, "requirements.txt"), dir+".downloads"
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	p := &pip{report: o.Progress, wheels: bytes.Count(requirements, []byte("=="))}
	o.Progress("making a Python environment", 0, 0)
	const fit = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))"
	if _, err = build.Run(ctx, "", "python3", "-c", fit); err == nil {
		_, err = build.Run(ctx, "", "python3", "-m", "venv", "--clear", dir)
	}
	if ctx.Err() != nil {
		return lab, context.Cause(ctx)
	}
	if err != nil {
		return lab,
			fmt.Errorf("JupyterLab needs Python 3.11 or later with its venv module (Debian, Ubuntu: apt install python3-venv), "+
				"or install JupyterLab 4 yourself so that jupyter-lab is on PATH: %w", err)
	}
	if err := atomicfile.WriteBytes(list, requirements); err != nil {
		return lab, err
	}
	err = build.Watch(ctx, dir, p.said, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--no-input",
		"--disable-pip-version-check", "--progress-bar=off", "--no-color", "--cache-dir", downloads,
		"--no-deps", "--only-binary=:all:", "--require-hashes", "--no-compile", "--requirement", list)
	if err != nil && p.unreachable {
		err = fmt.Errorf("the package index of Python can't be reached; the same command goes on with what is here: %w", err)
	}
	if err != nil {
		return lab, err
	}
	for file, text := range map[string]string{"etc/jupyter/jupyter_server_config.json": serverSettings,
		labSettingsFile: labSettings} {
		if err := atomicfile.WriteBytes(filepath.Join(dir, file), []byte(text)); err != nil {
			return lab, err
		}
	}
	if err := os.RemoveAll(downloads); err != nil {
		return lab, err
	}
	return findLab(ctx, o.Cache, true)
}

// pip hears what pip says, and reports how far it is.
type pip struct {
	report        build.Progress
	begun, wheels int // how many have begun to arrive, of how many
	unreachable   bool
}

// usual is how lines of pip begin that are no part of an error.
var usual = regexp.MustCompile(`^ *(Collecting|Downloading|Using cached|Installing collected|Successfully|Looking in) `)

// said reports whether a line is no part of an error.
func (p *pip) said(line string) bool {
	if strings.Contains(line, "Retrying (Retry(") {
		p.unreachable = true
		p.report("waiting for Python's package index", 0, 0)
		return true
	}
	begins := usual.FindStringSubmatch(line)
	switch {
	case begins == nil:
		return false
	case begins[1] == "Collecting":
		p.report("downloading", p.begun, p.wheels)
		p.begun++
	case begins[1] == "Installing collected":
		p.report("unpacking", 0, 0)
	}
	return true
}
