package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Origin says where a page comes from.
type Origin struct {
	Command string    // what to type to make the page again
	Version string    // of this library, with its commit
	Made    time.Time // left out where it is zero
}

// fact is a name and what it stands for.
type fact struct{ Name, Value string }

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
		m.Facts = append(m.Facts, fact{name, value})
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

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sumOf returns the checksum of a file, which may be larger than the memory.
func sumOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// citation is what to cite, as CITATION.cff has it.
type citation struct{ Paper, BibTeX string }

var cite = citation{
	Paper: "https://arxiv.org/abs/2401.01054",
	BibTeX: `@article{lyu2026elastic,
  title   = {Elastic Multi-Gradient Descent for Parallel Continual Learning},
  author  = {Lyu, Fan and Feng, Wei and others},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  year    = {2026},
  note    = {Preprint of 2024},
  url     = {https://arxiv.org/abs/2401.01054}
}

@software{parallelcl,
  title  = {parallelcl},
  author = {{The parallelcl authors}},
  url    = {https://github.com/parallelcl/parallelcl}
}`,
}
