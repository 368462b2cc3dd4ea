package datasets

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Fetch downloads the official files of a set into the data folder and verifies them; where they
// are already there and whole it does nothing. A broken or cancelled download leaves its first
// part in the downloads folder and the next Fetch goes on from there. Two processes that fetch the
// same set wait for each other. A copy of the publisher's file that lies in the downloads folder of
// the data folder is taken instead of a download. A generated set needs nothing.
func Fetch(ctx context.Context, name string, o Options) error {
	e, err := find(name)
	if err != nil {
		return err
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

func fetch(ctx context.Context, e *entry, dir string, g *getter) error {
	downloads := filepath.Join(dir, "downloads")
	if err := os.MkdirAll(downloads, 0o755); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(downloads, e.Downloads[0].folder+".lock"), e.Name, g.progress)
	if err != nil {
		return err
	}
	defer unlock()
	before, err := e.verify(ctx, dir)
	if err != nil {
		return err
	}
	if before.Complete() {
		g.progress.line("%s is complete in %s", e.Name, dir)
		return nil
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
	g.progress.line("%s is complete in %s", e.Name, dir)
	return nil
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

// fetchSource downloads one file and puts it, or what it holds, in its folder.
func fetchSource(ctx context.Context, s Source, dir, downloads string, g *getter) error {
	base := path.Base(s.URL)
	part := filepath.Join(downloads, base+".part")
	if byHand := filepath.Join(downloads, base); fileSize(byHand) == s.Bytes {
		if err := os.Rename(byHand, part); err != nil {
			return err
		}
	}
	if err := g.get(ctx, s, part); err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w; a copy of the file put by hand into %s is used, too", err, downloads)
	}
	if err := checkSum(ctx, part, s.MD5, ""); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		forget(part)
		return fmt.Errorf("%s: %w: the download was deleted, fetch again; if that does not help the publisher changed the file", s.URL, err)
	}
	target := filepath.Join(dir, s.folder)
	if s.keep == nil {
		if err := os.MkdirAll(target, 0o755); err != nil {
			return err
		}
		if err := os.Rename(part, filepath.Join(target, base)); err != nil {
			return err
		}
		forget(part)
		return nil
	}
	g.progress.line("unpacking %s", base)
	if err := unpackInto(ctx, part, archiveKind(base), s.keep, target); err != nil {
		return fmt.Errorf("unpack %s: %w", base, err)
	}
	forget(part)
	return nil
}

// unpackInto unpacks an archive into a temporary folder and moves the result to target in one
// rename, or file by file where target is there already.
func unpackInto(ctx context.Context, archive string, kind archiveFormat, keep func(string) (string, bool), target string) error {
	tmp, err := os.MkdirTemp(filepath.Dir(target), ".unpack-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := unpack(ctx, archive, kind, keep, tmp, defaultLimits); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(target); os.IsNotExist(err) {
		return os.Rename(tmp, target)
	}
	return filepath.WalkDir(tmp, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(tmp, p)
		if err != nil {
			return err
		}
		to := filepath.Join(target, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		return os.Rename(p, to)
	})
}

func archiveKind(name string) archiveFormat {
	if strings.HasSuffix(name, ".zip") {
		return zipArchive
	}
	return tarGzip
}

// lock takes the lock file at path, waiting for another process that has it. The operating system
// frees the lock of a process that dies, so that none is ever stale.
func lock(ctx context.Context, path, name string, p progress) (unlock func(), err error) {
	l := flock.New(path)
	ok, err := l.TryLock()
	if err == nil && !ok {
		p.line("another process is fetching %s: waiting for it", name)
		ok, err = l.TryLockContext(ctx, 100*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if !ok {
		return nil, fmt.Errorf("lock %s: not obtained", path)
	}
	return func() { l.Unlock() }, nil
}
