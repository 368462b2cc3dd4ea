package datasets

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// paint writes an image file of the given size, in one colour.
func paint(t *testing.T, path string, width, height int, c color.Color) {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		img.Set(i%width, i/width, c)
	}
	write(t, path, encoded(t, path, img))
}

func encoded(t *testing.T, path string, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	err := png.Encode(&b, img)
	if filepath.Ext(path) == ".jpg" {
		b.Reset()
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 95})
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.Do(t, os.WriteFile(path, data, 0o666))
}

// colours writes a folder with n images of each of three colours and returns its path.
func colours(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for class, c := range map[string]color.NRGBA{"red": {255, 0, 0, 255}, "green": {0, 255, 0, 255},
		"blue": {0, 0, 255, 255}} {
		for i := range n {
			c := c
			c.A = uint8(255 - i) // so that no two images are equal
			paint(t, filepath.Join(dir, class, fmt.Sprintf("img%d.png", i+1)), 20, 20, c)
		}
	}
	return dir
}

func mustOpen(t *testing.T, name string) *Dataset {
	t.Helper()
	d := must.Get(Open(context.Background(), name, Options{}))(t)
	return d
}

// four writes a folder of two classes with the same image four times, and opens it.
func four(t *testing.T, file string, data []byte, query string) *Dataset {
	t.Helper()
	dir := t.TempDir()
	for _, place := range []string{"a/1", "a/2", "b/1", "b/2"} {
		write(t, filepath.Join(dir, place+file), data)
	}
	return mustOpen(t, "folder:"+dir+query)
}

// refused checks that a set cannot be opened, and that the error names a file or folder.
func refused(t *testing.T, name, file string) {
	t.Helper()
	if _, err := Open(context.Background(), name, Options{}); err == nil ||
		!strings.Contains(filepath.ToSlash(err.Error()), file) {
		t.Errorf("%s: error %v; want one that names %s", name, expect.Text(err), file)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	must.Do(t, os.Symlink(target, path))
}

func TestFolder(t *testing.T) {
	dir := colours(t, 10)
	d := mustOpen(t, "folder:"+dir)
	switch {
	case !slices.Equal(d.Classes, []string{"blue", "green", "red"}):
		t.Fatalf("d.Classes is %q; want %q", d.Classes, []string{"blue", "green", "red"})
	case d.Size() != "20×20×3":
		t.Fatalf("d.Size() is %q; want %q", d.Size(), "20×20×3")
	case d.Train.Len() != 24:
		t.Fatalf("d.Train.Len() is %d; want 24", d.Train.Len())
	case d.Test.Len() != 6:
		t.Fatalf("d.Test.Len() is %d; want 6", d.Test.Len())
	}
	if p := d.Image(&d.Train, 0); p[2] != 255 || p[0] > 10 {
		t.Errorf("the first blue pixel is %v", p[:3])
	}
	again := mustOpen(t, "folder:"+dir)
	switch {
	case !bytes.Equal(d.Train.Pixels, again.Train.Pixels):
		t.Errorf("d.Train.Pixels is %q; want %q", d.Train.Pixels, again.Train.Pixels)
	case d.SHA256 != again.SHA256:
		t.Errorf("d.SHA256 is %q; want %q", d.SHA256, again.SHA256)
	case len(d.SHA256) != 64:
		t.Errorf("len(d.SHA256) is %d; want 64", len(d.SHA256))
	}
	i, err := Inspect(context.Background(), "folder:"+dir, Options{})
	switch {
	case err != nil:
		t.Error(err)
	case i.SHA256 != d.SHA256:
		t.Errorf("i.SHA256 is %q; want %q", i.SHA256, d.SHA256)
	case i.Classes != 3:
		t.Errorf("i.Classes is %d; want 3", i.Classes)
	case i.Train != 24:
		t.Errorf("i.Train is %d; want 24", i.Train)
	case i.Image != "20×20×3":
		t.Errorf("i.Image is %q; want %q", i.Image, "20×20×3")
	case i.Title != d.Title:
		t.Errorf("i.Title is %q; want %q", i.Title, d.Title)
	case i.Source != d.Source:
		t.Errorf("i.Source is %q; want %q", i.Source, d.Source)
	case i.Licence != d.Licence:
		t.Errorf("i.Licence is %q; want %q", i.Licence, d.Licence)
	}
	paint(t, filepath.Join(dir, "red", "img1.png"), 20, 20, color.Black)
	if i, err := Inspect(context.Background(), "folder:"+dir, Options{}); err != nil || i.SHA256 == d.SHA256 {
		t.Errorf("an image has changed, and the checksum has not: %v", expect.Text(err))
	}
}

// TestFolderSplit: an image that is added moves at most one other image of its class to the other
// split.
func TestFolderSplit(t *testing.T) {
	dir := colours(t, 20)
	testNames := func(query string) map[string]bool {
		f := must.Get(parseFolder(dir, must.Get(queried(query))(t)))(t).(*folder)
		names := map[string]bool{}
		for _, p := range must.Get(f.list(t.Context()))(t).test {
			names[p.path] = true
		}
		return names
	}
	before := testNames("test=0.25")
	if len(before) != 15 {
		t.Fatalf("%d test images, want 15", len(before))
	}
	paint(t, filepath.Join(dir, "red", "another.png"), 20, 20, color.White)
	after, moved := testNames("test=0.25"), 0
	for name := range before {
		if !after[name] {
			moved++
		}
	}
	if moved > 1 {
		t.Errorf("%d images moved", moved)
	}
	if other := testNames("test=0.25&seed=1"); fmt.Sprint(other) == fmt.Sprint(after) {
		t.Error("another seed gives the same split")
	}
}

// TestFolderOfSplits: train and test folders, images in folders below, natural order, other formats
// and sizes.
func TestFolderOfSplits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train/train/a10.jpg", "train/train/a9.png", "train/bus/x/1.png", "test/train/1.PNG.png",
		"test/bus/2.jpg"} {
		t.Run(name, func(t *testing.T) {
			paint(t, filepath.Join(dir, name), 40, 20, color.NRGBA{uint8(len(name)), 100, 100, 255})
		})
	}
	write(t, filepath.Join(dir, "train", "bus", "notes.txt"), []byte("hello"))
	write(t, filepath.Join(dir, "train", "bus", ".thumbnail.png"), nil)
	d := mustOpen(t, "folder:"+dir+"?size=10x8&channels=1")
	switch {
	case !slices.Equal(d.Classes, []string{"bus", "train"}):
		t.Fatalf("d.Classes is %q; want %q", d.Classes, []string{"bus", "train"})
	case d.Size() != "10×8×1":
		t.Fatalf("d.Size() is %q; want %q", d.Size(), "10×8×1")
	case d.Train.Len() != 3:
		t.Fatalf("d.Train.Len() is %d; want 3", d.Train.Len())
	case d.Test.Len() != 2:
		t.Fatalf("d.Test.Len() is %d; want 2", d.Test.Len())
	}
	switch tree := must.Get(readTree(t.Context(), dir))(t); {
	case tree.train[0].name != "x/1.png":
		t.Errorf("tree.train[0].name is %q; want %q", tree.train[0].name, "x/1.png")
	case tree.train[1].name != "a9.png":
		t.Errorf("tree.train[1].name is %q; want %q", tree.train[1].name, "a9.png")
	case tree.train[2].name != "a10.jpg":
		t.Errorf("tree.train[2].name is %q; want %q", tree.train[2].name, "a10.jpg")
	}
	for _, want := range []string{"from the folder test", "5 of 5 images were brought to 10×8 (crop)",
		"1 files .txt were left out"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(d.Note, want) {
				t.Errorf("the note %q lacks %q", d.Note, want)
			}
		})
	}
	refused(t, "folder:"+dir+"?test=0.3", "split")
	paint(t, filepath.Join(dir, "test/tram/1.png"), 4, 4, color.Black)
	refused(t, "folder:"+dir, "train/tram")
}

// TestShapes checks pixels: what is transparent, grey, deep, cropped, padded or stretched.
func TestShapes(t *testing.T) {
	half := image.NewNRGBA(image.Rect(0, 0, 8, 4)) // left black, right transparent
	for i := range 32 {
		if i%8 < 4 {
			half.Set(i%8, i/8, color.Black)
		}
	}
	deep := image.NewGray16(image.Rect(0, 0, 4, 4))
	for i := range 16 {
		deep.SetGray16(i%4, i/4, color.Gray16{Y: 0x1234})
	}
	deep.SetGray16(3, 3, color.Gray16{Y: 0xffff})
	for _, c := range []struct {
		name, query   string
		img           image.Image
		at            int // of a sample of 4×4 pixels
		least, most   uint8
		height, width int
	}{
		{"transparent is white", "", half, 4, 255, 255, 4, 8},
		{"transparent is black", "background=black", half, 7, 0, 0, 4, 8},
		{"16 bits", "", deep, 5, 0x12, 0x12, 4, 4},
		{"crop keeps the middle", "size=4&fit=crop", half, 0, 0, 20, 4, 4},
		{"crop keeps the middle's right", "size=4&fit=crop", half, 3, 235, 255, 4, 4},
		{"pad has borders", "size=4&fit=pad&background=white", half, 0, 255, 255, 4, 4},
		{"pad shows the left", "size=4&fit=pad", half, 4, 0, 30, 4, 4},
		{"stretch", "size=4&fit=stretch", half, 12, 0, 30, 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := four(t, ".png", encoded(t, "a.png", c.img), "?channels=1&"+c.query)
			p := d.Image(&d.Train, 0)
			switch {
			case d.Height != c.height:
				t.Errorf("%s, pixel %d is %d, want %d to %d: d.Height is %d; want %d", d.Size(), c.at, p[c.at], c.least, c.most,
					d.Height, c.height)
			case d.Width != c.width:
				t.Errorf("%s, pixel %d is %d, want %d to %d: d.Width is %d; want %d", d.Size(), c.at, p[c.at], c.least, c.most,
					d.Width, c.width)
			case p[c.at] < c.least:
				t.Errorf("%s, pixel %d is %d, want %d to %d: p[c.at] is %d; want at least %d", d.Size(), c.at, p[c.at], c.least,
					c.most, p[c.at], c.least)
			case p[c.at] > c.most:
				t.Errorf("%s, pixel %d is %d, want %d to %d: p[c.at] is %d; want at most %d", d.Size(), c.at, p[c.at], c.least,
					c.most, p[c.at], c.most)
			}
		})
	}
}

// TestGIF: a first frame that is smaller than the screen stays where it is on it, and has colours
// that are in its own table.
func TestGIF(t *testing.T) {
	for name, c := range map[string]struct {
		frame image.Rectangle
		ink   color.Color
		table color.Palette
	}{
		"small":          {image.Rect(4, 4, 8, 8), color.Black, color.Palette{color.Black}},
		"own colours":    {image.Rect(0, 0, 8, 8), color.NRGBA{255, 0, 0, 255}, nil},
		"beside a table": {image.Rect(0, 0, 8, 8), color.NRGBA{255, 0, 0, 255}, color.Palette{color.White}},
	} {
		t.Run(name, func(t *testing.T) {
			config := image.Config{Width: 8, Height: 8}
			if c.table != nil {
				config.ColorModel = c.table
			}
			var b bytes.Buffer
			frame := image.NewPaletted(c.frame, color.Palette{c.ink})
			must.Do(t, gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0}, Config: config}))
			d := four(t, ".gif", b.Bytes(), "")
			if want := map[bool]string{true: "8×8×1", false: "8×8×3"}[c.ink == color.Black]; d.Size() != want {
				t.Errorf("samples of %s", d.Size())
				return
			}
			for i := range 64 {
				at, want := image.Pt(i%8, i/8), color.Color(color.White)
				if at.In(c.frame) {
					want = c.ink
				}
				r, _, b, _ := want.RGBA()
				if p := d.Image(&d.Train, 0)[i*d.Channels : (i+1)*d.Channels]; p[0] != uint8(r>>8) ||
					p[d.Channels-1] != uint8(b>>8) {
					t.Errorf("pixel %v is %v", at, p)
				}
			}
		})
	}
}

// TestGreyPNGWithTransparency: such pictures, which image/png does not write, have no colours, so
// the samples have one channel, and the white background shines through.
func TestGreyPNGWithTransparency(t *testing.T) {
	var file, packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	for range 8 {
		z.Write(append([]byte{0}, bytes.Repeat([]byte{0, 127}, 8)...)) // each pixel has a brightness and an opacity
	}
	must.Do(t, z.Close())
	file.WriteString("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{
		append([]byte("IHDR"), 0, 0, 0, 8, 0, 0, 0, 8, 8, 4, 0, 0, 0), append([]byte("IDAT"), packed.Bytes()...),
		[]byte("IEND"),
	} {
		file.Write(binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-4)))
		file.Write(binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk)))
	}
	d := four(t, ".png", file.Bytes(), "")
	if d.Size() != "8×8×1" || slices.ContainsFunc(d.Train.Pixels, func(v uint8) bool { return v != 128 }) {
		t.Errorf("samples of %s, %v", d.Size(), d.Image(&d.Train, 0))
	}
}

// bomb is a PNG whose header promises a size that nobody should decode.
func bomb(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	head = append(head, 8, 2, 0, 0, 0)
	data := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(data, head...), crc32.ChecksumIEEE(head))
}

func TestBadFolders(t *testing.T) {
	for file, make := range map[string]func(path string){
		"red/bomb.png":  func(path string) { write(t, path, bomb(1<<16, 1<<16)) },
		"red/thin.png":  func(path string) { write(t, path, bomb(1, 1<<26)) },
		"red/cut.png":   func(path string) { write(t, path, encoded(t, path, image.NewGray(image.Rect(0, 0, 9, 9)))[:50]) },
		"red/html.jpg":  func(path string) { write(t, path, []byte("<html>")) },
		"red/empty.jpg": func(path string) { write(t, path, nil) },
		"other/x.ppm":   func(path string) { write(t, path, nil) },
		"single/x.png":  func(path string) { paint(t, path, 2, 2, color.Black) },
		"red/loop":      func(path string) { link(t, ".", path) },
		"red/nowhere":   func(path string) { link(t, "nothing", path) },
		"train":         func(path string) { paint(t, path+"/red/x.png", 2, 2, color.Black) },
		"bad\\xff":      func(string) {},
		"Red":           func(path string) { paint(t, path+"/x.png", 2, 2, color.Black) },
	} {
		t.Run(file, func(t *testing.T) {
			dir := colours(t, 2)
			switch {
			case runtime.GOOS != "linux" && !strings.Contains(file, ".") && file != "train":
				return // links, and names that differ in nothing but case or are not UTF-8
			case file == "bad\\xff":
				paint(t, dir+"/bad\xff/x.png", 2, 2, color.Black)
			default:
				make(filepath.Join(dir, file))
			}
			refused(t, "folder:"+dir, file)
		})
	}
}

func TestBadNames(t *testing.T) {
	dir := colours(t, 2)
	for _, name := range []string{"folder:", "folder:" + dir + "?sise=3", "folder:" + dir + "?size=0",
		"folder:" + dir + "?test=2", "folder:" + dir + "?fit=max",
		"folder:" + dir + "?size=4&size=5", "fodler:" + dir} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(context.Background(), name, Options{})
			expect.Refusal(t, "Open", err, ErrName)
		})
	}
	_, err := Open(context.Background(), "folder:"+filepath.Join(dir, "none"), Options{})
	expect.Refusal(t, "a folder that is not there", err, fs.ErrNotExist)
}

func TestNatural(t *testing.T) {
	names := []string{"b", "a10", "a9", "a09", "a", "a9b", "A1"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "A1 a a09 a9 a9b a10 b" {
		t.Error(got)
	}
}

// TestSplitNames: the layouts of other projects are read as what they are, or refused.
func TestSplitNames(t *testing.T) {
	for folders, want := range map[string]string{ // where the test images are; "split" or "refused"
		"Train Test": "Test", "TRAIN VAL": "VAL", "training testing": "testing",
		"seg_train/seg_train seg_test/seg_test": "seg_test",
		"train_images validation-images":        "validation-images", "data/TrainSet data/DevSet data/EvalSet": "EvalSet",
		"dataset/train2017 dataset/val2017": "val2017", "traindata testdata": "testdata", "train": "split",
		"Learn Check": "refused", "images/train images/val labels/train labels/val": "refused",
		"train1 train2 test":  "refused",
		"Train Test_A Test_B": "refused", "Train Test Unlabelled": "refused", "Test Val": "refused",
	} {
		t.Run(folders, func(t *testing.T) {
			dir := t.TempDir()
			for k, folder := range strings.Fields(folders) {
				for i, class := range []string{"cat", "cat", "dog", "dog"} {
					paint(t, filepath.Join(dir, folder, class, fmt.Sprint(i, ".png")), 4, 4, color.Gray{uint8(10*k + i)})
				}
			}
			if want == "refused" {
				refused(t, "folder:"+dir, filepath.ToSlash(dir))
				return
			}
			d := mustOpen(t, "folder:"+dir)
			switch {
			case !slices.Equal(d.Classes, []string{"cat", "dog"}):
				t.Errorf("d.Classes is %q; want %q", d.Classes, []string{"cat", "dog"})
			case d.Test.Len() != 4-2*strings.Count(want, "split"):
				t.Errorf("d.Test.Len() is %d; want %d", d.Test.Len(), 4-2*strings.Count(want, "split"))
			case want != "split" && !strings.Contains(d.Note, want):
				t.Errorf("%d test images, %s", d.Test.Len(), d.Note)
			}
		})
	}
	dir := t.TempDir()
	for _, name := range []string{"Train/1.png", "Test/2.png"} {
		t.Run(name, func(t *testing.T) {
			paint(t, filepath.Join(dir, name), 4, 4, color.Black)
		})
	}
	refused(t, "folder:"+dir, "Train")
}

// TestAlike: one rule for classes that look the same, in folders and tables.
func TestAlike(t *testing.T) {
	table := func(classes ...string) error {
		path := filepath.Join(t.TempDir(), "a.csv")
		text := "a,label\n"
		for _, c := range classes {
			text += fmt.Sprintf(".5,%[1]s\n.5,%[1]s\n", c)
		}
		write(t, path, []byte(text))
		_, err := Open(context.Background(), "csv:"+path, Options{})
		return err
	}
	for _, c := range [][2]string{{"Cat", "cat"}, {"caf\u00e9", "cafe\u0301"}, {"dog", "do\u200bg"}, {"1", "1.0"},
		{"a b", "a\u00a0 b"}, {"Straße", "STRASSE"}, {"x2", "x\u00b2"}} {
		if table("other", c[0], c[1]) == nil {
			t.Errorf("%q and %q are different classes", c[0], c[1])
		}
	}
	if err := table("a", "A", "1", "10", "1.5", "é", "e", "O", "0"); err != nil {
		t.Error(err)
	}
}

// TestDepth: of images of 16 bits, those bits are used that their makers used, in all images alike.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		most uint16
		note string
		want uint8 // of a sample of half of most
	}{{255, "use 8 bits", 127}, {1023, "use 10 bits", 127}, {4000, "use 12 bits", 125}, {60000, "", 117},
		{0, "nearly black", 0}} {
		dir := t.TempDir()
		for i := range 4 {
			img := image.NewGray16(image.Rect(0, 0, 4, 4))
			img.SetGray16(0, 0, color.Gray16{Y: c.most / uint16(1+i%2)})
			img.SetGray16(1, 0, color.Gray16{Y: c.most / 2})
			path := filepath.Join(dir, fmt.Sprint(i/2), fmt.Sprint(i, ".png"))
			write(t, path, encoded(t, path, img))
		}
		d := mustOpen(t, "folder:"+dir)
		switch p := d.Image(&d.Train, 0); {
		case p[1] != c.want:
			t.Errorf("%d: p[1] is %d; want %d", c.most, p[1], c.want)
		case !strings.Contains(d.Note, c.note):
			t.Errorf("%d: d.Note is %q; want %q in it", c.most, d.Note, c.note)
		case c.note == "" && strings.Contains(d.Note, "bits"):
			t.Errorf("%d: %v, %s", c.most, p[:4], d.Note)
		}
	}
}

// TestOddities: image files at which Go's decoders stop and other programs do not.
func TestOddities(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black, color.White})
	copy(img.Pix, []uint8{1, 0, 1})
	var gifs, tiffs bytes.Buffer
	must.Do(t, errors.Join(gif.Encode(&gifs, img, nil), tiff.Encode(&tiffs, img, nil)))
	large := bytes.Clone(gifs.Bytes())
	copy(large[6:], "\x02\x00\x00\x00") // a screen of 2×0
	bits16 := append(
		[]byte(
			"BM\x56\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x04\x00\x00\x00\xfc\xff\xff\xff\x01\x00\x10\x00"), make([]byte, 24+32)...)
	copy(bits16[54:], "\xff\x7f\x00\x00\xff\x7f")
	// of two frames
	webps := must.Get(base64.StdEncoding.DecodeString(
		"UklGRrAAAABXRUJQVlA4WAoAAAACAAAADwAADwAAQU5JTQYAAAAAAAAAAABBTk1GUAAAAAAAAAAAAA8AAA8AAGQAAAJWUDhMOAAAAC8PwAMAFyAQSFDyx5pkDbFgMqv8v7AEAkk4+8usM/8xnRoMpG1jcjlcwCXN9BVE9L8JweJQmGcUQU5NRiwAAAAAAAAAAAAAAAABAABkAAAAVlA4TBMAAAAvAEAAAA8w//M///MfaZiAiP5HAA=="))(t)
	for name, data := range map[string][]byte{"a.gif": large, "a.tif": tiffs.Bytes(), "a.bmp": bits16, "a.webp": webps} {
		t.Run(name, func(t *testing.T) {
			d := four(t, name, data, "?channels=1")
			if p := d.Image(&d.Train, 0); name == "a.webp" && d.Height != 16 ||
				name != "a.webp" && (len(p) != 16 || p[0] != 255 || p[1] != 0 || p[2] != 255) {
				t.Error(p)
			}
		})
	}
}
