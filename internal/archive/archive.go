// Package archive unpacks archives from untrusted sources. It writes nothing outside of one folder,
// no links, and no more than is allowed. Begin with [Unpack].
package archive

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/parallelcl/parallelcl/internal/ctxio"
	"github.com/parallelcl/parallelcl/internal/printable"
	"github.com/parallelcl/parallelcl/internal/regular"
)

// Limits say how much an archive may hold. Sizes claimed in its headers do not count.
type Limits struct {
	Bytes   int64
	Members int
}

// Unpack writes regular files of an archive, which is a .zip or a .tar.gz, to the folder dir. keep
// says which members to write, and under which names. If such a name leads out of the folder, or if
// a member is a link or a device, Unpack returns an error and unpacks no more.
func Unpack(ctx context.Context, archive string, keep func(member string) (string, bool), dir string,
	most Limits) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return printable.Error(err)
	}
	defer root.Close()
	u := &unpacker{ctx, root, keep, most}
	return printable.Error(u.unpack(archive))
}

type unpacker struct {
	ctx  context.Context
	root *os.Root
	keep func(string) (string, bool)
	left Limits
}

func (u *unpacker) unpack(archive string) error {
	z, err := zip.OpenReader(archive)
	if errors.Is(err, zip.ErrFormat) {
		return u.tarGzip(archive)
	}
	if err != nil {
		return err
	}
	defer z.Close()
	for _, m := range z.File {
		if err := u.member(m.Name, m.Mode(), m.Open); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tarGzip(archive string) error {
	f, err := regular.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
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

// member writes one member to a new file, if it is wanted. An executable file stays executable. The
// caller gives the folder its final name only when it is complete, so single files need not be
// written under temporary names.
func (u *unpacker) member(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	if err := u.ctx.Err(); err != nil {
		return err
	}
	if u.left.Members--; u.left.Members < 0 {
		return errors.New("the archive has more members than it should: refused")
	}
	to, ok := u.keep(path.Clean(name))
	if !ok || mode.IsDir() {
		return nil
	}
	if err := u.write(to, mode, open); err != nil {
		return fmt.Errorf("member %q: %w", name, err)
	}
	return nil
}

func (u *unpacker) write(to string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	if !mode.IsRegular() {
		return errors.New("it is a link or a special file: refused")
	}
	r, err := open()
	if err != nil {
		return err
	}
	defer r.Close()
	if err := u.root.MkdirAll(path.Dir(to), 0o777); err != nil {
		return err
	}
	f, err := u.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666|mode&0o111)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(ctxio.Reader(u.ctx, r), u.left.Bytes+1))
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	if u.left.Bytes -= n; u.left.Bytes < 0 {
		return errors.New("the archive unpacks to more than it should: refused")
	}
	return nil
}
