package datasets

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/parallelcl/parallelcl/internal/download"
)

// A Status is what Verify found out about one file.
type Status string

const (
	OK       Status = "ok"       // equals the published checksum
	Readable Status = "readable" // well-formed and complete; nobody publishes a checksum for it
	Partial  Status = "partial"  // well-formed, but holds less than the official file or folder
	Missing  Status = "missing"
	Damaged  Status = "damaged" // wrong checksum, or cannot be read
)

// A FileReport is what Verify found out about one file.
type FileReport struct {
	Path   string `json:"path"` // relative to the data folder
	Status Status `json:"status"`
	Detail string `json:"detail,omitempty"`
}

// A Report is what Verify found out about one set.
type Report struct {
	Name  string       `json:"name"`
	Dir   string       `json:"dir"` // the data folder; empty for a generated set
	Files []FileReport `json:"files"`
}

// Complete reports whether all official files are there and complete.
func (r Report) Complete() bool {
	for _, f := range r.Files {
		if f.Status != OK && f.Status != Readable {
			return false
		}
	}
	return true
}

// Err returns nil if the set is Complete, and else an error that names the files at fault and the command
// that repairs them.
func (r Report) Err() error {
	if r.Complete() {
		return nil
	}
	var bad []string
	for _, f := range r.Files {
		if f.Status != OK && f.Status != Readable {
			bad = append(bad, fmt.Sprintf("%s is %s", f.Path, f.Status))
		}
	}
	if Own(r.Name) {
		return errors.New(r.Files[0].Detail) // which names the set
	}
	return fmt.Errorf("datasets: verify %s in %s: %s; `pcl data fetch %s` brings the official files", r.Name, r.Dir, strings.Join(bad, ", "), r.Name)
}

// Verify reads the files of a set and compares them with the published checksums or, if there are none (see
// [File]), checks that they are well-formed. The report says what it found; an error says that it could not
// look. A generated set has no files and is complete. Of a user's own files the report has one entry, which is readable
// if [Open] opens them and then gives their SHA-256.
func Verify(ctx context.Context, name string, o Options) (Report, error) {
	e, err := find(name)
	if err != nil {
		return Report{}, err
	}
	if Own(name) {
		return verifyOwn(ctx, e, o)
	}
	if len(e.Files) == 0 {
		return Report{Name: name}, nil
	}
	dir, err := o.dir()
	if err != nil {
		return Report{}, err
	}
	return e.verify(ctx, dir)
}

func verifyOwn(ctx context.Context, e *entry, o Options) (Report, error) {
	f := FileReport{Path: e.Source, Status: Readable}
	d, err := Open(ctx, e.Name, o)
	switch {
	case ctx.Err() != nil:
		return Report{}, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = Missing, err.Error()
	case err != nil:
		f.Status, f.Detail = Damaged, err.Error()
	default:
		f.Detail = fmt.Sprintf("%d training and %d test %s of %s, %d classes, SHA-256 %s", d.Train.Len(), d.Test.Len(), d.things(), d.Size(), len(d.Classes), d.SHA256)
		if d.Note != "" {
			f.Detail += "; " + d.Note
		}
	}
	return Report{Name: e.Name, Files: []FileReport{f}}, nil
}

func (e *entry) verify(ctx context.Context, dir string) (Report, error) {
	r := Report{Name: e.Name, Dir: dir}
	for _, f := range e.Files {
		if err := ctx.Err(); err != nil {
			return r, err
		}
		status, detail := e.verifyFile(ctx, dir, f)
		if err := ctx.Err(); err != nil {
			return r, err
		}
		r.Files = append(r.Files, FileReport{f.Path, status, detail})
	}
	return r, nil
}

func (e *entry) verifyFile(ctx context.Context, dir string, f File) (Status, string) {
	path, ok := locate(dir, f.Path)
	if !ok {
		return Missing, ""
	}
	// An unpacked .gz cannot be compared with the checksum of the packed one.
	if strings.HasSuffix(path, filepath.FromSlash(strings.TrimSuffix(f.Path, "/"))) && f.sum() != "" {
		err := checkSum(ctx, path, f.sum())
		if err == nil {
			return OK, ""
		}
		if s, detail := e.checkFile(ctx, path, f); s == Partial { // smaller but well-formed, not broken
			return s, detail
		}
		return Damaged, err.Error()
	}
	return e.checkFile(ctx, path, f)
}

// checkFile judges a file or folder by its content.
func (e *entry) checkFile(ctx context.Context, path string, f File) (Status, string) {
	kind := "images"
	if strings.Contains(f.Path, "-labels-") {
		kind = "labels"
	}
	n, err := e.format.check(ctx, path, f)
	switch {
	case errors.Is(err, fs.ErrNotExist): // in a folder
		return Partial, err.Error()
	case err != nil:
		return Damaged, err.Error()
	case n < f.Samples:
		return Partial, fmt.Sprintf("%d of %d %s", n, f.Samples, kind)
	case n > f.Samples:
		return Damaged, fmt.Sprintf("%d %s; the official set has %d there", n, kind, f.Samples)
	case n == 0:
		return Readable, ""
	}
	return Readable, fmt.Sprintf("%d %s", n, kind)
}

// checkSum compares a file with its SHA-256.
func checkSum(ctx context.Context, path, want string) error {
	got, err := download.Sum(ctx, path)
	if err == nil && got != want {
		err = fmt.Errorf("SHA-256 is %s, published is %s", got, want)
	}
	return err
}
