package datasets

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/filelock"
)

// Fetch downloads the official files of a set into the data folder and verifies them; if they are
// there already and complete, it does nothing. An interrupted download leaves its first part in the
// downloads folder, and the next Fetch continues from there. Two processes that fetch the same set
// wait for each other. A copy of the publisher's file in the downloads folder of the data folder is
// used instead of a download, and stays there. A generated set needs no files.
func Fetch(ctx context.Context, name string, o Options) (err error) {
	defer finish(ctx, "fetch "+name, &err)
	e, err := find(name)
	if err != nil {
		return err
	}
	g := getter{&download.Client{Progress: o.Progress}}
	switch {
	case OwnPath(name) != "":
		g.line("%s are your own files: nothing to fetch", name)
		return nil
	case e.format == nil:
		g.line("%s is generated: nothing to fetch", name)
		return nil
	}
	dir, err := o.dir()
	if err != nil {
		return err
	}
	return fetch(ctx, official{e, dir}, g)
}

// A getter downloads, and says so.
type getter struct{ *download.Client }

func (g getter) line(format string, args ...any) {
	if g.Progress != nil {
		fmt.Fprintf(g.Progress, format+"\n", args...)
	}
}

func fetch(ctx context.Context, s official, g getter) error {
	downloads := filepath.Join(s.dir, "downloads")
	lock := filepath.Join(downloads, s.Downloads[0].folder+".lock")
	waiting := func() { g.line("another process is fetching %s: waiting for it", s.Name) }
	unlock, lockErr := filelock.Wait(ctx, lock, waiting)
	if lockErr == nil {
		defer unlock()
	}
	before, err := s.verify(ctx)
	if err != nil {
		return err
	}
	// asked although the lock failed: who may not write here can still use a complete set
	if s.faults(before) == nil {
		g.line("%s is complete in %s", s.Name, s.dir)
		return nil
	}
	if lockErr != nil {
		return lockErr
	}
	for _, d := range s.Downloads {
		// the download may itself be a file of the set: if that is whole, nothing is fetched
		of := d.folder + "/" + path.Base(d.URL)
		if slices.ContainsFunc(before, func(f File) bool { return f.Path == of && f.whole() }) {
			continue
		}
		if err := fetchSource(ctx, d, s.dir, downloads, g); err != nil {
			return err
		}
	}
	after, err := s.verify(ctx)
	if err != nil {
		return err
	}
	if err := s.faults(after); err != nil {
		return fmt.Errorf("the download does not hold what it should: %w", err)
	}
	g.line("%s is complete in %s", s.Name, s.dir)
	return nil
}

// fetchSource puts the files of one download into its folder. It uses a correct copy that the user
// has put into downloads, and otherwise downloads.
func fetchSource(ctx context.Context, s Source, dir, downloads string, g getter) error {
	file := filepath.Join(downloads, path.Base(s.URL))
	wrong := s.check(ctx, file)
	if err := ctx.Err(); err != nil {
		return err
	}
	if wrong == nil {
		return place(ctx, s, file, dir, g)
	}
	hint := fmt.Sprintf("a copy of the file put by hand into %s is used, too", downloads)
	if !errors.Is(wrong, fs.ErrNotExist) {
		hint = fmt.Sprintf("the file that lies there is not the publisher's (%v): it was left alone; put the right "+
			"one in its place, or move it away", wrong)
		g.line("%s", hint)
	}
	part := file + ".part"
	if err := g.To(ctx, download.File{URL: s.URL, Bytes: s.Bytes, SHA256: s.SHA256}, part); err != nil {
		return fmt.Errorf("%w; %s", err, hint)
	}
	if err := place(ctx, s, part, dir, g); err != nil {
		return err
	}
	os.Remove(part)
	return nil
}

// check returns an error unless a file is the download.
func (s Source) check(ctx context.Context, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if size := info.Size(); size != s.Bytes {
		return fmt.Errorf("%s has %d bytes, the official file %d", file, size, s.Bytes)
	}
	return checkSum(ctx, file, s.SHA256)
}

// place puts a file, or what it holds, in the folder of its set. The file stays: it may be the
// user's.
func place(ctx context.Context, s Source, file, dir string, g getter) error {
	target, base := filepath.Join(dir, s.folder), path.Base(s.URL)
	if s.keep == nil {
		return withFile(file, anySize, func(f *os.File, _ int64) error {
			return atomicfile.Write(filepath.Join(target, base), func(w io.Writer) error {
				_, err := io.Copy(w, ctxio.Reader(ctx, f))
				return err
			})
		})
	}
	g.line("unpacking %s", base)
	return at("unpack "+base, unpackInto(ctx, file, s.keep, target))
}

// Tiny ImageNet has the most members (120,609), EMNIST the most bytes (0.6 GB).
var archiveLimits = archive.Limits{Bytes: 4 << 30, Members: 500_000}

// unpackInto unpacks an archive into a temporary folder in target, which may be a link to another
// disk, and moves the files to their places. A process that was killed has left that folder behind:
// nobody else unpacks for target as long as this one has the lock.
func unpackInto(ctx context.Context, file string, keep func(string) (string, bool), target string) error {
	tmp := filepath.Join(target, ".unpack")
	if err := os.RemoveAll(tmp); err != nil {
		return err
	}
	if err := os.MkdirAll(tmp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := archive.Unpack(ctx, file, keep, tmp, archiveLimits); err != nil {
		return err
	}
	return filepath.WalkDir(tmp, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := target + strings.TrimPrefix(p, tmp)
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		return os.Rename(p, to)
	})
}
