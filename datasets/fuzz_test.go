package datasets

import (
	"bytes"
	"image/color"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/safetensors"
)

func FuzzIDX(f *testing.F) {
	file := idxBytes([]byte{1, 2, 3, 4, 5, 6}, 2, 3)
	f.Add(file, 2)
	f.Add(gzipped(file), 2)
	f.Add(idxBytes(nil, 1<<31, 1<<31, 4), 3)
	f.Add(gzipped(idxBytes(make([]byte, 5000), 5000)), 1)
	f.Fuzz(func(t *testing.T, data []byte, wantDims int) {
		wantDims = 1 + (wantDims&3)%3
		dims, got, err := decodeIDX(bytes.NewReader(data), int64(len(data)), wantDims)
		if err != nil {
			return
		}
		n := 1
		for _, d := range dims {
			n *= d
		}
		switch {
		case len(dims) != wantDims:
			t.Errorf("len(dims) is %d; want %d", len(dims), wantDims)
		case len(got) != n:
			t.Errorf("len(got) is %d; want %d", len(got), n)
		case n == 0:
			t.Error("n is 0")
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
		if decodeCIFAR(&s, bytes.NewReader(data), labelBytes, 100) != nil {
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
		_, _ = parseWords(text)
		files, err := parseAnnotations(text, wnids)
		if err != nil {
			return
		}
		if len(files) == 0 {
			t.Error("no files and no error")
		}
		for _, x := range files {
			switch {
			case x.label < 0:
				t.Errorf("x.label is %d; want at least 0", x.label)
			case int(x.label) >= len(wnids):
				t.Errorf("int(x.label) is %d; want less than %d", int(x.label), len(wnids))
			case !filepath.IsLocal(x.path):
				t.Errorf("accepted %q with label %d", x.path, x.label)
			case filepath.Dir(x.path) != ".":
				t.Errorf("filepath.Dir(x.path) is %q; want %q", filepath.Dir(x.path), ".")
			}
		}
	})
}

// FuzzCSV reads arbitrary tables; a row has as many numbers as there are inputs, and all are
// finite.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{
		"a,b,label\n1,True,x\n2.5,False,y\n", "\xff\xfea\x00;\x00y\x00\n\x001\x00;\x00b\x00",
		"sep=|\r\n\"a\"|y|\r\n1e300|caf\xe9|\r\n", "a\ty\r1\t2\r", "\"", "a,y\n\"1\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		table := &csvTable{csvFile: new(csvFile)}
		r, err := table.read(t.Context(), bytes.NewReader(data), "")
		if err != nil {
			return
		}
		if len(r.double) != len(r.labels)*len(table.numbers) || r.name(len(r.labels)-1) == "" {
			t.Fatalf("%d numbers in %d rows of %d inputs", len(r.double), len(r.labels), len(table.numbers))
		}
		for _, v := range r.double {
			if v-v != 0 {
				t.Errorf("%v is a number", v)
			}
		}
	})
}

// FuzzPicture decodes arbitrary files: neither a panic nor an image beyond the limit comes of them.
func FuzzPicture(f *testing.F) {
	f.Add(bomb(1<<16, 1<<16))
	f.Add(
		[]byte(
			"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"))
	f.Add([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\r\x00\x00\x00/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"))
	f.Add(
		[]byte(
			"BM\x1e\x00\x00\x00\x00\x00\x00\x00\x1a\x00\x00\x00\x0c\x00\x00\x00\x01\x00\x01\x00\x01\x00\x18\x00\x00\x00\xff\x00"))
	f.Add(
		[]byte(
			"RIFF\xb0\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00ANMF\x1a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00VP8L\x02\x00\x00\x00\x2f\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		head, data, err := headOf(data)
		if err != nil || head.width*head.height > 1<<16 {
			return
		}
		img, err := decodePicture(data)
		if err != nil {
			return
		}
		if bits := depthOf(brightest(img)); bits < 16 {
			deepen(img, bits)
		}
		s := shaper{height: 5, width: 4, channels: 3, fit: fitPad, background: color.White}
		s.shape(make([]uint8, 60), upright(img, head.orientation))
	})
}

// FuzzSafetensors reads arbitrary files; an array that is read has as many entries as its shape
// says.
func FuzzSafetensors(f *testing.F) {
	f.Add([]byte("\x37\x00\x00\x00\x00\x00\x00\x00" + `{"x":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}}ab`))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := safetensors.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		s, err := tensorsOf(r)
		if err != nil {
			return
		}
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
			_, _ = new(rawSplit).take(a), new(rawSplit).takeLabels(a)
		}
	})
}
