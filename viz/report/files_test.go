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
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/results"
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
		filepath.Join(folder, "bomb.png"): bomb(dot),
	} {
		must.Do(t, os.WriteFile(name, data, 0o600))
	}
	sparse := must.Get(os.Create(filepath.Join(folder, "large.png")))(t)
	must.Do(t, sparse.Truncate(1<<30))
	sparse.Close()
	links := map[string]string{"out.png": filepath.Join("..", "..", "secret.png"),
		"absolute.png": filepath.Join(dir, "secret.png"), "up": "..", "in.png": filepath.Join("pictures", "own.png")}
	for name, to := range links {
		t.Run(name, func(t *testing.T) {
			if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
				if runtime.GOOS == "windows" {
					t.Skip("links need a privilege that this account lacks")
				}
				t.Fatal(err)
			}
		})
	}
	foreign := []string{
		"../secret.png", "../../secret.png", "pictures/../../secret.png", "%2e%2e/secret.png", "..%2Fsecret.png", "out.png",
		"absolute.png", "up/secret.png",
		filepath.ToSlash(filepath.Join(dir, "secret.png")), "file:" + filepath.ToSlash(dir) + "/secret.png",
		"..%5Csecret.png", "../secret.png?x", "words.png",
		"large.png", "bomb.png", "pictures", ".", "/dev/zero", "none.png", "none.png?x",
	}
	own := []string{"pictures/own.png", "./pictures/../pictures/own.png", "in.png", "pictures%2fown.png",
		"pictures/own.png?raw=true", "pictures/own.png#a"}
	for _, name := range append(own, foreign...) {
		for _, cell := range []map[string]any{markdownCell("![x](<" + name + ">)"), markdownCell(`<img src="` + name + `">`),
			htmlCell(`<img src="` + name + `">`)} {
			path := filepath.Join(folder, "one.ipynb")
			data, err := os.ReadFile(notebookOf(t, cell).File)
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, os.WriteFile(path, data, 0o644))
			n := readNotebook(t, path)
			page := notebookPage(t, n)
			shown := strings.Contains(page, base64.StdEncoding.EncodeToString(dot))
			if want := slices.Contains(own, name); shown != want || (len(n.LeftOut) == 0) != want {
				t.Errorf("%s: shown %t, left out %q", name, shown, n.LeftOut)
			}
			if strings.Contains(page, base64.StdEncoding.EncodeToString(secret)) {
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
		large: "larger than 256 MB", many: "more than 100000 cells", deep: "exceeded max depth",
		shown: "more than 100000 cells or outputs",
	} {
		t.Run(path, func(t *testing.T) {
			_, err := report.ReadNotebook(path)
			expect.Refusal(t, "ReadNotebook", err, want)
		})
	}
}

func stopped(_ []string, err error) error { return err }

// TestReportsStop ends the context before the page is made.
func TestReportsStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := readNotebook(t, "testdata/small.ipynb")
	files := must.Get(results.Find(runsFolder(t, sampleRuns())))(t)
	dir := t.TempDir()
	var buf bytes.Buffer
	for what, err := range map[string]error{
		"a page": n.Write(ctx, &buf, origin), "a site": stopped(report.Site(ctx, dir, "a", []*report.Notebook{n}, origin)),
		"runs": report.Runs(ctx, &buf, report.RunsInput{Files: files, Origin: origin}),
	} {
		t.Run(what, func(t *testing.T) {
			if err == nil {
				t.Errorf("%v; want that the context ended", expect.Text(err))
			}
		})
	}
	left, err := os.ReadDir(dir)
	switch {
	case buf.Len() > 0:
		t.Errorf("buf.Len() is %d; want at most 0", buf.Len())
	case len(left) > 0:
		t.Errorf("len(left) is %d; want at most 0", len(left))
	case err != nil:
		t.Error(err)
	}
}
