package datasets

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// cifarRecord makes a record whose pixels are r, g and b everywhere but 1, 2, 3 in the second.
func cifarRecord(labels []byte, r, g, b byte) []byte {
	rec := bytes.Clone(labels)
	for k, v := range []byte{r, g, b} {
		plane := bytes.Repeat([]byte{v}, cifarPlane)
		plane[1] = byte(k + 1)
		rec = append(rec, plane...)
	}
	return rec
}

func TestDecodeCIFAR(t *testing.T) {
	var s Split
	data := append(cifarRecord([]byte{19, 99}, 10, 20, 30), cifarRecord([]byte{0, 1}, 40, 50, 60)...)
	if err := decodeCIFAR(&s, bytes.NewReader(data), 2, 100); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{99, 1}, s.Labels); diff != "" {
		t.Errorf("fine labels: %s", diff)
	}
	if diff := cmp.Diff([]byte{10, 20, 30, 1, 2, 3, 10, 20, 30}, s.Pixels[:9]); diff != "" {
		t.Errorf("channels last: %s", diff)
	}
	if len(s.Pixels) != 2*cifarPixels || s.Pixels[cifarPixels] != 40 {
		t.Errorf("second image: %d bytes, first is %d", len(s.Pixels), s.Pixels[cifarPixels])
	}
}

func TestDecodeCIFARRefuses(t *testing.T) {
	record := cifarRecord([]byte{0, 5}, 0, 0, 0)
	for _, c := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "empty file", nil},
		{"cut", "record 1 has 100 of 3074 bytes", append(record[:len(record):len(record)], record[:100]...)},
		{"label", "record 0 has label 100: want 0 to 99", cifarRecord([]byte{0, 100}, 0, 0, 0)},
	} {
		var s Split
		err := decodeCIFAR(&s, bytes.NewReader(c.data), 2, 100)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v: want one with %q", c.name, err, c.want)
		}
	}
}

func lines(n int) []byte {
	var b []byte
	for i := range n {
		b = fmt.Appendf(b, "class %d\n", i)
	}
	return b
}

func TestOpenCIFAR(t *testing.T) {
	dir := t.TempDir()
	var ten, hundred []byte
	for l := range byte(10) {
		ten = append(ten, cifarRecord([]byte{l}, 1, 2, 3)...)
		hundred = append(hundred, cifarRecord([]byte{0, l * 11}, 1, 2, 3)...)
	}
	for _, name := range append([]string{"test_batch.bin"}, cifar10Format.train[:3]...) {
		writeFile(t, filepath.Join(dir, "cifar-10-batches-bin", name), ten)
	}
	writeFile(t, filepath.Join(dir, "cifar-10-batches-bin/batches.meta.txt"), append(lines(10), '\n'))
	writeFile(t, filepath.Join(dir, "cifar-100-binary/train.bin"), hundred)
	writeFile(t, filepath.Join(dir, "cifar-100-binary/test.bin"), hundred)
	writeFile(t, filepath.Join(dir, "cifar-100-binary/fine_label_names.txt"), lines(100))

	d, err := Open(t.Context(), "cifar-10", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Len() != 30 || d.Test.Len() != 10 || d.Classes[9] != "class 9" {
		t.Errorf("%d train, %d test, class %q", d.Train.Len(), d.Test.Len(), d.Classes[9])
	}
	if !strings.Contains(d.Title, "subset: 30 train, 10 test") || !strings.Contains(d.Note, "30 of 50000") {
		t.Errorf("a subset must be called one: %q, %q", d.Title, d.Note)
	}
	r, err := Verify(t.Context(), "cifar-10", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	want := []Status{Partial, Partial, Partial, Missing, Missing, Partial, Readable}
	for i, f := range r.Files {
		if f.Status != want[i] {
			t.Errorf("%s is %s (%s): want %s", f.Path, f.Status, f.Detail, want[i])
		}
	}
	d, err = Open(t.Context(), "cifar-100", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Labels[9] != 99 {
		t.Errorf("label %d, want the fine one, 99", d.Train.Labels[9])
	}

	writeFile(t, filepath.Join(dir, "cifar-100-binary/fine_label_names.txt"), lines(99))
	if _, err = Open(t.Context(), "cifar-100", Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "99 names: want 100") {
		t.Errorf("99 names: error %v", err)
	}
}
