package kernel

import (
	"os"
	"path/filepath"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// quickstart is the notebook to begin with.
const quickstart = "00-quickstart.ipynb"

// copiedNotebooks is the folder for the notebooks of a kernel that does not run on a clone.
const copiedNotebooks = "parallelcl-notebooks"

// Quickstart returns the notebook that a user begins with: of the kernel's clone, where it runs on one; otherwise a copy of
// the kernel's own in a new folder under the current one, since what is changed in the cache would be lost. What is in that
// folder already stays as it is. Where a module has no notebooks the path is empty.
func Quickstart(k Kernel) (string, error) {
	from := filepath.Join(k.Source, "notebooks")
	if _, err := os.Stat(filepath.Join(from, quickstart)); err != nil {
		return "", nil
	}
	if k.Clone {
		return filepath.Join(from, quickstart), nil
	}
	paths, err := filepath.Glob(filepath.Join(from, "*.ipynb"))
	if err != nil {
		return "", err
	}
	for _, path := range paths {
		to := filepath.Join(copiedNotebooks, filepath.Base(path))
		if _, err := os.Stat(to); err == nil {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if err := atomicfile.WriteBytes(to, data); err != nil {
			return "", err
		}
	}
	return filepath.Join(copiedNotebooks, quickstart), nil
}
