package datasets

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/fail"
	"github.com/parallelcl/parallelcl/internal/must"
)

func FuzzIDX(f *testing.F) {
	file := idxBytes([]byte{1, 2, 3, 4, 5, 6}, 2, 3)
	f.Add(file, 2)
	f.Add(gzipped(file), 2)
	f.Add(idxBytes(nil, 1<<31, 1<<31, 4), 3)
	f.Add(gzipped(idxBytes(make([]byte, 5000), 5000)), 1)
	f.Fuzz(func(t *testing.T, data []byte, wantDims int) {
		wantDims = 1 + (wantDims&3)%3
		var dims []int
		var got []byte
		if fail.Tried(func() { dims, got = decodeIDX(bytes.NewReader(data), int64(len(data)), wantDims) }) != nil {
			return
		}
		n := 1
		for _, d := range dims {
			n *= d
		}
		if len(dims) != wantDims || len(got) != n || n == 0 {
			t.Errorf("dimensions %v and %d bytes", dims, len(got))
		}
	})
}

func FuzzCIFAR(f *testing.F) {
	f.Add(cifarRecord(7), 1)
	f.Add(cifarRecord(7, 99), 2)
	f.Add([]byte{}, 1)
	f.Fuzz(func(t *testing.T, data []byte, labelBytes int) {
		labelBytes = 1 + labelBytes&1
		var s Split
		if fail.Tried(func() { decodeCIFAR(&s, bytes.NewReader(data), labelBytes, 100) }) != nil {
			return
		}
		if s.Len()*(labelBytes+cifarPixels) != len(data) || len(s.Pixels) != s.Len()*cifarPixels {
			t.Fatalf("%d labels and %d pixel bytes from %d bytes", s.Len(), len(s.Pixels), len(data))
		}
		for i, l := range s.Labels {
			rec := data[i*(labelBytes+cifarPixels):]
			if l != int32(rec[labelBytes-1]) || s.Pixels[i*cifarPixels+1] != rec[labelBytes+cifarPlane] {
				t.Fatalf("record %d was misread", i)
			}
		}
	})
}

func FuzzAnnotations(f *testing.F) {
	wnids := []string{"n1", "n2", "n3"}
	f.Add("val_0.JPEG\tn1\t0\t0\t63\t63\nval_1.JPEG\tn3\n")
	f.Add("../../etc/passwd\tn1\n")
	f.Add("\n\n")
	f.Add("a\tn1\r\nb\tn2\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		_ = fail.Tried(func() { parseWords(text) })
		var files []tinyFile
		if fail.Tried(func() { files = parseAnnotations(text, wnids) }) != nil {
			return
		}
		if len(files) == 0 {
			t.Error("no files and no error")
		}
		for _, x := range files {
			if x.label < 0 || int(x.label) >= len(wnids) || !filepath.IsLocal(x.path) || filepath.Dir(x.path) != "." {
				t.Errorf("accepted %q with label %d", x.path, x.label)
			}
		}
	})
}

// FuzzPicture decodes arbitrary files: neither a panic nor an image beyond the limit comes of them.
func FuzzPicture(f *testing.F) {
	f.Add(bomb(1<<16, 1<<16))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\r\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Add([]byte("BM\x1e\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x01\x00\x01\x00\x18\x00\x00\x00\xff\x00"))
	f.Add([]byte("RIFF\xb0\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00ANMF\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x02\x00\x00\x00\x2f\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var img image.Image
		err := fail.Tried(func() {
			if head, data := headOf(data); head.width*head.height <= 1<<16 {
				img = decodePicture(data)
			}
		})
		if err != nil || img == nil {
			return
		}
		if bits := depthOf(brightest(img)); bits < 16 {
			deepen(img, bits)
		}
		s := shaper{height: 5, width: 4, channels: 3, fit: fitPad, background: color.White}
		s.shape(make([]uint8, 60), img)
	})
}

// FuzzSafetensors reads arbitrary files; what is read has as many entries as its shape says.
func FuzzSafetensors(f *testing.F) {
	f.Add([]byte("\x3c\x00\x00\x00\x00\x00\x00\x00" + `{"x":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}}    12345678`))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x")
		must.Do(t, os.WriteFile(path, data, 0o666))
		s, err := openSafetensors(path)
		if err != nil {
			return
		}
		defer s.Close()
		for _, name := range s.Names() {
			a, err := s.Read(name)
			if err != nil {
				continue
			}
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if got := reflect.ValueOf(a.Data).Len(); got != n {
				t.Errorf("%s has %d entries for the shape %v", name, got, a.Shape)
			}
			_ = fail.Tried(func() { new(rawSplit).take(a, name) })
			_ = fail.Tried(func() { new(rawSplit).takeLabels(a, name) })
		}
	})
}
