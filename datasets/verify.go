package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Verify reads the files of a set and compares them with the published checksums or, if there are
// none (see [File]), checks that they are well-formed. It returns the files with what it found. The
// error names those that are missing or not complete, and the command that repairs them; it comes
// without files if Verify could not look. A generated set has no files and is complete. Of a user's
// own files, and of a set that a program registered, there is one entry, which is readable if
// [Open] opens it and then gives the SHA-256 of the files.
func Verify(ctx context.Context, name string, o Options) ([]File, error) {
	files, err := verify(ctx, name, o)
	finish(ctx, "verify "+name, &err)
	return files, err
}

func verify(ctx context.Context, name string, o Options) ([]File, error) {
	e, err := find(name)
	if err != nil {
		return nil, err
	}
	if !Catalogued(name) {
		f, wrong := verifyOwn(ctx, e, o)
		return []File{f}, wrong
	}
	if e.format == nil {
		return nil, nil
	}
	dir, err := o.dir()
	if err != nil {
		return nil, err
	}
	s := official{e, dir}
	files, err := s.verify(ctx)
	return files, cmp.Or(err, s.faults(files))
}

func verifyOwn(ctx context.Context, e *entry, o Options) (File, error) {
	f := File{Path: cmp.Or(e.Source, "(registered)"), Status: "readable"}
	d, err := opened(ctx, e, o)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Status, f.Detail = "missing", err.Error()
	case err != nil:
		f.Status, f.Detail = "damaged", err.Error()
	default:
		f.Detail = fmt.Sprintf("%d training and %d test %s of %s, %d classes",
			d.Train.Len(), d.Test.Len(), d.things(), d.Size(), len(d.Classes))
		if d.SHA256 != "" {
			f.Detail += ", SHA-256 " + d.SHA256
		}
		f.Detail = join(f.Detail, d.Note)
	}
	return f, err
}

func (s official) verify(ctx context.Context) (files []File, err error) {
	for _, f := range s.Files {
		f.Status, f.Detail = s.verifyFile(ctx, f)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
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
	wrong := checkSum(ctx, path, f.sum())
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
	c, err := s.format.list(path, f)
	if err == nil {
		err = c.check(ctx)
	}
	n := c.samples
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
