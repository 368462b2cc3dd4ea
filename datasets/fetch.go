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
	"strings"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/atomicfile"
	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/internal/filelock"
)

// Fetch downloads the official files of a set into the data folder and verifies them; if they are there
// already and complete, it does nothing. An interrupted download leaves its first part in the downloads
// folder, and the next Fetch continues from there. Two processes that fetch the same set wait for each other.
// A copy of the publisher's file in the downloads folder of the data folder is used instead of a download,
// and stays there. A generated set needs no files.
func Fetch(ctx context.Context, name string, o Options) error {
	e, err := find(name)
	if err != nil {
		return err
	}
	if Own(name) {
		progress{o.Progress}.line("%s are your own files: nothing to fetch", name)
		return nil
	}
	if len(e.Downloads) == 0 {
		progress{o.Progress}.line("%s is generated: nothing to fetch", name)
		return nil
	}
	dir, err := o.dir()
	if err != nil {
		return err
	}
	if err := fetch(ctx, e, dir, newGetter(progress{o.Progress})); err != nil {
		return fmt.Errorf("datasets: fetch %s: %w", name, err)
	}
	return nil
}

// progress reports to a writer; to nothing where w is nil.
type progress struct{ w io.Writer }

func (p progress) line(format string, args ...any) {
	if p.w != nil {
		fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// A getter downloads, and says so.
type getter struct {
	progress
	*download.Client
}

func newGetter(p progress) *getter {
	return &getter{p, download.New(p.w)}
}

func fetch(ctx context.Context, e *entry, dir string, g *getter) error {
	downloads := filepath.Join(dir, "downloads")
	unlock, barred := enter(ctx, downloads, e, g.progress)
	if barred == nil {
		defer unlock()
	}
	before, err := e.verify(ctx, dir)
	if err != nil {
		return err
	}
	if before.Complete() { // also where this user may not write anything
		g.line("%s is complete in %s", e.Name, dir)
		return nil
	}
	if barred != nil {
		return barred
	}
	for _, s := range e.Downloads {
		if before.whole(s.folder + "/" + path.Base(s.URL)) {
			continue
		}
		if err := fetchSource(ctx, s, dir, downloads, g); err != nil {
			return err
		}
	}
	after, err := e.verify(ctx, dir)
	if err != nil {
		return err
	}
	if err := after.Err(); err != nil {
		return fmt.Errorf("the download does not hold what it should: %w", err)
	}
	g.line("%s is complete in %s", e.Name, dir)
	return nil
}

// enter takes the lock of a set in the folder of downloads, which it creates.
func enter(ctx context.Context, downloads string, e *entry, p progress) (unlock func(), err error) {
	return filelock.Wait(ctx, filepath.Join(downloads, e.Downloads[0].folder+".lock"), func() { p.line("another process is fetching %s: waiting for it", e.Name) })
}

// whole reports whether a file was found and needs no download.
func (r Report) whole(path string) bool {
	for _, f := range r.Files {
		if f.Path == path {
			return f.Status == OK || f.Status == Readable
		}
	}
	return false
}

// fetchSource puts what one download holds in its folder: from the copy of it that the user has put
// beside ours, or from a download.
func fetchSource(ctx context.Context, s Source, dir, downloads string, g *getter) error {
	base := path.Base(s.URL)
	file := filepath.Join(downloads, base)
	wrong := checkDownload(ctx, s, file)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrong == nil {
		return place(ctx, s, file, dir, g)
	}
	hint := fmt.Sprintf("a copy of the file put by hand into %s is used, too", downloads)
	if !errors.Is(wrong, fs.ErrNotExist) {
		hint = fmt.Sprintf("the file that lies at %s is not the publisher's (%v): it was left alone; put the right one in its place, or move it away", file, wrong)
		g.line("%s", hint)
	}
	part := file + ".part"
	if err := g.To(ctx, download.File{URL: s.URL, Bytes: s.Bytes, SHA256: s.SHA256}, part); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w; %s", err, hint)
	}
	if err := place(ctx, s, part, dir, g); err != nil {
		return err
	}
	os.Remove(part)
	return nil
}

// checkDownload tells whether a file is the publisher's, without an opinion on what to do if not.
func checkDownload(ctx context.Context, s Source, file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if info.Size() != s.Bytes {
		return fmt.Errorf("it has %d bytes, the official file %d", info.Size(), s.Bytes)
	}
	return checkSum(ctx, file, s.SHA256)
}

// place puts a file, or what it holds, in the folder of its set. The file stays: it may be the user's.
func place(ctx context.Context, s Source, file, dir string, g *getter) error {
	target, base := filepath.Join(dir, s.folder), path.Base(s.URL)
	if s.keep == nil {
		return copyFile(ctx, file, filepath.Join(target, base))
	}
	g.line("unpacking %s", base)
	if err := unpackInto(ctx, file, s.keep, target); err != nil {
		return fmt.Errorf("unpack %s: %w", base, err)
	}
	return nil
}

func copyFile(ctx context.Context, from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Write(to, func(w io.Writer) error {
		_, err := io.Copy(w, ctxio.Reader(ctx, f))
		return err
	})
}

// Tiny ImageNet has the most members (120,609), EMNIST the most bytes (0.6 GB).
var archiveLimits = archive.Limits{Bytes: 4 << 30, Members: 500_000}

// unpackInto unpacks an archive into a temporary folder and moves the result to target in one
// rename, or file by file where target is there already.
func unpackInto(ctx context.Context, file string, keep func(string) (string, bool), target string) error {
	tmp, err := unpackFolder(target)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	whole := filepath.Join(tmp, "whole") // the folder around it is nobody else's to read
	if err := os.Mkdir(whole, 0o777); err != nil {
		return err
	}
	if err := archive.Unpack(ctx, file, keep, whole, archiveLimits); err != nil {
		return err
	}
	if _, err := os.Stat(target); os.IsNotExist(err) {
		return os.Rename(whole, target)
	}
	return filepath.WalkDir(whole, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(whole, p)
		if err != nil {
			return err
		}
		to := filepath.Join(target, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		return os.Rename(p, to)
	})
}

// unpackFolder makes the temporary folder in which what target is to hold is unpacked: on the same disk, for which target may
// be a link. It removes those that processes which were killed have left behind; nobody else unpacks for target as long
// as this process has the lock.
func unpackFolder(target string) (string, error) {
	prefix := ".unpack-" + filepath.Base(target) + "-"
	at := filepath.Dir(target)
	for _, dir := range []string{at, target} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // there is no target yet
		}
		at = dir
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), prefix) {
				os.RemoveAll(filepath.Join(dir, e.Name()))
			}
		}
	}
	return os.MkdirTemp(at, prefix+"*")
}
