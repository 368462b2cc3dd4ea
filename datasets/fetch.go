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
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/filelock"
)

// Fetch downloads the official files of a set into the data folder and verifies them; if they are there
// already and complete, it does nothing. An interrupted download leaves its first part in the downloads
// folder, and the next Fetch continues from there. Two processes that fetch the same set wait for each other.
// A copy of the publisher's file in the downloads folder of the data folder is used instead of a download,
// and stays there. A generated set needs no files.
func Fetch(ctx context.Context, name string, o Options) (err error) {
	defer finish(ctx, "fetch "+name, &err)
	defer fail.Caught(&err)
	g := getter{download.New(o.Progress)}
	switch e := find(name); {
	case own(name):
		g.line("%s are your own files: nothing to fetch", name)
	case e.format == nil:
		g.line("%s is generated: nothing to fetch", name)
	default:
		fetch(ctx, official{e, o.dir()}, g)
	}
	return nil
}

// A getter downloads, and says so.
type getter struct{ *download.Client }

func (g getter) line(format string, args ...any) {
	if g.Progress != nil {
		fmt.Fprintf(g.Progress, format+"\n", args...)
	}
}

func fetch(ctx context.Context, s official, g getter) {
	downloads := filepath.Join(s.dir, "downloads")
	unlock, barred := filelock.Wait(ctx, filepath.Join(downloads, s.Downloads[0].folder+".lock"), func() { g.line("another process is fetching %s: waiting for it", s.Name) })
	if barred == nil {
		defer unlock()
	}
	before := s.verify(ctx)
	if s.faults(before) == nil { // also where this user may not write anything
		g.line("%s is complete in %s", s.Name, s.dir)
		return
	}
	fail.If(barred)
	for _, d := range s.Downloads {
		of := d.folder + "/" + path.Base(d.URL) // which is a file of the set itself, if that has it
		if !slices.ContainsFunc(before, func(f File) bool { return f.Path == of && f.whole() }) {
			fetchSource(ctx, d, s.dir, downloads, g)
		}
	}
	wrong := s.faults(s.verify(ctx))
	fail.When(wrong != nil, "the download does not hold what it should: %w", wrong)
	g.line("%s is complete in %s", s.Name, s.dir)
}

// fetchSource puts what one download holds in its folder: from the copy of it that the user has put
// beside ours, or from a download.
func fetchSource(ctx context.Context, s Source, dir, downloads string, g getter) {
	file := filepath.Join(downloads, path.Base(s.URL))
	wrong := fail.Tried(func() {
		size := fail.Or(os.Stat(file)).Size()
		fail.When(size != s.Bytes, "%s has %d bytes, the official file %d", file, size, s.Bytes)
		checkSum(ctx, file, s.SHA256)
	})
	fail.If(ctx.Err())
	if wrong == nil {
		place(ctx, s, file, dir, g)
		return
	}
	hint := fmt.Sprintf("a copy of the file put by hand into %s is used, too", downloads)
	if !errors.Is(wrong, fs.ErrNotExist) {
		hint = fmt.Sprintf("the file that lies there is not the publisher's (%v): it was left alone; put the right one in its place, or move it away", wrong)
		g.line("%s", hint)
	}
	part := file + ".part"
	err := g.To(ctx, download.File{URL: s.URL, Bytes: s.Bytes, SHA256: s.SHA256}, part)
	fail.When(err != nil, "%w; %s", err, hint)
	place(ctx, s, part, dir, g)
	os.Remove(part)
}

// place puts a file, or what it holds, in the folder of its set. The file stays: it may be the user's.
func place(ctx context.Context, s Source, file, dir string, g getter) {
	target, base := filepath.Join(dir, s.folder), path.Base(s.URL)
	if s.keep == nil {
		withFile(file, anySize, func(f *os.File, _ int64) {
			fail.If(atomicfile.Write(filepath.Join(target, base), func(w io.Writer) error {
				_, err := io.Copy(w, ctxio.Reader(ctx, f))
				return err
			}))
		})
		return
	}
	g.line("unpacking %s", base)
	defer fail.At("unpack " + base)
	unpackInto(ctx, file, s.keep, target)
}

// Tiny ImageNet has the most members (120,609), EMNIST the most bytes (0.6 GB).
var archiveLimits = archive.Limits{Bytes: 4 << 30, Members: 500_000}

// unpackInto unpacks an archive into a temporary folder in target, which may be a link to another disk, and moves the files
// to their places. A process that was killed has left that folder behind: nobody else unpacks for target as long as this one
// has the lock.
func unpackInto(ctx context.Context, file string, keep func(string) (string, bool), target string) {
	tmp := filepath.Join(target, ".unpack")
	fail.If(os.RemoveAll(tmp))
	fail.If(os.MkdirAll(tmp, 0o777))
	defer os.RemoveAll(tmp)
	fail.If(archive.Unpack(ctx, file, keep, tmp, archiveLimits))
	fail.If(filepath.WalkDir(tmp, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := target + strings.TrimPrefix(p, tmp)
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		return os.Rename(p, to)
	}))
}
