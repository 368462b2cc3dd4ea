package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/parallelcl/parallelcl/datasets/glyphs"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// TestCatalogue: what List says is complete, and a set whose files are missing says where to get
// them.
func TestCatalogue(t *testing.T) {
	dir := t.TempDir()
	if List()[0].Name != "glyphs" {
		t.Errorf("the first set is %q; want the default one", List()[0].Name)
	}
	for _, i := range List() {
		switch {
		case i.Title == "":
			t.Errorf("%s: i.Title is empty", i.Name)
		case i.Source == "":
			t.Errorf("%s: i.Source is empty", i.Name)
		case i.Licence == "":
			t.Errorf("%s: i.Licence is empty", i.Name)
		case i.Cite == "":
			t.Errorf("%s: i.Cite is empty", i.Name)
		case i.Classes == 0:
			t.Errorf("%s: i.Classes is 0", i.Name)
		case (len(i.Files) == 0) != (len(i.Downloads) == 0):
			t.Errorf("%s: (len(i.Files) == 0) is %t; want %t", i.Name, (len(i.Files) == 0), (len(i.Downloads) == 0))
		}
		for _, s := range i.Downloads {
			switch {
			case s.Bytes == 0:
				t.Errorf("%s: s.Bytes is 0", i.Name)
			case len(s.SHA256) != 64:
				t.Errorf("%s: len(s.SHA256) is %d; want 64", i.Name, len(s.SHA256))
			case !strings.HasPrefix(s.URL, "https://"):
				t.Errorf("%s: s.URL is %q; want %q at its beginning", i.Name, s.URL, "https://")
			case s.SumFrom == "":
				t.Errorf("%s: s.SumFrom is empty", i.Name)
			case s.folder == "":
				t.Errorf("%s: s.folder is empty", i.Name)
			}
		}
		for k, f := range i.Files {
			if f.MD5 != "" && len(f.sum()) != 64 {
				t.Errorf("%s has an MD5 only", f.Path)
			}
			i.Files[k].Path = "changed" // which is not that of the catalogue
		}
		if len(i.Files) == 0 {
			continue
		}
		_, err := Open(t.Context(), i.Name, Options{Dir: dir})
		expect.Refusal(t, i.Name, err, fs.ErrNotExist, dir, "pcl data fetch "+i.Name)
		switch missing, err := MissingFiles(i.Name, Options{Dir: dir}); {
		case err != nil:
			t.Errorf("%s: %v", i.Name, err)
		case len(missing) != len(i.Files):
			t.Errorf("%s: len(missing) is %d; want %d", i.Name, len(missing), len(i.Files))
		case slices.Contains(missing, "changed"):
			t.Errorf("%s: missing are %v, %v", i.Name, missing, err)
		}
	}
}

func TestUnknown(t *testing.T) {
	_, err1 := Open(t.Context(), "nist", Options{})
	_, err2 := Verify(t.Context(), "nist", Options{})
	_, err3 := MissingFiles("nist", Options{})
	_, err4 := Inspect(t.Context(), "nist", Options{})
	for _, err := range []error{err1, err2, err3, err4, Fetch(t.Context(), "nist", Options{})} {
		expect.Refusal(t, "an unknown name", err, ErrName)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := Options{Dir: t.TempDir()}
	_, err1 := Open(ctx, "glyphs", o)
	_, err2 := Verify(ctx, "tiny-imagenet", o)
	_, err3 := Inspect(ctx, "glyphs", o)
	_, err4 := Inspect(ctx, "mnist", o)
	for i, err := range []error{err1, err2, err3, err4} {
		expect.Refusal(t, fmt.Sprintf("call %d", i), err, context.Canceled)
	}
}

func TestGlyphs(t *testing.T) {
	d := must.Get(Open(t.Context(), "glyphs", Options{Seed: 3}))(t)
	switch {
	case d.Train.Len() != 24800:
		t.Errorf("d.Train.Len() is %d; want 24800", d.Train.Len())
	case d.Test.Len() != 4960:
		t.Errorf("d.Test.Len() is %d; want 4960", d.Test.Len())
	case d.Classes[61] != "z":
		t.Errorf("d.Classes[61] is %q; want %q", d.Classes[61], "z")
	}
	switch train, test, err := glyphs.Generate(t.Context(), glyphs.Config{Seed: 3}); {
	case err != nil:
		t.Error(err)
	case !bytes.Equal(d.Test.Pixels, test.Pixels):
		t.Errorf("d.Test.Pixels is %q; want %q", d.Test.Pixels, test.Pixels)
	case !slices.Equal(d.Train.Labels, train.Labels):
		t.Errorf("d.Train.Labels is %v; want %v", d.Train.Labels, train.Labels)
	}
	if files, err := Verify(t.Context(), "glyphs", Options{}); err != nil || len(files) > 0 {
		t.Errorf("files %v, error %v", files, expect.Text(err))
	}
}

func TestValidate(t *testing.T) {
	images := func() *Dataset {
		s := Split{Pixels: make([]uint8, 8), Labels: []int32{0, 1}}
		return &Dataset{Name: "toy", Height: 2, Width: 2, Channels: 1, Classes: []string{"a", "b"}, Train: s, Test: s}
	}
	vectors := func() *Dataset {
		s := Split{Values: []float32{1, -2, 3, 4.5}, Labels: []int32{0, 1}}
		return &Dataset{Name: "v", Vector: 2, Classes: []string{"a", "b"}, Train: s, Test: s}
	}
	must.Do(t, errors.Join(images().validate(), vectors().validate()))
	for name, c := range map[string]struct {
		set   *Dataset
		spoil func(d *Dataset)
	}{
		"channels":        {images(), func(d *Dataset) { d.Channels = 2 }},
		"no classes":      {images(), func(d *Dataset) { d.Classes = nil }},
		"empty":           {images(), func(d *Dataset) { d.Test = Split{} }},
		"few pixels":      {images(), func(d *Dataset) { d.Train.Pixels = d.Train.Pixels[:7] }},
		"negative label":  {images(), func(d *Dataset) { d.Test.Labels = []int32{-1, 0} }},
		"unknown label":   {images(), func(d *Dataset) { d.Train.Labels = []int32{0, 2} }},
		"two kinds":       {vectors(), func(d *Dataset) { d.Train.Pixels = []byte{1} }},
		"one kind a part": {vectors(), func(d *Dataset) { d.Test = Split{Pixels: make([]byte, 4), Labels: d.Test.Labels} }},
		"few numbers":     {vectors(), func(d *Dataset) { d.Train.Values = d.Train.Values[:3] }},
		"image or vector": {vectors(), func(d *Dataset) { d.Height = 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			if c.spoil(c.set); c.set.validate() == nil {
				t.Error("no error")
			}
		})
	}
}

// TestNoSamples: a split without samples is named, whether the other one has bytes or numbers.
func TestNoSamples(t *testing.T) {
	pixels := Split{Pixels: make([]uint8, 4), Labels: []int32{0}}
	values := Split{Values: []float32{1, 2}, Labels: []int32{0}}
	for name, c := range map[string]struct {
		set  Dataset
		want string
	}{
		"bytes, no test": {Dataset{Height: 2, Width: 2, Channels: 1, Train: pixels},
			"the test split has no samples; want at least one"},
		"numbers, no test":    {Dataset{Vector: 2, Train: values}, "the test split has no samples; want at least one"},
		"numbers, no samples": {Dataset{Vector: 2, Test: values}, "the training split has no samples; want at least one"},
	} {
		t.Run(name, func(t *testing.T) {
			c.set.Classes = []string{"a"}
			if err := c.set.validate(); err == nil || err.Error() != c.want {
				t.Errorf("error %v; want %q", expect.Text(err), c.want)
			}
		})
	}
}

func TestDefaultDir(t *testing.T) {
	t.Setenv(envDir, "somewhere")
	if dir, err := (Options{}).dir(); err != nil || dir != "somewhere" {
		t.Errorf("%q, error %v; want the environment's", dir, expect.Text(err))
	}
	t.Setenv(envDir, "")
	t.Setenv("HOME", t.TempDir())
	if dir, err := (Options{}).dir(); err != nil || !strings.HasSuffix(filepath.ToSlash(dir), "parallelcl/data") {
		t.Errorf("%q, error %v; want parallelcl/data in the cache folder", dir, expect.Text(err))
	}
}

// TestKeep: which members of the official archives are unpacked.
func TestKeep(t *testing.T) {
	for name, members := range map[string]map[string]string{
		"emnist-byclass": {
			"gzip/emnist-byclass-test-labels-idx1-ubyte.gz": "emnist-byclass-test-labels-idx1-ubyte.gz",
			"gzip/emnist-letters-test-labels-idx1-ubyte.gz": "", "__MACOSX/gzip/emnist-byclass-mapping.txt": ""},
		"cifar-100": {"cifar-100-binary/train.bin": "train.bin", "train.bin": ""},
		"tiny-imagenet": {"tiny-imagenet-200/val/images/val_0.JPEG": "val/images/val_0.JPEG",
			"tiny-imagenet-200/test/images/test_0.JPEG": ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := lookup(name)
			for member, want := range members {
				if got, ok := e.Downloads[0].keep(member); ok != (want != "") || ok && got != want {
					t.Errorf("%s: %q, %v; want %q", member, got, ok, want)
				}
			}
		})
	}
}

// TestStratified: a split is a partition, with about the same share of each class, and follows from
// the seed.
func TestStratified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.SliceOf(rapid.Int32Range(0, 5)).Draw(t, "labels")
		frac := rapid.Float64Range(0.01, 0.99).Draw(t, "frac")
		seed := rapid.Uint64().Draw(t, "seed")
		first, second := stratified(labels, frac, seed)
		all := slices.Sorted(slices.Values(slices.Concat(first, second)))
		for i, v := range all {
			switch {
			case i != v:
				t.Fatalf("i is %d; want %d", i, v)
			case len(all) != len(labels):
				t.Fatalf("len(all) is %d; want %d", len(all), len(labels))
			case !slices.IsSorted(first):
				t.Fatal("slices.IsSorted(first) is false")
			case !slices.IsSorted(second):
				t.Fatal("slices.IsSorted(second) is false")
			}
		}
		count, got := map[int32]int{}, map[int32]int{}
		for _, l := range labels {
			count[l]++
		}
		for _, i := range first {
			got[labels[i]]++
		}
		for l, n := range count {
			if math.Abs(float64(got[l])-frac*float64(n)) > 1 || n > 1 && (got[l] == 0 || got[l] == n) {
				t.Errorf("class %d: %d of %d in the first part, fraction %v", l, got[l], n, frac)
			}
		}
		if again, _ := stratified(labels, frac, seed); !slices.Equal(first, again) {
			t.Error("the same seed gives another split")
		}
	})
	a, _ := stratified(make([]int32, 100), 0.5, 1)
	if b, _ := stratified(make([]int32, 100), 0.5, 2); slices.Equal(a, b) {
		t.Error("two seeds give the same split")
	}
}

// TestSelection divides the samples of some classes in two, and reads one.
func TestSelection(t *testing.T) {
	d := &Dataset{
		Height: 1, Width: 1, Channels: 1, Classes: []string{"a", "b", "c"},
		Train: Split{Pixels: []uint8{0, 1, 2, 3, 4, 5, 6}, Labels: []int32{1, 0, 1, 2, 1, 0, 1}},
	}
	rows := func(half int) (out []int) {
		s := d.Select(&d.Train, 3, 1, 0).Keep(func(class, nth int) bool { return class != 2 && nth%2 == half })
		for i := range s.Len() {
			out = append(out, s.indices[i])
		}
		return out
	}
	if a, b := rows(0), rows(1); !slices.Equal(a, []int{0, 4, 1}) || !slices.Equal(b, []int{2, 5}) {
		t.Errorf("the halves are the rows %v and %v", a, b)
	}
	s := Split{Values: []float32{1, -2, 3, 4.5}, Labels: []int32{0, 1}}
	v, x := &Dataset{Vector: 2, Classes: []string{"a", "b"}, Train: s}, make([]float32, 2)
	numbers := v.Select(&v.Train, 0, 1)
	switch class := numbers.Sample(0, x); {
	case class != 1:
		t.Errorf("class is %d; want 1", class)
	case x[0] != 3:
		t.Errorf("x[0] is %g; want 3", x[0])
	case x[1] != 4.5:
		t.Errorf("x[1] is %g; want 4.5", x[1])
	}
}

// TestContactSheet looks for the second image of the second class, which is the only white one.
func TestContactSheet(t *testing.T) {
	for _, channels := range []int{1, 3} {
		t.Run(fmt.Sprint(channels), func(t *testing.T) {
			d := &Dataset{Name: "toy", Title: "Toy", Height: 28, Width: 28, Channels: channels, Classes: []string{"red", "blue"}}
			d.Train = Split{Pixels: make([]uint8, 6*d.ImageSize()), Labels: []int32{0, 1, 0, 1, 0, 1}}
			for i := range d.Image(&d.Train, 3) {
				d.Image(&d.Train, 3)[i] = 40
			}
			d.Test = d.Train
			img := must.Get(ContactSheet(d, 2))(t)
			n := 0
			for i := 0; i < len(img.Pix); i += 4 {
				if slices.Equal(img.Pix[i:i+3], []uint8{40, 40, 40}) {
					n++
				}
			}
			if n != 56*56 {
				t.Errorf("%d channels: %d pixels of the image, want 56×56", channels, n)
			}
			for _, n := range []int{0, 101} {
				if _, err := ContactSheet(d, n); err == nil {
					t.Errorf("%d per class: no error", n)
				}
			}
		})
	}
	huge := &Dataset{Name: "huge", Height: 1024, Width: 1024, Channels: 1, Classes: strings.Split("abcdefghij", "")}
	huge.Train = Split{Pixels: make([]uint8, huge.ImageSize()), Labels: []int32{0}}
	huge.Test = huge.Train
	if _, err := ContactSheet(huge, 100); err == nil {
		t.Error("a sheet of a gigapixel: no error")
	}
}

// openReal opens a set in the folder of real data, or skips.
func openReal(t testing.TB, name string) (*Dataset, Options) {
	t.Helper()
	o := Options{Dir: os.Getenv(envDir)}
	if o.Dir == "" {
		t.Skipf("set %s to a folder with %s to run this test", envDir, name)
	}
	d, err := Open(t.Context(), name, o)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d, o
}

// TestRealEMNISTUpright looks at the mean L: upright it has ink at the lower left and the lower
// right, and none at the upper right. Transposed the corners would change places.
func TestRealEMNISTUpright(t *testing.T) {
	d, _ := openReal(t, "emnist-byclass-test80")
	if d.Train.Len()+d.Test.Len() != emnistTestSamples {
		t.Errorf("%d images; want all of the official test file", d.Train.Len()+d.Test.Len())
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
		t.Errorf("ink of the mean L by quarter: %v; want the upper right nearly empty", ink)
	}
}

func TestRealCounts(t *testing.T) {
	for name, want := range map[string]struct{ train, test int }{
		"mnist-test80": {7990, 2000}, "cifar-10": {10000, 0}, "cifar-100": {50000, 10000},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := openReal(t, name)
			if d.Train.Len() < want.train || want.test > 0 && d.Test.Len() != want.test {
				t.Errorf("%d train and %d test images", d.Train.Len(), d.Test.Len())
			}
			for class, members := range d.ByClass(&d.Test, 0) {
				if len(members) == 0 || strings.HasPrefix(name, "cifar") && len(members) != d.Test.Len()/len(d.Classes) {
					t.Errorf("%s has %d test images", d.Classes[class], len(members))
				}
			}
			switch files, err := Verify(t.Context(), name, o); {
			case len(files) == 0:
				t.Error("len(files) is 0")
			case name == "cifar-100" && (err != nil || files[0].Status != "ok"):
				t.Errorf("%+v, %v", files, err)
			}
		})
	}
}
