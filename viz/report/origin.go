package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/parallelcl/parallelcl/pcl/results/findings"
)

// Origin says where a page comes from.
type Origin struct {
	Command string    // what to type to make the page again
	Version string    // of this library, with its commit
	Made    time.Time // left out where it is zero
}

// fact is a name and what it stands for.
type fact = findings.Fact

// inputFile is a file that a page was made from.
type inputFile struct{ Name, SHA256 string }

// made is the box about a page's origin.
type made struct {
	Command string
	Facts   []fact
	Files   []inputFile
}

func (o Origin) made() made {
	m := made{Command: o.Command}
	m.add("parallelcl", o.Version)
	m.add("Go", runtime.Version())
	if !o.Made.IsZero() {
		m.add("page made", o.Made.UTC().Format("2006-01-02 15:04 UTC"))
	}
	return m
}

// add adds a fact that is known.
func (m *made) add(name, value string) {
	if value != "" {
		m.Facts = append(m.Facts, fact{Name: name, Value: value})
	}
}

// addFile adds a file, if there is one.
func (m *made) addFile(name, sha256 string) {
	if name != "" {
		m.Files = append(m.Files, inputFile{shared(name), sha256})
	}
}

// shared is a file's name as a page has it: where somebody's folders lie is nobody else's affair.
func shared(path string) string {
	if filepath.IsAbs(path) {
		path = filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
	}
	return filepath.ToSlash(path)
}

func checksum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// sumOf returns the checksum of a file, which may be larger than the memory.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}
