package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/archive"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// A member is what a test puts into an archive.
type member struct {
	name, link string
	data       []byte
	kind       byte
	mode       int64 // 0o644 if it is 0
}

func tarOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	w := tar.NewWriter(z)
	for _, m := range members {
		must.Do(t, w.WriteHeader(&tar.Header{Name: m.name, Linkname: m.link, Size: int64(len(m.data)), Mode: m.perm(),
			Typeflag: m.kind}))
		w.Write(m.data)
	}
	w.Close()
	z.Close()
	return buf.Bytes()
}

func zipOf(t *testing.T, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, m := range members {
		h := &zip.FileHeader{Name: m.name, Method: zip.Deflate}
		h.SetMode(fs.FileMode(m.perm()))
		if m.kind == tar.TypeSymlink {
			h.SetMode(os.ModeSymlink | 0o777)
		}
		f := must.Get(w.CreateHeader(h))(t)
		f.Write(m.data)
	}
	w.Close()
	return buf.Bytes()
}

func (m member) perm() int64 {
	if m.mode == 0 {
		return 0o644
	}
	return m.mode
}

func keepToy(name string) (string, bool) { return strings.CutPrefix(name, "toy/") }

func keepAll(name string) (string, bool) { return name, true }

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, data, 0o600))
}

func TestUnpack(t *testing.T) {
	members := []member{
		{name: "toy/a", data: []byte("a")}, {name: "toy/deep/er/b", data: []byte("b")},
		{name: "toy/bin/tool", data: []byte("c"), mode: 0o755}, {name: "other/d", data: []byte("d")},
	}
	for format, data := range map[string][]byte{".tar.gz": tarOf(t, members...), ".zip": zipOf(t, members...)} {
		t.Run(format, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "archive")
			writeFile(t, file, data)
			some, all := t.TempDir(), t.TempDir()
			must.Do(t, archive.Unpack(t.Context(), file, keepToy, some, archive.Limits{100, 4}))
			must.Do(t, archive.Unpack(t.Context(), file, keepAll, all, archive.Limits{100, 4}))
			for path, want := range map[string]string{
				some + "/a": "a", some + "/deep/er/b": "b", some + "/bin/tool": "c", some + "/d": "", all + "/toy/a": "a",
				all + "/other/d": "d",
			} {
				if got, err := os.ReadFile(path); string(got) != want || (err == nil) != (want != "") {
					t.Errorf("%s holds %q, %v", path, got, expect.Text(err))
				}
			}
			for path, want := range map[string]bool{some + "/a": false, some + "/bin/tool": true} {
				if info, err := os.Stat(path); err != nil || (info.Mode()&0o100 != 0) != want {
					t.Errorf("%s has mode %v, %v", path, info.Mode(), expect.Text(err))
				}
			}
		})
	}
}

func TestUnpackRefuses(t *testing.T) {
	most := archive.Limits{Bytes: 100, Members: 3}
	small := member{name: "toy/a", data: []byte("a")}
	for name, members := range map[string][]member{
		"escape sequence": {{name: "toy/../../\x1b[2J"}},
		"up":              {{name: "../evil"}},
		"up inside":       {{name: "toy/../../evil"}},
		"absolute":        {{name: "/evil"}},
		"symbolic link":   {{name: "toy/l", link: "/etc", kind: tar.TypeSymlink}},
		"hard link, tar":  {small, {name: "toy/l", link: "toy/a", kind: tar.TypeLink}},
		"device, tar":     {{name: "toy/d", kind: tar.TypeChar}},
		"twice":           {small, small},
		"too large":       {{name: "toy/big", data: make([]byte, most.Bytes+1)}},
		"too many":        {small, {name: "b"}, {name: "c"}, {name: "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			archives := map[string][]byte{".tar.gz": tarOf(t, members...)}
			if !strings.HasSuffix(name, "tar") {
				archives[".zip"] = zipOf(t, members...)
			}
			for kind, data := range archives {
				parent := t.TempDir()
				dir, file := filepath.Join(parent, "in"), filepath.Join(parent, "archive")
				writeFile(t, file, data)
				must.Do(t, os.Mkdir(dir, 0o755))
				if err := archive.Unpack(t.Context(), file, keepAll, dir, most); err == nil ||
					strings.Contains(err.Error(), "\x1b") {
					t.Errorf("%s%s: error %q", name, kind, expect.Text(err))
				}
				if found, _ := filepath.Glob(filepath.Join(parent, "*vil*")); len(found) > 0 {
					t.Errorf("%s%s: wrote %v", name, kind, found)
				}
			}
		})
	}
}

func TestUnpackBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1000)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	whole := tarOf(t, member{name: "toy/a", data: data})
	dir := t.TempDir()
	for name, data := range map[string][]byte{"empty": nil, "nonsense": []byte("nonsense"), "cut": whole[:len(whole)/2]} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(dir, name)
			writeFile(t, file, data)
			if err := archive.Unpack(t.Context(), file, keepToy, t.TempDir(),
				archive.Limits{Bytes: 1 << 20, Members: 10}); err == nil {
				t.Error("no error")
			}
		})
	}
}
