package kernel

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/parallelcl/parallelcl/internal/atomicfile"
)

// quickstart is the file of the notebook to begin with.
const quickstart = "00-quickstart.ipynb"

// copiedNotebooks is the folder to which notebooks are copied if the kernel does not use a clone. Those of each version have a
// folder of their own in it, because an older version's may not run.
const copiedNotebooks = "parallelcl-notebooks"

// Quickstart returns the path of the notebook to begin with, or an empty path if the module has no notebooks. If the kernel
// uses a clone, the notebook is the clone's. Otherwise the kernel's notebooks are copied to a folder under the current one,
// since changes to those in the cache would be lost. Files that are there already are left as they are.
func Quickstart(k Kernel) (string, error) {
	from := filepath.Join(k.Source, "notebooks")
	if _, err := os.Stat(filepath.Join(from, quickstart)); err != nil {
		return "", nil
	}
	if k.Clone {
		return filepath.Join(from, quickstart), nil
	}
	folder := filepath.Join(copiedNotebooks, k.Version)
	names, err := fs.Glob(os.DirFS(from), "*.ipynb") // the folder may have brackets in its name
	if err != nil {
		return "", err
	}
	for _, name := range names {
		to := filepath.Join(folder, name)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return "", err
		}
		if err := atomicfile.WriteBytes(to, webLinks(data, k.Version)); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, quickstart), nil
}

// release is the form of the versions that are tags of the repository.
var release = regexp.MustCompile(`^v\d+\.\d+\.\d+$`)

// webLinks makes a notebook's links to other files of the module, which are not copied, links to its repository, as it was at
// this version where that is a release.
func webLinks(notebook []byte, version string) []byte {
	at := "HEAD"
	if release.MatchString(version) {
		at = version
	}
	return bytes.ReplaceAll(notebook, []byte("](../"), []byte("](https://"+Module+"/blob/"+at+"/"))
}
