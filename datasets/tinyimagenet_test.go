package datasets

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func jpegOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func uniform(c color.Color, side int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		img.Set(i%side, i/side, c)
	}
	return img
}

// fakeTiny writes a Tiny ImageNet of two training images and one validation image per class.
func fakeTiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	base := filepath.Join(dir, tinyFolder)
	grey := image.NewGray(image.Rect(0, 0, tinySide, tinySide))
	for i := range grey.Pix {
		grey.Pix[i] = 77
	}
	red, greyJPEG := jpegOf(t, uniform(color.RGBA{200, 30, 30, 255}, tinySide)), jpegOf(t, grey)
	var wnids, words, val strings.Builder
	for c := range tinyClasses {
		w := fmt.Sprintf("n%08d", tinyClasses-c) // not in alphabetical order
		fmt.Fprintln(&wnids, w)
		fmt.Fprintf(&words, "%s\tthing %d, other name\n", w, c/2*2)
		fmt.Fprintf(&val, "val_%d.JPEG\t%s\t0\t0\t63\t63\n", c, w)
		writeFile(t, filepath.Join(base, "train", w, "images", w+"_10.JPEG"), greyJPEG)
		writeFile(t, filepath.Join(base, "train", w, "images", w+"_9.JPEG"), red)
		writeFile(t, filepath.Join(base, "val/images", fmt.Sprintf("val_%d.JPEG", c)), greyJPEG)
	}
	writeFile(t, filepath.Join(base, "wnids.txt"), []byte(wnids.String()))
	writeFile(t, filepath.Join(base, "words.txt"), []byte(words.String()))
	writeFile(t, filepath.Join(base, "val/val_annotations.txt"), []byte(val.String()))
	return dir
}

func TestOpenTinyImageNet(t *testing.T) {
	d, err := Open(t.Context(), "tiny-imagenet", Options{Dir: fakeTiny(t)})
	if err != nil {
		t.Fatal(err)
	}
	if d.Train.Len() != 400 || d.Test.Len() != 200 {
		t.Fatalf("%d train and %d test images", d.Train.Len(), d.Test.Len())
	}
	if want := "training images per class: 2 of 500"; !strings.Contains(d.Note, want) {
		t.Errorf("note %q: want %q in it", d.Note, want)
	}
	if d.Classes[0] != "thing 0 (n00000200)" {
		t.Errorf("class 0 is %q: want the first name with the id, since class 1 has the same name", d.Classes[0])
	}
	// Number 9 comes before number 10; grey becomes RGB.
	if p := d.Image(&d.Train, 0); p[0] < 150 || p[1] > 80 {
		t.Errorf("first image starts with %v: want red", p[:3])
	}
	if p := d.Image(&d.Train, 1); p[0] != 77 || p[1] != 77 || p[2] != 77 {
		t.Errorf("second image starts with %v: want grey 77", p[:3])
	}
	if d.Train.Labels[399] != 199 || d.Test.Labels[199] != 199 {
		t.Errorf("last labels %d and %d: want 199", d.Train.Labels[399], d.Test.Labels[199])
	}
}

func TestOpenTinyImageNetRefuses(t *testing.T) {
	dir := fakeTiny(t)
	for _, c := range []struct {
		name, file, want string
		data             []byte
	}{
		{"not a JPEG", "val/images/val_7.JPEG", "val_7.JPEG", []byte("nonsense")},
		{"another size", "val/images/val_7.JPEG", "63×63: want 64×64", jpegOf(t, uniform(color.White, 63))},
		{"unknown class", "val/val_annotations.txt", `line 1: class "n1" is not in wnids.txt`, []byte("val_0.JPEG\tn1\n")},
		{"path in annotations", "val/val_annotations.txt", "no plain file name", []byte("../x.JPEG\tn00000001\n")},
		{"no class", "val/val_annotations.txt", "line 2", []byte("val_0.JPEG\tn00000001\nval_1.JPEG\n")},
		{"twice", "val/val_annotations.txt", "there twice", []byte("v\tn00000001\nv\tn00000001\n")},
		{"no annotation", "val/val_annotations.txt", "no annotation", []byte("\n")},
		{"few ids", "wnids.txt", "want 200", []byte("n00000001\n")},
		{"path as id", "wnids.txt", "no WordNet id", append([]byte("../up\n"), bytes.Repeat([]byte("n1\n"), 199)...)},
		{"no names", "words.txt", "no name for n00000200", []byte("n1\tone\n")},
		{"names without tab", "words.txt", "line 1", []byte("n1 one\n")},
	} {
		path := filepath.Join(dir, tinyFolder, c.file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, c.data)
		_, err = Open(t.Context(), "tiny-imagenet", Options{Dir: dir})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.Base(c.file)) {
			t.Errorf("%s: error %v: want one with %q and %s", c.name, err, c.want, c.file)
		}
		writeFile(t, path, good)
	}
	os.RemoveAll(filepath.Join(dir, tinyFolder, "train/n00000007"))
	if _, err := Open(t.Context(), "tiny-imagenet", Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "n00000007") {
		t.Errorf("missing class folder: error %v", err)
	}
}

func TestVerifyTinyImageNet(t *testing.T) {
	dir := fakeTiny(t)
	r, err := Verify(t.Context(), "tiny-imagenet", Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Status{}
	for _, f := range r.Files {
		got[strings.TrimPrefix(f.Path, tinyFolder+"/")] = f.Status
	}
	want := map[string]Status{"wnids.txt": Readable, "words.txt": Readable, "val/val_annotations.txt": Readable, "val/images/": Partial, "train/": Partial}
	for f, s := range want {
		if got[f] != s {
			t.Errorf("%s is %s: want %s", f, got[f], s)
		}
	}
	writeFile(t, filepath.Join(dir, tinyFolder, "val/images/val_3.JPEG"), []byte("no"))
	if r, err = Verify(t.Context(), "tiny-imagenet", Options{Dir: dir}); err != nil || r.Files[3].Status != Damaged {
		t.Errorf("broken JPEG: %v, error %v", r.Files[3], err)
	}
}
