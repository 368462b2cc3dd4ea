// Package archive unpacks archives from untrusted sources. It writes nothing outside of one folder, no links, and no
// more than is allowed. Begin with [Unpack].
package archive

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

	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// A Format is a kind of archive.
type Format int

const (
	TarGzip Format = iota
	Zip
)

// Limits say how much an archive may hold. What its headers claim does not count.
type Limits struct {
	Bytes   int64
	Members int
}

// Unpack writes regular files of an archive to the folder dir. keep says which members to write and under which names;
// if it is nil, all are written under their own names. If the name of a member leads out of the archive or is not
// printable, or if a member is a link or a device, Unpack returns an error and unpacks no more.
func Unpack(ctx context.Context, archive string, format Format, keep func(member string) (string, bool), dir string, most Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if keep == nil {
		keep = func(member string) (string, bool) { return member, true }
	}
	u := &unpacker{ctx: ctx, root: root, keep: keep, left: most}
	if format == Zip {
		return u.zip(archive)
	}
	return u.tarGzip(archive)
}

type unpacker struct {
	ctx  context.Context
	root *os.Root // in addition to the check of names, keeps anything from being written outside of the folder
	keep func(string) (string, bool)
	left Limits
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
	if u.left.Members--; u.left.Members < 0 {
		return errors.New("more members than it should have: refused")
	}
	if printable.Text(name) != name || strings.ContainsAny(name, "\n\t") {
		return fmt.Errorf("member %q has a name that is not printable: refused", name)
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
	if err := u.write(to, mode, r); err != nil {
		return fmt.Errorf("member %q: %w", name, err)
	}
	return nil
}

// write copies one member to a new file. An executable file stays executable. The caller gives the folder its final
// name only when it is complete, so single files need not be written under temporary names.
func (u *unpacker) write(to string, mode fs.FileMode, r io.Reader) (err error) {
	if err := u.root.MkdirAll(path.Dir(to), 0o777); err != nil {
		return err
	}
	f, err := u.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666|mode&0o111)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	n, err := io.Copy(f, io.LimitReader(ctxio.Reader(u.ctx, r), u.left.Bytes+1))
	if u.left.Bytes -= n; err == nil && u.left.Bytes < 0 {
		err = errors.New("the archive unpacks to more than it should: refused")
	}
	return err
}
