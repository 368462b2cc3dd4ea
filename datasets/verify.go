package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
)

// A FileReport is what Verify found out about one file.
type FileReport struct {
	Path string `json:"path"` // relative to the data folder
	// Status is "ok" (it equals the published checksum), "readable" (well-formed and complete; nobody publishes a checksum for it),
	// "partial" (well-formed, but holds less than the official file or folder), "missing", or "damaged" (it has a wrong checksum, or
	// cannot be read).
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// A Report is what Verify found out about one set.
type Report struct {
	Name  string       `json:"name"`
	Dir   string       `json:"dir"` // the data folder; empty for a generated set
	Files []FileReport `json:"files"`
}

// faulty says which files are missing or not complete.
func (r Report) faulty() (bad []string) {
	for _, f := range r.Files {
		if f.Status != "ok" && f.Status != "readable" {
			bad = append(bad, fmt.Sprintf("%s is %s", f.Path, f.Status))
		}
	}
	return bad
}

// Err returns nil if all official files are there and complete, and else an error that names the files at fault and the command
// that repairs them.
func (r Report) Err() error {
	switch bad := r.faulty(); {
	case bad == nil:
		return nil
	case own(r.Name):
		return errors.New(r.Files[0].Detail) // which names the set
	default:
		return fmt.Errorf("datasets: verify %s in %s: %s; `pcl data fetch %s` brings the official files", r.Name, r.Dir, strings.Join(bad, ", "), r.Name)
	}
}

// Verify reads the files of a set and compares them with the published checksums or, if there are none (see
// [File]), checks that they are well-formed. The report says what it found; an error says that it could not
// look. A generated set has no files and is complete. Of a user's own files the report has one entry, which is readable
// if [Open] opens them and then gives their SHA-256.
func Verify(ctx context.Context, name string, o Options) (r Report, err error) {
	defer finish(ctx, "verify "+name, &err)
	defer fail.Caught(&err)
	switch e := find(name); {
	case own(name):
		return Report{Name: name, Files: []FileReport{verifyOwn(ctx, e, o)}}, nil
	case e.format == nil:
		return Report{Name: name}, nil
	default:
		return official{e, o.dir()}.verify(ctx), nil
	}
}

func verifyOwn(ctx context.Context, e *entry, o Options) FileReport {
	f := FileReport{Path: e.Source, Status: "readable"}
	d, err := Open(ctx, e.Name, o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = "missing", err.Error()
	case err != nil:
		f.Status, f.Detail = "damaged", err.Error()
	default:
		f.Detail = fmt.Sprintf("%d training and %d test %s of %s, %d classes, SHA-256 %s", d.Train.Len(), d.Test.Len(), d.things(), d.Size(), len(d.Classes), d.SHA256)
		f.Detail = join(f.Detail, d.Note)
	}
	return f
}

func (s official) verify(ctx context.Context) Report {
	r := Report{Name: s.Name, Dir: s.dir}
	for _, f := range s.Files {
		status, detail := s.verifyFile(ctx, f)
		fail.If(ctx.Err())
		r.Files = append(r.Files, FileReport{f.Path, status, detail})
	}
	return r
}

func (s official) verifyFile(ctx context.Context, f File) (status, detail string) {
	path, ok := locate(s.dir, f.Path)
	if !ok {
		return "missing", ""
	}
	// An unpacked .gz cannot be compared with the checksum of the packed one.
	if !strings.HasSuffix(path, filepath.FromSlash(strings.TrimSuffix(f.Path, "/"))) || f.sum() == "" {
		return s.checkFile(ctx, path, f)
	}
	wrong := fail.Tried(func() { checkSum(ctx, path, f.sum()) })
	if wrong == nil {
		return "ok", ""
	}
	if status, detail := s.checkFile(ctx, path, f); status == "partial" { // smaller but well-formed, not broken
		return status, detail
	}
	return "damaged", wrong.Error()
}

// checkFile judges a file or folder by its content.
func (s official) checkFile(ctx context.Context, path string, f File) (status, detail string) {
	kind := "images"
	if strings.Contains(f.Path, "-labels-") {
		kind = "labels"
	}
	n := 0
	err := fail.Tried(func() {
		c := s.format.list(path, f)
		n = c.samples
		c.check(ctx)
	})
	switch {
	case errors.Is(err, fs.ErrNotExist): // in a folder
		return "partial", err.Error()
	case err != nil:
		return "damaged", err.Error()
	case n < f.Samples:
		return "partial", fmt.Sprintf("%d of %d %s", n, f.Samples, kind)
	case n > f.Samples:
		return "damaged", fmt.Sprintf("%d %s; the official set has %d there", n, kind, f.Samples)
	case n == 0:
		return "readable", ""
	}
	return "readable", fmt.Sprintf("%d %s", n, kind)
}
