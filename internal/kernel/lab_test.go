//go:build unix

package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// fakePython writes a python3 whose virtual environments have a pip that runs a script.
func fakePython(t *testing.T, fit int, pip string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "pip"), "#!/bin/sh\n"+pip)
	write(t, filepath.Join(dir, "python3"), fmt.Sprintf("#!/bin/sh\n"+
		"[ \"$2\" = venv ] || exit %d\nmkdir -p \"$4/bin\"\ncp %s/pip \"$4/bin/python\"\n", fit, dir))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// TestJupyterFails: an installation that fails says what is missing, keeps what it has downloaded,
// and is not taken for one that is complete.
func TestJupyterFails(t *testing.T) {
	const retry = "echo \"WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError'\" >&2\n"
	for name, c := range map[string]struct {
		fit       int
		pip, want string
	}{
		"old Python": {1, "", "JupyterLab needs Python 3.11 or later"},
		"no network": {0, retry + "echo 'ERROR: No matching distribution found for anyio'; exit 1\n",
			"the package index of Python can't be reached; the same command goes on"},
		"full disk": {0, "echo Collecting anyio==4; echo 'ERROR: [Errno 28] No space left on device'; exit 1\n",
			"No space left on device"},
		"other wheels": {0, "echo 'ERROR: THESE PACKAGES DO NOT MATCH THE HASHES'; echo '  anyio'; exit 1\n",
			"HASHES\n  anyio"},
	} {
		t.Run(name, func(t *testing.T) {
			o := machine(t)
			fakePython(t, c.fit, "mkdir -p \""+labDir(o.Cache)+".downloads\"\n"+c.pip)
			_, err := Jupyter(t.Context(), o, true)
			if got := expect.Text(err); !strings.Contains(got, c.want) || strings.Contains(got, "Collecting") {
				t.Errorf("the error is %q; want %q", got, c.want)
			}
			if lab, err := findLab(t.Context(), o.Cache, true); err == nil {
				t.Errorf("found %+v", lab)
			}
			if _, err := os.Stat(labDir(o.Cache) + ".downloads"); c.fit == 0 && err != nil {
				t.Error(err)
			}
		})
	}
}

// TestJupyterInstalls: an installation tells how far it is, and leaves only the environment, with
// its settings.
func TestJupyterInstalls(t *testing.T) {
	o := machine(t)
	var told []string
	o.Progress = func(step string, done, total int) { told = append(told, fmt.Sprint(step, " ", done, total > 70)) }
	dir := labDir(o.Cache)
	fakePython(t, 0,
		fmt.Sprintf("cd \"%s\"\nmkdir -p \"$PWD.downloads\"\nprintf '#!/bin/sh\\necho 4.6.6\\n' > bin/jupyter-lab\n"+
			"chmod +x bin/jupyter-lab\necho Collecting anyio==4\necho '  Downloading anyio-4.whl (1 kB)'\n"+
			"echo Collecting arrow==1\necho Installing collected packages: anyio, arrow\n", dir))
	lab, err := Jupyter(t.Context(), o, true)
	if want := (Lab{filepath.Join(dir, "bin", "jupyter-lab"), "4.6.6"}); err != nil || lab != want {
		t.Errorf("lab is %+v, %v; want %+v", lab, expect.Text(err), want)
	}
	want := []string{"making a Python environment 0 false", "downloading 0 true", "downloading 1 true",
		"unpacking 0 false"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q; want %q", told, want)
	}
	if _, err := os.Stat(dir + ".downloads"); err == nil {
		t.Error("the downloads are still there")
	}
	if text := readFile(t, filepath.Join(dir, "etc/jupyter/jupyter_server_config.json")); !strings.Contains(text, Name) {
		t.Errorf("the server's settings are %q", text)
	}
}
