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

// Verify reads the files of a set and compares them with the published checksums or, if there are none (see
// [File]), checks that they are well-formed. It returns the files with what it found. The error names those that are missing or not
// complete, and the command that repairs them; it comes without files if Verify could not look. A generated set has no files and is
// complete. Of a user's own files there is one entry, which is readable if [Open] opens them and then gives their SHA-256.
func Verify(ctx context.Context, name string, o Options) (files []File, err error) {
	defer finish(ctx, "verify "+name, &err)
	defer fail.Caught(&err)
	switch e := find(name); {
	case own(name):
		f, wrong := verifyOwn(ctx, e, o)
		return []File{f}, wrong
	case e.format == nil:
		return nil, nil
	default:
		s := official{e, o.dir()}
		files = s.verify(ctx)
		return files, s.faults(files)
	}
}

func verifyOwn(ctx context.Context, e *entry, o Options) (File, error) {
	f := File{Path: e.Source, Status: "readable"}
	d := &Dataset{}
	err := fail.Tried(func() { d = opened(ctx, e, o) })
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = "missing", err.Error()
	case err != nil:
		f.Status, f.Detail = "damaged", err.Error()
	default:
		f.Detail = fmt.Sprintf("%d training and %d test %s of %s, %d classes, SHA-256 %s", d.Train.Len(), d.Test.Len(), d.things(), d.Size(), len(d.Classes), d.SHA256)
		f.Detail = join(f.Detail, d.Note)
	}
	return f, err
}

func (s official) verify(ctx context.Context) (files []File) {
	for _, f := range s.Files {
		f.Status, f.Detail = s.verifyFile(ctx, f)
		fail.If(ctx.Err())
		files = append(files, f)
	}
	return files
}

// whole says whether a file that was verified is there and complete.
func (f File) whole() bool { return f.Status == "ok" || f.Status == "readable" }

// faults is an error that names the files that are not whole, and the command that repairs them.
func (s official) faults(files []File) error {
	var bad []string
	for _, f := range files {
		if !f.whole() {
			bad = append(bad, fmt.Sprintf("%s is %s", f.Path, f.Status))
		}
	}
	if bad == nil {
		return nil
	}
	return fmt.Errorf("in %s, %s; `pcl data fetch %s` brings the official files", s.dir, strings.Join(bad, ", "), s.Name)
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
