package datasets

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
)

func TestOpenMissing(t *testing.T) {
	dir := t.TempDir()
	for _, i := range List() {
		if len(i.Files) == 0 {
			continue
		}
		_, err := Open(t.Context(), i.Name, Options{Dir: dir})
		if !errors.Is(err, ErrMissing) || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: error %v: want ErrMissing", i.Name, err)
			continue
		}
		for _, want := range []string{dir, "pcl data fetch " + i.Name, envDir, filepath.Dir(i.Files[0].Path)} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %q does not name %s", i.Name, err, want)
			}
		}
	}
}

func TestOpenSuggestsTest80(t *testing.T) {
	dir := t.TempDir()
	fakeIDX(t, dir, "emnist/emnist-byclass-test", 62*5, 62)
	fakeIDX(t, dir, "mnist/t10k", 50, 10)
	for _, name := range []string{"emnist-byclass", "mnist"} {
		_, err := Open(t.Context(), name, Options{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), name+"-test80") || strings.Contains(err.Error(), "test-images") {
			t.Errorf("%s: error %v: want only training files missing and %s-test80 suggested", name, err, name)
		}
		d, err := Open(t.Context(), name+"-test80", Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		if d.Train.Len() != 4*len(d.Classes) || d.Test.Len() != len(d.Classes) {
			t.Errorf("%s: %d train and %d test images of %d classes: want 4 and 1 of each", d.Name, d.Train.Len(), d.Test.Len(), len(d.Classes))
		}
		if !strings.Contains(d.Title, "80/20") || !strings.Contains(d.Note, "official test file") {
			t.Errorf("%s must say what it is: %q, %q", d.Name, d.Title, d.Note)
		}
	}
}

func TestOpenUnknown(t *testing.T) {
	for _, f := range []func() error{
		func() error { _, err := Open(t.Context(), "nist", Options{}); return err },
		func() error { _, err := Verify(t.Context(), "nist", Options{}); return err },
		func() error { _, err := MissingFiles("nist", Options{}); return err },
		func() error { return Fetch(t.Context(), "nist", Options{}) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "tiny-imagenet") {
			t.Errorf("error %v: want one that lists the names", err)
		}
	}
}

func TestOpenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, "glyphs", Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want context.Canceled", err)
	}
	if _, err := Verify(ctx, "tiny-imagenet", Options{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want context.Canceled", err)
	}
}

func TestOpenGlyphs(t *testing.T) {
	d, err := Open(t.Context(), "glyphs", Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Len() != 24800 || d.Test.Len() != 4960 || len(d.Classes) != 62 {
		t.Errorf("%d train and %d test images of %d classes", d.Train.Len(), d.Test.Len(), len(d.Classes))
	}
	want, err := glyphs.Render(glyphs.Config{Seed: 3}, glyphs.Test, 61, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(d.Image(&d.Test, 2*62+61), want) || d.Classes[61] != "z" {
		t.Error("image 185 of the test split is not the third z of seed 3")
	}
}

func TestValidate(t *testing.T) {
	good := func() *Dataset {
		s := Split{Pixels: make([]uint8, 8), Labels: []int32{0, 1}}
		return &Dataset{Name: "toy", Height: 2, Width: 2, Channels: 1, Classes: []string{"a", "b"}, Train: s, Test: Split{Pixels: make([]uint8, 4), Labels: []int32{1}}}
	}
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(d *Dataset){
		"image size":              func(d *Dataset) { d.Channels = 2 },
		"no classes":              func(d *Dataset) { d.Classes = nil },
		"test split is empty":     func(d *Dataset) { d.Test = Split{} },
		"want 8":                  func(d *Dataset) { d.Train.Pixels = d.Train.Pixels[:7] },
		"test label 0 is -1":      func(d *Dataset) { d.Test.Labels = []int32{-1} },
		"train label 1 is 2: wan": func(d *Dataset) { d.Train.Labels = []int32{0, 2} },
	} {
		d := good()
		spoil(d)
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: want one with %q", err, want)
		}
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv(envDir, "somewhere")
	if dir, err := DefaultDir(); err != nil || dir != "somewhere" {
		t.Errorf("%q, error %v: want the environment's", dir, err)
	}
	t.Setenv(envDir, "")
	t.Setenv("HOME", t.TempDir())
	if dir, err := DefaultDir(); err != nil || !strings.HasSuffix(filepath.ToSlash(dir), "parallelcl/data") {
		t.Errorf("%q, error %v: want parallelcl/data in the cache folder", dir, err)
	}
}

func TestList(t *testing.T) {
	list := List()
	if list[0].Name != "glyphs" {
		t.Errorf("first is %q: want the default set", list[0].Name)
	}
	for _, i := range list {
		if i.Title == "" || i.Source == "" || i.Licence == "" || i.Cite == "" || i.Classes == 0 {
			t.Errorf("%s: incomplete: %+v", i.Name, i)
		}
		for _, s := range i.Downloads {
			if s.Bytes == 0 || len(s.SHA256) != 64 || !strings.HasPrefix(s.URL, "https://") || s.SumFrom == "" || s.folder == "" {
				t.Errorf("%s: incomplete download %+v", i.Name, s)
			}
		}
		for _, f := range i.Files {
			if f.MD5 != "" && len(f.sum()) != 64 {
				t.Errorf("%s has an MD5 only", f.Path)
			}
		}
		if (len(i.Files) == 0) != (i.DownloadBytes() == 0) {
			t.Errorf("%s has %d files and %d bytes of downloads", i.Name, len(i.Files), i.DownloadBytes())
		}
	}
	read := slices.IndexFunc(list, func(i Info) bool { return len(i.Files) > 0 })
	list[read].Files[0].Path = "changed"
	if List()[read].Files[0].Path == "changed" {
		t.Error("List hands out the catalogue itself")
	}
}

func TestKeep(t *testing.T) {
	for _, c := range []struct {
		keep         func(string) (string, bool)
		member, want string
	}{
		{keepEMNIST, "gzip/emnist-byclass-test-labels-idx1-ubyte.gz", "emnist-byclass-test-labels-idx1-ubyte.gz"},
		{keepEMNIST, "gzip/emnist-letters-test-labels-idx1-ubyte.gz", ""},
		{keepEMNIST, "__MACOSX/gzip/emnist-byclass-mapping.txt", ""},
		{keepTiny, "tiny-imagenet-200/val/images/val_0.JPEG", "val/images/val_0.JPEG"},
		{keepTiny, "tiny-imagenet-200/test/images/test_0.JPEG", ""},
	} {
		got, ok := c.keep(c.member)
		if ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s: %q, %v: want %q", c.member, got, ok, c.want)
		}
	}
}

// realData returns the folder of real data, or skips.
func realData(t testing.TB, name string) Options {
	t.Helper()
	dir := os.Getenv(envDir)
	if dir == "" {
		t.Skipf("set %s to a folder with %s to run this test", envDir, name)
	}
	missing, err := MissingFiles(name, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	missing = slices.DeleteFunc(missing, func(f string) bool { return strings.Contains(f, "data_batch_") }) // a subset will do
	if len(missing) > 0 {
		t.Skipf("%s is not in $%s: no %s", name, envDir, missing[0])
	}
	return Options{Dir: dir}
}

func openReal(t testing.TB, name string) *Dataset {
	t.Helper()
	o := realData(t, name)
	d, err := Open(t.Context(), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestRealEMNISTUpright looks at the mean L: upright it has ink at the lower left and the lower
// right, and none at the upper right. Transposed the corners would change places.
func TestRealEMNISTUpright(t *testing.T) {
	d := openReal(t, "emnist-byclass-test80")
	if d.Train.Len()+d.Test.Len() != 116323 {
		t.Errorf("%d images: want all 116,323 of the official test file", d.Train.Len()+d.Test.Len())
	}
	var ink [2][2]int
	for i, l := range d.Train.Labels {
		if d.Classes[l] != "L" {
			continue
		}
		for k, p := range d.Image(&d.Train, i) {
			ink[k/28/14][k%28/14] += int(p)
		}
	}
	if ink[0][1]*2 > ink[1][0] || ink[0][1]*2 > ink[1][1] {
		t.Errorf("ink of the mean L by quarter: %v: want the upper right nearly empty", ink)
	}
}

func TestRealCounts(t *testing.T) {
	for _, c := range []struct {
		name          string
		perClass      bool // every class has equally many test images
		trainLo, test int
	}{
		{name: "mnist-test80", trainLo: 7990, test: 2000},
		{name: "cifar-10", perClass: true, trainLo: 10000},
		{name: "cifar-100", perClass: true, trainLo: 50000, test: 10000},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openReal(t, c.name)
			counts := make([]int, len(d.Classes))
			for _, l := range d.Test.Labels {
				counts[l]++
			}
			if lo, hi := slices.Min(counts), slices.Max(counts); lo == 0 || c.perClass && lo != hi {
				t.Errorf("test images per class: %d to %d", lo, hi)
			}
			if d.Train.Len() < c.trainLo || c.test > 0 && d.Test.Len() != c.test {
				t.Errorf("%d train and %d test images", d.Train.Len(), d.Test.Len())
			}
		})
	}
}

func TestRealTinyImageNet(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes 50,000 JPEGs: not in -short")
	}
	d := openReal(t, "tiny-imagenet")
	if d.Test.Len() != 10000 || d.Train.Len() < 200 {
		t.Errorf("%d train and %d test images", d.Train.Len(), d.Test.Len())
	}
	if !slices.Contains(d.Classes, "goldfish") {
		t.Error("no class is called goldfish")
	}
}

func TestRealVerify(t *testing.T) {
	o := realData(t, "cifar-100")
	r, err := Verify(t.Context(), "cifar-100", o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
	if r.Files[0].Status != OK {
		t.Errorf("train.bin is %s: want ok", r.Files[0].Status)
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, name := range []string{"glyphs", "emnist-byclass-test80", "cifar-100", "tiny-imagenet"} {
		b.Run(name, func(b *testing.B) {
			var o Options
			if name != "glyphs" {
				o = realData(b, name)
			}
			for b.Loop() {
				if _, err := Open(b.Context(), name, o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestInspectCancelled: what was stopped is an error and no set without a name.
func TestInspectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"glyphs", "mnist"} {
		if i, err := Inspect(ctx, name, Options{Dir: t.TempDir()}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %+v, error %v", name, i, err)
		}
	}
}
