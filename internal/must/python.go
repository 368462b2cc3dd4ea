package must

import (
	"cmp"
	"os"
	"os/exec"
	"testing"
)

// Python returns the Python program that PARALLELCL_PYTHON names, which must have the modules,
// given as "numpy, onnx". Without that variable it is python3, and the test is skipped if that does
// not have them.
func Python(t *testing.T, modules string) string {
	t.Helper()
	named := os.Getenv("PARALLELCL_PYTHON")
	name := cmp.Or(named, "python3")
	out, err := exec.Command(name, "-c", "import "+modules).CombinedOutput()
	switch {
	case err != nil && named != "":
		t.Fatalf("%s cannot import %s: %v\n%s", name, modules, err, out)
	case err != nil:
		t.Skipf(
			"%s does not have all of: %s. Install pcl/testdata/requirements.txt, and name the Python by PARALLELCL_PYTHON",
			name, modules)
	}
	return name
}
