package datasets

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

func TestDecodeIDX(t *testing.T) {
	file := idxBytes([]byte{1, 2, 3, 4, 5, 6}, 2, 3)
	for name, data := range map[string][]byte{"plain": file, "gzip": gzipped(file)} {
		dims, got, err := decodeIDX(bytes.NewReader(data), int64(len(data)), 2)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff([]int{2, 3}, dims); diff != "" {
			t.Errorf("%s: dims: %s", name, diff)
		}
		if diff := cmp.Diff([]byte{1, 2, 3, 4, 5, 6}, got); diff != "" {
			t.Errorf("%s: data: %s", name, diff)
		}
	}
}

func TestDecodeIDXRefuses(t *testing.T) {
	good := idxBytes(make([]byte, 12), 3, 4)
	bad := gzipped(good)
	bad[len(bad)-5] ^= 1 // in the checksum at the end
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "idx header", nil},
		{"not idx", "not an idx file", []byte("GIF89a........")},
		{"another type", "not an idx file", append([]byte{0, 0, 13}, good[3:]...)},
		{"other dimensions", "not an idx file", idxBytes(make([]byte, 12), 12)},
		{"header cut", "idx dimensions", good[:9]},
		{"data cut", "ends after 11 of 12", good[:len(good)-1]},
		{"data cut in gzip", "ends after 11 of 12", gzipped(good[:len(good)-1])},
		{"gzip cut", "cut short or damaged", gzipped(good)[:14]},
		{"gzip checksum", "after the idx data", bad},
		{"too long", "goes on after", append(good[:len(good):len(good)], 0)},
		{"zero dimension", "none may be 0", idxBytes(nil, 0, 4)},
		{"absurd size", "more than", idxBytes(nil, 1<<31, 1<<31)},
		{"claim beyond the file", "cannot hold that", idxBytes(nil, 1<<15, 1<<15)},
		{"claim beyond the gzip file", "cannot hold that", gzipped(idxBytes(nil, 1<<15, 1<<15))},
	} {
		_, _, err := decodeIDX(bytes.NewReader(c.data), int64(len(c.data)), 2)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v: want one with %q", c.name, err, c.want)
		}
	}
}

func TestReadIDXSplitRefuses(t *testing.T) {
	images := func(n, side uint32) []byte { return idxBytes(make([]byte, n*side*side), n, side, side) }
	for _, c := range []struct {
		name, want     string
		images, labels []byte
	}{
		{"counts differ", "2 images but l.gz has 3 labels", images(2, 28), idxBytes([]byte{0, 1, 2}, 3)},
		{"label out of range", "label 1 is 10: want 0 to 9", images(2, 28), idxBytes([]byte{0, 10}, 2)},
		{"another size", "27×27: want 28×28", images(2, 27), idxBytes([]byte{0, 1}, 2)},
	} {
		dir := t.TempDir()
		i, l := filepath.Join(dir, "i.gz"), filepath.Join(dir, "l.gz")
		writeFile(t, i, gzipped(c.images))
		writeFile(t, l, gzipped(c.labels))
		_, err := readIDXSplit(i, l, 28, 10, false)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: error %v: want one with %q that names the file", c.name, err, c.want)
		}
	}
}

func TestTranspose(t *testing.T) {
	got := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	transpose(got, 2)
	if diff := cmp.Diff([]byte{1, 3, 2, 4, 5, 7, 6, 8}, got); diff != "" {
		t.Error(diff)
	}
}

// fakeIDX writes a split of n images whose pixel at row 1, column 0 alone is set.
func fakeIDX(t *testing.T, dir, prefix string, n, classes int) {
	t.Helper()
	pixels, labels := make([]byte, n*784), make([]byte, n)
	for i := range n {
		pixels[i*784+28] = 255
		labels[i] = byte(i % classes)
	}
	images, labelFile := prefix+"-images-idx3-ubyte.gz", prefix+"-labels-idx1-ubyte.gz"
	writeFile(t, filepath.Join(dir, images), gzipped(idxBytes(pixels, uint32(n), 28, 28)))
	// Unpacked files are as good as packed ones.
	writeFile(t, filepath.Join(dir, strings.TrimSuffix(labelFile, ".gz")), idxBytes(labels, uint32(n)))
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestOpenOfficialIDX(t *testing.T) {
	dir := t.TempDir()
	fakeIDX(t, dir, "emnist/emnist-byclass-train", 124, 62)
	fakeIDX(t, dir, "emnist/emnist-byclass-test", 62, 62)
	fakeIDX(t, dir, "mnist/train", 30, 10)
	fakeIDX(t, dir, "mnist/t10k", 10, 10)
	for name, lit := range map[string]int{"emnist-byclass": 1, "mnist": 28} { // EMNIST files are transposed, MNIST's are not
		d, err := Open(t.Context(), name, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		img := d.Image(&d.Train, d.Train.Len()-1)
		if len(img) != 784 || img[lit] != 255 || bytes.Count(img, []byte{0}) != 783 {
			t.Errorf("%s: want the one lit pixel at %d", name, lit)
		}
	}
}

// TestVerifyUnpackedIDX: a well-formed file is complete only if it has the official number of samples.
func TestVerifyUnpackedIDX(t *testing.T) {
	for n, want := range map[int]Status{500: Partial, mnistTestSamples: Readable, mnistTestSamples + 1: Damaged} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "mnist/t10k-images-idx3-ubyte"), idxBytes(make([]byte, n*784), uint32(n), 28, 28))
		writeFile(t, filepath.Join(dir, "mnist/t10k-labels-idx1-ubyte"), idxBytes(make([]byte, n), uint32(n)))
		r, err := Verify(t.Context(), "mnist-test80", Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			if f.Status != want {
				t.Errorf("%s with %d samples is %s (%s): want %s", f.Path, n, f.Status, f.Detail, want)
			}
		}
		if r.Complete() != (want == Readable) {
			t.Errorf("with %d samples the set is complete: %v", n, r.Complete())
		}
	}
}
