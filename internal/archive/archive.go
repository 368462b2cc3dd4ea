// Package archive unpacks archives from untrusted sources. It writes nothing outside of one folder, no links, and no
// more than is allowed. Begin with [Unpack].
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
	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/printable"
)

// Limits say how much an archive may hold. What its headers claim does not count.
type Limits struct {
	Bytes   int64
	Members int
}

// Unpack writes regular files of an archive, which is a .zip or a .tar.gz, to the folder dir. keep says which members to write,
// and under which names. If such a name leads out of the folder, or if a member is a link or a device, Unpack returns an error
// and unpacks no more.
func Unpack(ctx context.Context, archive string, keep func(member string) (string, bool), dir string, most Limits) error {
	return printable.Error(fail.Tried(func() {
		root := fail.Or(os.OpenRoot(dir))
		defer root.Close()
		u := &unpacker{ctx, root, keep, most}
		z, err := zip.OpenReader(archive)
		if errors.Is(err, zip.ErrFormat) {
			u.tarGzip(archive)
			return
		}
		fail.If(err)
		defer z.Close()
		for _, m := range z.File {
			u.member(m.Name, m.Mode(), m.Open)
		}
	}))
}

type unpacker struct {
	ctx  context.Context
	root *os.Root
	keep func(string) (string, bool)
	left Limits
}

func (u *unpacker) tarGzip(archive string) {
	f := fail.Or(os.Open(archive))
	defer f.Close()
	for t := tar.NewReader(fail.Or(gzip.NewReader(f))); ; {
		h, err := t.Next()
		if err == io.EOF {
			return
		}
		fail.If(err)
		mode := h.FileInfo().Mode()
		if h.Typeflag == tar.TypeLink { // a hard link looks like a regular file
			mode |= fs.ModeIrregular
		}
		u.member(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(t), nil })
	}
}

// member writes one member to a new file, if it is wanted. An executable file stays executable. The caller gives the folder its
// final name only when it is complete, so single files need not be written under temporary names.
func (u *unpacker) member(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) {
	defer fail.At(fmt.Sprintf("member %q", name))
	fail.If(u.ctx.Err())
	u.left.Members--
	fail.When(u.left.Members < 0, "the archive has more members than it should: refused")
	to, ok := u.keep(path.Clean(name))
	if !ok || mode.IsDir() {
		return
	}
	fail.When(!mode.IsRegular(), "it is a link or a special file: refused")
	r := fail.Or(open())
	defer r.Close()
	fail.If(u.root.MkdirAll(path.Dir(to), 0o777))
	f := fail.Or(u.root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666|mode&0o111))
	n, err := io.Copy(f, io.LimitReader(ctxio.Reader(u.ctx, r), u.left.Bytes+1))
	fail.If(cmp.Or(err, f.Close()))
	u.left.Bytes -= n
	fail.When(u.left.Bytes < 0, "the archive unpacks to more than it should: refused")
}
