package report_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz/report"
)

// TestPicturesLieInTheNotebooksFolder lets a notebook name files that are not its own, in all ways.
func TestPicturesLieInTheNotebooksFolder(t *testing.T) {
	dot := must.Get(os.ReadFile("testdata/dot.png"))(t)
	dir := t.TempDir()
	folder := filepath.Join(dir, "a", "notebooks")
	must.Do(t, os.MkdirAll(filepath.Join(folder, "pictures"), 0o755))
	secret := append(bytes.Clone(dot), "the secret's own end"...)
	for name, data := range map[string][]byte{
		filepath.Join(dir, "secret.png"): secret, filepath.Join(dir, "a", "secret.png"): secret,
		filepath.Join(folder, "pictures", "own.png"): dot, filepath.Join(folder, "words.png"): []byte("root:x:0:0:root"),
		filepath.Join(folder, "cut.png"): dot[:len(dot)-20], filepath.Join(folder, "bomb.png"): bomb(dot),
	} {
		must.Do(t, os.WriteFile(name, data, 0o600))
	}
	sparse := must.Get(os.Create(filepath.Join(folder, "large.png")))(t)
	must.Do(t, sparse.Truncate(1<<30))
	sparse.Close()
	links := map[string]string{"out.png": filepath.Join("..", "..", "secret.png"), "absolute.png": filepath.Join(dir, "secret.png"), "up": "..", "in.png": filepath.Join("pictures", "own.png")}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("links need a privilege that this account lacks")
			}
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{ // part of the error; empty where the picture is the notebook's
		"pictures/own.png": "", "./pictures/../pictures/own.png": "", "in.png": "", "pictures%2fown.png": "",
		"../secret.png": "escapes", "../../secret.png": "escapes", "pictures/../../secret.png": "escapes", "%2e%2e/secret.png": "escapes",
		"..%2Fsecret.png": "escapes", "out.png": "escapes", "absolute.png": "escapes", "up/secret.png": "escapes",
		filepath.ToSlash(filepath.Join(dir, "secret.png")): "would be loaded from elsewhere", "file:" + filepath.ToSlash(dir) + "/secret.png": "would be loaded from elsewhere",
		"..%5Csecret.png": "", "words.png": "no known kind", "cut.png": "unexpected EOF", "large.png": "up to 32 MB", "bomb.png": "pixels",
		"pictures": "it is no file", ".": "it is no file", "/dev/zero": "would be loaded from elsewhere", "none.png": "none.png",
	} {
		if strings.Contains(name, "%5C") {
			want = "..\\secret.png" // a name of its own where \ is no separator, and outside where it is one
			if runtime.GOOS == "windows" {
				want = "escapes"
			}
		}
		for _, cell := range []map[string]any{markdownCell("![x](<" + name + ">)"), markdownCell(`<img src="` + name + `">`), htmlCell(`<img src="` + name + `">`)} {
			path := filepath.Join(folder, "one.ipynb")
			data, err := os.ReadFile(notebookOf(t, cell).File)
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, os.WriteFile(path, data, 0o644))
			var buf bytes.Buffer
			err = readNotebook(t, path).Write(t.Context(), &buf, origin)
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: %v; want an error with %q", name, err, want)
			}
			if shown := base64.StdEncoding.EncodeToString(dot); want == "" && !strings.Contains(buf.String(), shown) {
				t.Errorf("%s: the notebook's own picture is not in the page", name)
			}
			if strings.Contains(buf.String(), base64.StdEncoding.EncodeToString(secret)) {
				t.Errorf("%s: the secret is in the page", name)
			}
		}
	}
}

// bomb is a PNG that says it has 50,000 × 50,000 pixels.
func bomb(png []byte) []byte {
	b := bytes.Clone(png)
	binary.BigEndian.PutUint32(b[16:], 50_000)
	binary.BigEndian.PutUint32(b[20:], 50_000)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// TestLargeNotebooksAreRefused gives files that would take more memory than there is.
func TestLargeNotebooksAreRefused(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.ipynb")
	f := must.Get(os.Create(large))(t)
	if err := f.Truncate(1 << 40); err != nil {
		t.Skipf("no file system for sparse files: %v", err)
	}
	f.Close()
	many := filepath.Join(t.TempDir(), "many.ipynb")
	must.Do(t, os.WriteFile(many, []byte(`{"nbformat":4,"cells":[`+strings.Repeat("{},", 200_000)+"{}]}"), 0o644))
	deep := filepath.Join(t.TempDir(), "deep.ipynb")
	must.Do(t, os.WriteFile(deep, []byte(`{"nbformat":4,"cells":`+strings.Repeat("[", 1_000_000)), 0o644))
	shown := filepath.Join(t.TempDir(), "shown.ipynb")
	cell := `{"outputs":[` + strings.Repeat("{},", 49_999) + `{}]}`
	must.Do(t, os.WriteFile(shown, []byte(`{"nbformat":4,"cells":[`+cell+","+cell+","+cell+"]}"), 0o644))
	for path, want := range map[string]string{
		large: "larger than 256 MB", many: "more than 100000 entries", deep: "exceeded max depth", shown: "more than 100000 outputs",
	} {
		if _, err := report.ReadNotebook(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want an error with %q", err, want)
		}
	}
}

// TestReportsStop ends the context before the page is made.
func TestReportsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := readNotebook(t, "testdata/small.ipynb")
	files := must.Get(report.FindRuns(runsFolder(t, sampleRuns())))(t)
	dir := t.TempDir()
	var buf bytes.Buffer
	for what, err := range map[string]error{
		"a page": n.Write(ctx, &buf, origin), "a site": report.Site(ctx, dir, "a", []*report.Notebook{n}, origin),
		"runs": report.Runs(ctx, &buf, report.RunsInput{Files: files, Origin: origin}),
	} {
		if err == nil {
			t.Errorf("%s: %v; want that the context ended", what, err)
		}
	}
	left, err := os.ReadDir(dir)
	if buf.Len() > 0 || len(left) > 0 || err != nil {
		t.Errorf("%d bytes and %d files were written all the same", buf.Len(), len(left))
	}
}
