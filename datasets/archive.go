package datasets

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

type archiveFormat int

const (
	tarGzip archiveFormat = iota
	zipArchive
)

// limits bound what an archive may hold, whatever its headers claim.
type limits struct {
	bytes   int64
	members int
}

// Tiny ImageNet has the most members (120,609), EMNIST the most bytes (0.6 GB).
var defaultLimits = limits{bytes: 4 << 30, members: 500_000}

// unpack writes the regular files of an archive that keep wants into dir, under the names that
// keep gives them. A member whose name leads out of the archive, or that is a link or a device,
// makes the whole archive refused.
func unpack(ctx context.Context, archive string, kind archiveFormat, keep func(string) (string, bool), dir string, most limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := &unpacker{ctx: ctx, root: root, keep: keep, left: most}
	if kind == zipArchive {
		return u.zip(archive)
	}
	return u.tarGzip(archive)
}

type unpacker struct {
	ctx  context.Context
	root *os.Root // the second guard after the check of names: nothing is written outside
	keep func(string) (string, bool)
	left limits
}

func (u *unpacker) zip(archive string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, m := range z.File {
		err := u.member(m.Name, m.Mode(), func() (io.ReadCloser, error) { return m.Open() })
		if err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tarGzip(archive string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	defer z.Close()
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink { // a hard link looks like a regular file
			mode |= fs.ModeIrregular
		}
		if err := u.member(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			return err
		}
	}
}

// member checks one member and unpacks it if it is wanted.
func (u *unpacker) member(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if u.left.members--; u.left.members < 0 {
		return errors.New("more members than any of the sets has: refused")
	}
	clean := path.Clean(name)
	if !filepath.IsLocal(filepath.FromSlash(clean)) || strings.Contains(name, `\`) || !fs.ValidPath(clean) {
		return fmt.Errorf("member %q leads out of the archive: refused", name)
	}
	if mode.IsDir() {
		return nil
	}
	if !mode.IsRegular() {
		return fmt.Errorf("member %q is a link or a special file: refused", name)
	}
	to, ok := u.keep(clean)
	if !ok {
		return nil
	}
	r, err := open()
	if err != nil {
		return fmt.Errorf("member %q: %w", name, err)
	}
	defer r.Close()
	if err := u.write(to, r); err != nil {
		return fmt.Errorf("member %q: %w", name, err)
	}
	return nil
}

// write copies one member to a new file. The folder becomes visible under its name only when it
// is whole, so that its files need not each be written under another name first.
func (u *unpacker) write(to string, r io.Reader) (err error) {
	if err := u.root.MkdirAll(path.Dir(to), 0o755); err != nil {
		return err
	}
	f, err := u.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(f, io.LimitReader(contextReader{u.ctx, r}, u.left.bytes+1))
	if u.left.bytes -= n; err == nil && u.left.bytes < 0 {
		err = errors.New("the archive unpacks to more than any of the sets has: refused")
	}
	return err
}
