package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// idxBytes makes an IDX file in memory.
func idxBytes(data []byte, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func gzipped(data []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	z.Write(data)
	z.Close()
	return buf.Bytes()
}

// fakeIDX writes a split of n images whose pixel at row 1, column 0 alone is set.
func fakeIDX(t *testing.T, dir, prefix string, n, classes int) {
	t.Helper()
	pixels, labels := make([]byte, n*784), make([]byte, n)
	for i := range n {
		pixels[i*784+28], labels[i] = 200, byte(i%classes)
	}
	write(t, filepath.Join(dir, prefix+"-images-idx3-ubyte.gz"), gzipped(idxBytes(pixels, uint32(n), 28, 28)))
	write(t, filepath.Join(dir, prefix+"-labels-idx1-ubyte.gz"), gzipped(idxBytes(labels, uint32(n))))
}

func open(t *testing.T, name, dir string) *Dataset {
	t.Helper()
	d := must.Get(Open(t.Context(), name, Options{Dir: dir}))(t)
	return d
}

// TestOpenIDX: EMNIST is stored transposed and MNIST is not; plain files are read like packed ones.
func TestOpenIDX(t *testing.T) {
	dir := t.TempDir()
	for _, prefix := range []string{"emnist/emnist-byclass-train", "emnist/emnist-byclass-test", "mnist/train",
		"mnist/t10k"} {
		t.Run(prefix, func(t *testing.T) {
			fakeIDX(t, dir, prefix, 124, 10)
		})
	}
	plain := filepath.Join(dir, "mnist/t10k-labels-idx1-ubyte")
	write(t, plain, idxBytes(make([]byte, 124), 124))
	must.Do(t, os.Remove(plain+".gz"))
	for name, set := range map[string]int{"emnist-byclass": 1, "mnist": 28} {
		t.Run(name, func(t *testing.T) {
			d := open(t, name, dir)
			switch p := d.Image(&d.Test, 3); {
			case p[set] != 200:
				t.Errorf("%s (%s): p[set] is %d; want 200", name, d.Title, p[set])
			case p[29-set] != 0:
				t.Errorf("%s (%s): p[29-set] is %d; want 0", name, d.Title, p[29-set])
			case d.Train.Labels[13] != 3:
				t.Errorf("%s (%s): d.Train.Labels[13] is %d; want 3", name, d.Title, d.Train.Labels[13])
			case !strings.Contains(d.Title, "subset"):
				t.Errorf("%s (%s): d.Title is %q; want %q in it", name, d.Title, d.Title, "subset")
			}
		})
	}
}

func TestTest80(t *testing.T) {
	dir := t.TempDir()
	fakeIDX(t, dir, "emnist/emnist-byclass-test", 62*5, 62)
	fakeIDX(t, dir, "mnist/t10k", 50, 10)
	for _, name := range []string{"emnist-byclass", "mnist"} {
		t.Run(name, func(t *testing.T) {
			d := open(t, name+"-test80", dir)
			switch {
			case d.Train.Len() != 4*len(d.Classes):
				t.Errorf("%s: d.Train.Len() is %d; want %d", d.Name, d.Train.Len(), 4*len(d.Classes))
			case d.Test.Len() != len(d.Classes):
				t.Errorf("%s: d.Test.Len() is %d; want %d", d.Name, d.Test.Len(), len(d.Classes))
			case !strings.Contains(d.Note, "official test file"):
				t.Errorf("%s: d.Note is %q; want %q in it", d.Name, d.Note, "official test file")
			}
		})
	}
}

func TestBadIDX(t *testing.T) {
	good := idxBytes(make([]byte, 12), 3, 4)
	bad := gzipped(good)
	bad[len(bad)-5] ^= 1 // in the checksum at the end
	for name, data := range map[string][]byte{
		"empty": nil, "not idx": []byte("GIF89a........"), "another type": append([]byte{0, 0, 13}, good[3:]...),
		"other dimensions": idxBytes(make([]byte, 12), 12), "header cut": good[:9], "data cut": good[:len(good)-1],
		"data cut in gzip": gzipped(good[:len(good)-1]), "gzip cut": gzipped(good)[:14], "gzip checksum": bad,
		"too long": append(good[:len(good):len(good)], 0), "zero dimension": idxBytes(nil, 0, 4),
		"absurd size":                idxBytes(nil, 1<<31, 1<<31),
		"claim beyond the file":      idxBytes(nil, 1<<15, 1<<15),
		"claim beyond the gzip file": gzipped(idxBytes(nil, 1<<15, 1<<15)),
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := decodeIDX(bytes.NewReader(data), int64(len(data)), 2); err == nil {
				t.Error("no error")
			}
		})
	}
	images := func(n, side uint32) []byte { return idxBytes(make([]byte, n*side*side), n, side, side) }
	for name, files := range map[string][2][]byte{
		"counts differ":      {images(2, 28), idxBytes([]byte{0, 1, 2}, 3)},
		"label out of range": {images(2, 28), idxBytes([]byte{0, 10}, 2)},
		"another size":       {images(2, 27), idxBytes([]byte{0, 1}, 2)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "mnist/t10k-images-idx3-ubyte.gz"), files[0])
			write(t, filepath.Join(dir, "mnist/t10k-labels-idx1-ubyte.gz"), files[1])
			_, err := Open(t.Context(), "mnist-test80", Options{Dir: dir})
			expect.Refusal(t, "Open", err, dir)
		})
	}
}

// cifarRecord makes a record whose pixels are 1, 2, 3 everywhere but 4, 5, 6 in the second.
func cifarRecord(labels ...byte) []byte {
	rec := bytes.Clone(labels)
	for k := range byte(3) {
		plane := bytes.Repeat([]byte{k + 1}, cifarPlane)
		plane[1] = k + 4
		rec = append(rec, plane...)
	}
	return rec
}

func lines(n int) []byte {
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, "class %d\n", i)
	}
	return b
}

// fakeCIFAR10 writes one batch for training and one for testing, an image of each class in both,
// and returns their bytes.
func fakeCIFAR10(t *testing.T, dir string) (batch []byte) {
	t.Helper()
	for l := range byte(10) {
		batch = append(batch, cifarRecord(l)...)
	}
	write(t, filepath.Join(dir, "cifar-10-batches-bin/batches.meta.txt"), append(lines(10), '\n'))
	write(t, filepath.Join(dir, "cifar-10-batches-bin/test_batch.bin"), batch)
	write(t, filepath.Join(dir, "cifar-10-batches-bin/data_batch_1.bin"), batch)
	return batch
}

func TestOpenCIFAR(t *testing.T) {
	dir := t.TempDir()
	batch := fakeCIFAR10(t, dir)
	write(t, filepath.Join(dir, "cifar-10-batches-bin/data_batch_3.bin"), batch)
	d := open(t, "cifar-10", dir)
	switch {
	case d.Train.Len() != 20:
		t.Errorf("%s: d.Train.Len() is %d; want 20", d.Title, d.Train.Len())
	case d.Test.Len() != 10:
		t.Errorf("%s: d.Test.Len() is %d; want 10", d.Title, d.Test.Len())
	case d.Classes[9] != "class 9":
		t.Errorf("%s: d.Classes[9] is %q; want %q", d.Title, d.Classes[9], "class 9")
	case !strings.Contains(d.Title, "subset: 20 train, 10 test"):
		t.Errorf("%s: d.Title is %q; want %q in it", d.Title, d.Title, "subset: 20 train, 10 test")
	}
	if p := d.Image(&d.Train, 1); !bytes.Equal(p[:6], []byte{1, 2, 3, 4, 5, 6}) {
		t.Errorf("an image begins with %v", p[:6])
	}
	files, err := Verify(t.Context(), "cifar-10", Options{Dir: dir})
	if err == nil {
		t.Error("a part is taken for all files")
	}
	for i, want := range []string{"partial", "missing", "partial", "missing", "missing", "partial", "readable"} {
		t.Run(want, func(t *testing.T) {
			if f := files[i]; f.Status != want {
				t.Errorf("%s is %s (%s); want %s", f.Path, f.Status, f.Detail, want)
			}
		})
	}

	hundred := filepath.Join(dir, "cifar-100-binary")
	two := slices.Concat(cifarRecord(19, 99), cifarRecord(0, 1))
	write(t, filepath.Join(hundred, "train.bin"), two)
	write(t, filepath.Join(hundred, "test.bin"), two)
	write(t, filepath.Join(hundred, "fine_label_names.txt"), lines(100))
	if d := open(t, "cifar-100", dir); !slices.Equal(d.Train.Labels, []int32{99, 1}) {
		t.Errorf("labels %v; want the fine ones, 99 and 1", d.Train.Labels)
	}
	for file, data := range map[string][]byte{"fine_label_names.txt": lines(99), "train.bin": two[:len(two)-1],
		"test.bin": cifarRecord(0, 100)} {
		t.Run(file, func(t *testing.T) {
			good := must.Get(os.ReadFile(filepath.Join(hundred, file)))(t)
			for _, bad := range [][]byte{data, nil} {
				write(t, filepath.Join(hundred, file), bad)
				_, err := Open(t.Context(), "cifar-100", Options{Dir: dir})
				expect.Refusal(t, fmt.Sprintf("%s of %d bytes", file, len(bad)), err, file)
			}
			write(t, filepath.Join(hundred, file), good)
		})
	}
}

func jpegOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	must.Do(t, jpeg.Encode(&buf, img, &jpeg.Options{Quality: 95}))
	return buf.Bytes()
}

// fakeTiny writes a Tiny ImageNet of two training images and one validation image per class.
func fakeTiny(t *testing.T) (dir, base string) {
	t.Helper()
	dir = t.TempDir()
	base = filepath.Join(dir, tinyFolder)
	grey, red := image.NewGray(image.Rect(0, 0, tinySide, tinySide)), image.NewRGBA(image.Rect(0, 0, tinySide, tinySide))
	for i := range grey.Pix {
		grey.Pix[i] = 77
		red.Set(i%tinySide, i/tinySide, color.RGBA{200, 30, 30, 255})
	}
	redJPEG, greyJPEG := jpegOf(t, red), jpegOf(t, grey)
	var wnids, words, val strings.Builder
	for c := range tinyClasses {
		w := fmt.Sprintf("n%08d", tinyClasses-c) // not in alphabetical order
		fmt.Fprintln(&wnids, w)
		fmt.Fprintf(&words, "%s\tthing %d, other name\n", w, c/2*2)
		fmt.Fprintf(&val, "val_%d.JPEG\t%s\t0\t0\t63\t63\n", c, w)
		write(t, filepath.Join(base, "train", w, "images", w+"_10.JPEG"), greyJPEG)
		write(t, filepath.Join(base, "train", w, "images", w+"_9.JPEG"), redJPEG)
		write(t, filepath.Join(base, "val/images", fmt.Sprintf("val_%d.JPEG", c)), greyJPEG)
	}
	write(t, filepath.Join(base, "wnids.txt"), []byte(wnids.String()))
	write(t, filepath.Join(base, "words.txt"), []byte(words.String()))
	write(t, filepath.Join(base, "val/val_annotations.txt"), []byte(val.String()))
	return dir, base
}

func TestTinyImageNet(t *testing.T) {
	dir, base := fakeTiny(t)
	d := open(t, "tiny-imagenet", dir)
	switch {
	case d.Train.Len() != 400:
		t.Fatalf("d.Train.Len() is %d; want 400", d.Train.Len())
	case d.Test.Len() != 200:
		t.Fatalf("d.Test.Len() is %d; want 200", d.Test.Len())
	case d.Train.Labels[399] != 199:
		t.Fatalf("d.Train.Labels[399] is %d; want 199", d.Train.Labels[399])
	case d.Test.Labels[199] != 199:
		t.Fatalf("d.Test.Labels[199] is %d; want 199", d.Test.Labels[199])
	}
	if d.Classes[0] != "thing 0 (n00000200)" { // class 1 has the same name
		t.Errorf("class 0 is %q", d.Classes[0])
	}
	// Number 9 comes before number 10; grey becomes RGB.
	if p := d.Image(&d.Train, 0); p[0] < 150 || p[1] > 80 {
		t.Errorf("the first image starts with %v; want red", p[:3])
	}
	switch p := d.Image(&d.Train, 1); {
	case p[0] != 77:
		t.Errorf("p[0] is %d; want 77", p[0])
	case p[1] != 77:
		t.Errorf("p[1] is %d; want 77", p[1])
	case p[2] != 77:
		t.Errorf("p[2] is %d; want 77", p[2])
	}
	half := open(t, "tiny-imagenet-32", dir)
	switch {
	case half.Size() != "32×32×3":
		t.Errorf("half.Size() is %q; want %q", half.Size(), "32×32×3")
	case half.Note != d.Note:
		t.Errorf("half.Note is %q; want %q", half.Note, d.Note)
	case !slices.Equal(half.Classes, d.Classes):
		t.Errorf("half.Classes is %q; want %q", half.Classes, d.Classes)
	case !slices.Equal(half.Train.Labels, d.Train.Labels):
		t.Errorf("half.Train.Labels is %v; want %v", half.Train.Labels, d.Train.Labels)
	case !slices.Equal(half.Test.Pixels, halve(d.Test.Pixels, d.Test.Len(), 64, 64, 3)):
		t.Error("tiny-imagenet-32 is not tiny-imagenet with half as many pixels")
	}

	status := func(file string) string {
		files, _ := Verify(t.Context(), "tiny-imagenet", Options{Dir: dir})
		return files[slices.IndexFunc(files, func(f File) bool { return f.Path == tinyFolder+file })].Status
	}
	for file, want := range map[string]string{"/wnids.txt": "readable", "/words.txt": "readable",
		"/val/val_annotations.txt": "readable", "/val/images/": "partial", "/train/": "partial"} {
		if got := status(file); got != want {
			t.Errorf("%s is %s; want %s", file, got, want)
		}
	}
	write(t, filepath.Join(base, "val/images/val_3.JPEG"), []byte("no"))
	if got := status("/val/images/"); got != "damaged" {
		t.Errorf("with a broken JPEG, the images are %s", got)
	}
}

func TestHalve(t *testing.T) {
	// Two images of 2×4 pixels, with one channel and, the same twice, with two.
	grey := []uint8{0, 1, 10, 20, 1, 0, 30, 40, 255, 255, 0, 0, 255, 254, 0, 1}
	for channels := 1; channels <= 2; channels++ {
		var pixels, want []uint8
		for _, v := range grey {
			pixels = append(pixels, bytes.Repeat([]byte{v}, channels)...)
		}
		for _, v := range []uint8{1, 25, 255, 0} {
			want = append(want, bytes.Repeat([]byte{v}, channels)...)
		}
		if got := halve(pixels, 2, 2, 4, channels); !slices.Equal(got, want) {
			t.Errorf("%d channels: %v, want %v", channels, got, want)
		}
	}
}

func TestBadTinyImageNet(t *testing.T) {
	dir, base := fakeTiny(t)
	bad := func(name, file string) {
		t.Helper()
		_, err := Open(t.Context(), "tiny-imagenet", Options{Dir: dir})
		expect.Refusal(t, name, err, filepath.Base(file))
	}
	small := jpegOf(t, image.NewGray(image.Rect(0, 0, 63, 63)))
	for _, c := range []struct{ name, file, data string }{
		{"not a JPEG", "val/images/val_7.JPEG", "nonsense"},
		{"another size", "val/images/val_7.JPEG", string(small)},
		{"unknown class", "val/val_annotations.txt", "val_0.JPEG\tn1\n"},
		{"path in annotations", "val/val_annotations.txt", "../x.JPEG\tn00000001\n"},
		{"no class", "val/val_annotations.txt", "val_0.JPEG\tn00000001\nval_1.JPEG\n"},
		{"twice", "val/val_annotations.txt", "v\tn00000001\nv\tn00000001\n"},
		{"no annotation", "val/val_annotations.txt", "\n"},
		{"few ids", "wnids.txt", "n00000001\n"},
		{"path as id", "wnids.txt", "../up\n" + strings.Repeat("n1\n", 199)},
		{"no names", "words.txt", "n1\tone\n"},
		{"names without tab", "words.txt", "n1 one\n"},
	} {
		path := filepath.Join(base, c.file)
		good := must.Get(os.ReadFile(path))(t)
		write(t, path, []byte(c.data))
		bad(c.name, c.file)
		write(t, path, good)
	}
	os.RemoveAll(filepath.Join(base, "train/n00000007"))
	bad("missing class folder", "n00000007")
}

// TestVerifyCounts: a well-formed file without a checksum is complete only if it has the official
// number of samples.
func TestVerifyCounts(t *testing.T) {
	for n, want := range map[int]string{500: "partial", mnistTestSamples: "readable", mnistTestSamples + 1: "damaged"} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "mnist/t10k-images-idx3-ubyte"), idxBytes(make([]byte, n*784), uint32(n), 28, 28))
			write(t, filepath.Join(dir, "mnist/t10k-labels-idx1-ubyte"), idxBytes(make([]byte, n), uint32(n)))
			files, err := Verify(t.Context(), "mnist-test80", Options{Dir: dir})
			switch {
			case files[0].Status != want:
				t.Errorf("with %d samples: files[0].Status is %q; want %q", n, files[0].Status, want)
			case files[1].Status != want:
				t.Errorf("with %d samples: files[1].Status is %q; want %q", n, files[1].Status, want)
			case (err == nil) != (want == "readable"):
				t.Errorf("with %d samples: (err == nil) is %t; want %t", n, (err == nil), (want == "readable"))
			}
		})
	}
	dir := t.TempDir()
	fakeIDX(t, dir, "mnist/t10k", 500, 10) // which is not the file of the checksum
	files, err := Verify(t.Context(), "mnist-test80", Options{Dir: dir})
	switch {
	case files[0].Status != "partial":
		t.Errorf("files[0].Status is %q; want %q", files[0].Status, "partial")
	case err == nil:
		t.Error("no error")
	}
	write(t, filepath.Join(dir, "mnist/t10k-images-idx3-ubyte.gz"), []byte("damaged"))
	if files, err = Verify(t.Context(), "mnist-test80", Options{Dir: dir}); files[0].Status != "damaged" {
		t.Errorf("%+v, %v", files, err)
	}
}

// sumOfPart returns the checksum that Inspect finds, which must be that of the opened set.
func sumOfPart(t *testing.T, name, dir string) string {
	t.Helper()
	i := must.Get(Inspect(t.Context(), name, Options{Dir: dir}))(t)
	d := open(t, name, dir)
	if d.SHA256 != i.SHA256 || strings.Contains(d.Title, "subset") != (i.SHA256 != "") {
		t.Errorf("%s: opened as %q with the checksum %q, inspected %q", name, d.Title, d.SHA256, i.SHA256)
	}
	return i.SHA256
}

// TestParts: files that are a part of the official ones have a checksum, which differs from part to
// part, and complete ones have none.
func TestParts(t *testing.T) {
	t.Run("IDX", func(t *testing.T) {
		dir := t.TempDir()
		var sums [3]string
		for i, n := range []int{500, 600, 600} {
			fakeIDX(t, dir, "mnist/t10k", n, 10)
			sums[i] = sumOfPart(t, "mnist-test80", dir)
		}
		switch {
		case len(sums[0]) != 64:
			t.Errorf("len(sums[0]) is %d; want 64", len(sums[0]))
		case sums[0] == sums[1]:
			t.Errorf("sums[0] is %q", sums[1])
		case sums[1] != sums[2]:
			t.Errorf("sums[1] is %q; want %q", sums[1], sums[2])
		}
		fakeIDX(t, dir, "mnist/t10k", mnistTestSamples, 10)
		if sum := sumOfPart(t, "mnist-test80", dir); sum != "" {
			t.Errorf("the complete file has the checksum %s", sum)
		}
		if i, err := Inspect(t.Context(), "mnist", Options{Dir: dir}); err != nil || i.SHA256 != "" {
			t.Errorf("a set that cannot be opened: %q, %v", i.SHA256, expect.Text(err))
		}
	})
	t.Run("CIFAR", func(t *testing.T) {
		dir := t.TempDir()
		batch := fakeCIFAR10(t, dir)
		one := sumOfPart(t, "cifar-10", dir)
		second, third := filepath.Join(dir, "cifar-10-batches-bin/data_batch_2.bin"),
			filepath.Join(dir, "cifar-10-batches-bin/data_batch_3.bin")
		write(t, second, batch)
		two := sumOfPart(t, "cifar-10", dir)
		must.Do(t, os.Rename(second, third))
		switch other := sumOfPart(t, "cifar-10", dir); {
		case one == "":
			t.Error("one is empty")
		case two == one:
			t.Errorf("two is %q", one)
		case other == two:
			t.Errorf("other is %q", two)
		}
	})
	t.Run("Tiny ImageNet", func(t *testing.T) {
		dir, base := fakeTiny(t)
		sums := []string{sumOfPart(t, "tiny-imagenet-32", dir)}
		train, away := filepath.Join(base, "train"), filepath.Join(t.TempDir(), "train")
		must.Do(t, os.Rename(train, away))
		link(t, away, train) // an image that is missing behind a link is noticed too
		for _, image := range []string{"n00000007/images/n00000007_10.JPEG", "n00000008/images/n00000008_10.JPEG"} {
			must.Do(t, os.Remove(filepath.Join(away, image)))
			sums = append(sums, sumOfPart(t, "tiny-imagenet-32", dir))
		}
		switch {
		case sums[0] == "":
			t.Error("sums[0] is empty")
		case sums[1] == sums[0]:
			t.Errorf("sums[1] is %q", sums[0])
		case sums[2] == sums[1]:
			t.Errorf("sums[2] is %q", sums[1])
		}
	})
}

// fewOf is a format whose files have two samples each.
type fewOf struct{ format }

func (fewOf) list(path string, _ File) (content, error) {
	return content{samples: 2, files: []string{path}}, nil
}

// TestOptionalFiles: without an optional file a set is a part; without another it cannot be opened.
func TestOptionalFiles(t *testing.T) {
	for name, c := range map[string]struct {
		files string
		of    int
		part  bool
	}{"complete": {"ab", 2, false}, "fewer samples": {"ab", 3, true}, "no optional file": {"a", 2, true},
		"no other file": {"b", 2, false}, "no file": {"", 2, false}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file := range strings.SplitSeq(c.files, "") {
				write(t, filepath.Join(dir, file), []byte(file))
			}
			e := &entry{format: fewOf{}, Info: Info{Name: name,
				Files: []File{{Path: "a", Samples: c.of}, {Path: "b", Samples: 2, optional: true}}}}
			var i Info
			must.Do(t, official{e, dir}.survey(t.Context(), &i))
			if (i.SHA256 != "") != c.part {
				t.Errorf("checksum %q", i.SHA256)
			}
		})
	}
}

// onceRead is a context that calls change when it is asked for the at-th time.
type onceRead struct {
	context.Context
	asked  atomic.Int64 // files are read side by side
	at     int64
	change func()
}

func (c *onceRead) Err() error {
	if c.asked.Add(1) == c.at {
		c.change()
	}
	return nil
}

// TestChangedWhileRead: a set never has the checksum of other files than those that its samples
// come from.
func TestChangedWhileRead(t *testing.T) {
	for name, write := range map[string]func(dir string, more bool) string{
		"table": func(dir string, more bool) string {
			path := filepath.Join(dir, "t.csv")
			write(t, path, []byte("x,label\n1,a\n2,a\n3,b\n4,b\n"+strings.Repeat("5,b\n", map[bool]int{true: 1}[more])))
			return "csv:" + path
		},
		"official": func(dir string, more bool) string {
			if batch := fakeCIFAR10(t, dir); more {
				write(t, filepath.Join(dir, "cifar-10-batches-bin/data_batch_1.bin"), append(batch, batch...))
			}
			return "cifar-10"
		},
	} {
		t.Run(name, func(t *testing.T) {
			for at := int64(1); ; at++ {
				dir := t.TempDir()
				set := write(dir, false)
				ctx := &onceRead{Context: context.Background(), at: at, change: func() { write(dir, true) }}
				d, err := Open(ctx, set, Options{Dir: dir})
				if ctx.asked.Load() < at {
					break // it was read completely before
				}
				if err != nil {
					continue
				}
				if now := open(t, set, dir); d.SHA256 == now.SHA256 && d.Train.Len()+d.Test.Len() != now.Train.Len()+
					now.Test.Len() {
					t.Errorf("%s, changed at check %d: %d samples with the checksum of other files", name, at,
						d.Train.Len()+d.Test.Len())
				}
			}
		})
	}
}
