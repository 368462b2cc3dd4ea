package datasets

import (
	"bytes"
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
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/tiff"
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
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

// colours writes a folder with n images of each of three colours and returns its path.
func colours(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for class, c := range map[string]color.NRGBA{"red": {255, 0, 0, 255}, "green": {0, 255, 0, 255}, "blue": {0, 0, 255, 255}} {
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
	d, err := Open(context.Background(), name, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestInspectAfterOpen: what a set is called does not depend on whether it was opened before.
func TestInspectAfterOpen(t *testing.T) {
	name := "folder:" + colours(t, 2)
	d := mustOpen(t, name)
	i, err := Inspect(context.Background(), name, Options{})
	if err != nil || i.Title == "" || i.Title != d.Title || i.Source != d.Source || i.Licence != d.Licence {
		t.Errorf("opened as %q from %q (%s), then inspected as %q from %q (%s), %v", d.Title, d.Source, d.Licence, i.Title, i.Source, i.Licence, err)
	}
}

func TestFolder(t *testing.T) {
	dir := colours(t, 10)
	d := mustOpen(t, "folder:"+dir)
	if !slices.Equal(d.Classes, []string{"blue", "green", "red"}) || d.Size() != "20×20×3" || d.Train.Len() != 24 || d.Test.Len() != 6 {
		t.Fatalf("%v %s %d %d", d.Classes, d.Size(), d.Train.Len(), d.Test.Len())
	}
	if p := d.Image(&d.Train, 0); p[2] != 255 || p[0] > 10 {
		t.Errorf("the first blue pixel is %v", p[:3])
	}
	again := mustOpen(t, "folder:"+dir)
	if !bytes.Equal(d.Train.Pixels, again.Train.Pixels) || d.SHA256 != again.SHA256 || len(d.SHA256) != 64 {
		t.Error("opened twice, it is not the same")
	}
	i, err := Inspect(context.Background(), "folder:"+dir, Options{})
	if err != nil || i.SHA256 != d.SHA256 || i.Classes != 3 || i.Train != 24 || i.Image != "20×20×3" {
		t.Errorf("Inspect says %+v, %v", i, err)
	}
	paint(t, filepath.Join(dir, "red", "img1.png"), 20, 20, color.Black)
	if i, err := Inspect(context.Background(), "folder:"+dir, Options{}); err != nil || i.SHA256 == d.SHA256 {
		t.Errorf("an image has changed, and the checksum has not: %v", err)
	}
}

// TestFolderSplit: an image that is added moves at most one other image of its class to the other split.
func TestFolderSplit(t *testing.T) {
	dir := colours(t, 20)
	testNames := func(query string) map[string]bool {
		f := parseFolder(dir, newParameters(query)).(*folder)
		tree, err := f.tree(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, p := range tree.test {
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

// TestFolderOfSplits: train and test folders, images in folders below, natural order, other formats and sizes.
func TestFolderOfSplits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"train/train/a10.jpg", "train/train/a9.png", "train/bus/x/1.png", "test/train/1.PNG.png", "test/bus/2.jpg"} {
		paint(t, filepath.Join(dir, name), 40, 20, color.NRGBA{uint8(len(name)), 100, 100, 255})
	}
	write(t, filepath.Join(dir, "train", "bus", "notes.txt"), []byte("hello"))
	write(t, filepath.Join(dir, ".DS_Store"), nil)
	d := mustOpen(t, "folder:"+dir+"?size=10x8&channels=1")
	if !slices.Equal(d.Classes, []string{"bus", "train"}) || d.Size() != "10×8×1" || d.Train.Len() != 3 || d.Test.Len() != 2 {
		t.Fatalf("%v %s %d %d", d.Classes, d.Size(), d.Train.Len(), d.Test.Len())
	}
	tree, err := readTree(context.Background(), dir)
	if err != nil || tree.train[1].name != "a9.png" || tree.train[2].name != "a10.jpg" {
		t.Errorf("the order is %v, %v", tree.train, err)
	}
	for _, want := range []string{"from the folder test", "5 of 5 images were brought to 10×8 (crop)", "1 files .txt were left out"} {
		if !strings.Contains(d.Note, want) {
			t.Errorf("the note %q lacks %q", d.Note, want)
		}
	}
	// A folder of classes, one of which is called train.
	d = mustOpen(t, "folder:"+filepath.Join(colours(t, 3)))
	if len(d.Classes) != 3 {
		t.Error(d.Classes)
	}
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
		dir := t.TempDir()
		for _, name := range []string{"a/1.png", "a/2.png", "b/1.png", "b/2.png"} {
			write(t, filepath.Join(dir, name), encoded(t, name, c.img))
		}
		d := mustOpen(t, "folder:"+dir+"?channels=1&"+c.query)
		p := d.Image(&d.Train, 0)
		if d.Height != c.height || d.Width != c.width || p[c.at] < c.least || p[c.at] > c.most {
			t.Errorf("%s: %s, pixel %d is %d, want %d to %d: %v", c.name, d.Size(), c.at, p[c.at], c.least, c.most, p)
		}
	}
}

// bomb is a PNG whose header promises a size that nobody should decode.
func bomb(width, height uint32) []byte {
	head := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32([]byte("IHDR"), width), height)
	head = append(head, 8, 2, 0, 0, 0)
	data := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), 13)
	return binary.BigEndian.AppendUint32(append(data, head...), crc32.ChecksumIEEE(head))
}

// TestBadFolders: each error names the place and what to do.
func TestBadFolders(t *testing.T) {
	for name, c := range map[string]struct {
		make func(dir string)
		want []string
	}{
		"bomb":      {func(dir string) { write(t, dir+"/red/x.png", bomb(1<<16, 1<<16)) }, []string{"red/x.png", "65536×65536", "or remove them"}},
		"thin":      {func(dir string) { write(t, dir+"/red/x.png", bomb(1, 1<<26)) }, []string{"red/x.png", "1×67108864", "65535", "or remove them"}},
		"cut off":   {func(dir string) { write(t, dir+"/red/x.png", cut(t, dir+"/red/img1.png")) }, []string{"red/x.png", "not a readable PNG"}},
		"no image":  {func(dir string) { write(t, dir+"/red/x.jpg", []byte("<html>")) }, []string{"red/x.jpg", "not a PNG, JPEG"}},
		"empty":     {func(dir string) { write(t, dir+"/red/x.jpg", nil) }, []string{"red/x.jpg", "empty"}},
		"no images": {func(dir string) { write(t, dir+"/empty/x.ppm", nil) }, []string{"empty", "has no image", "x.ppm", "remove the folder"}},
		"case":      {func(dir string) { paint(t, dir+"/Red/x.png", 2, 2, color.Black) }, []string{`"Red"`, `"red"`, "look alike"}},
		"one image": {func(dir string) { paint(t, dir+"/single/x.png", 2, 2, color.Black) }, []string{"single", "a single image", "add images"}},
		"loop":      {func(dir string) { link(t, "..", dir+"/red/up"); link(t, ".", dir+"/red/self") }, []string{"red", "a link to a folder above"}},
		"dangling":  {func(dir string) { link(t, "nowhere", dir+"/red/x.png") }, []string{"red/x.png", "link to nothing"}},
		"no test":   {func(dir string) { paint(t, dir+"/train/red/x.png", 2, 2, color.Black) }, []string{"beside it", "want either"}},
	} {
		if runtime.GOOS == "windows" && (name == "loop" || name == "dangling") || runtime.GOOS != "linux" && name == "case" {
			continue // other systems take red and Red for the same folder
		}
		dir := colours(t, 2)
		c.make(dir)
		_, err := Open(context.Background(), "folder:"+dir, Options{})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(filepath.ToSlash(err.Error()), want) {
				t.Errorf("%s: %v\nlacks %q", name, err, want)
			}
		}
	}
	if runtime.GOOS == "linux" {
		dir := colours(t, 2)
		paint(t, dir+"/bad\xff/x.png", 2, 2, color.Black)
		if _, err := Open(context.Background(), "folder:"+dir, Options{}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("a name that is not UTF-8: %v", err)
		}
	}
}

func cut(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data[:len(data)-20]
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func TestBadNames(t *testing.T) {
	dir := colours(t, 2)
	for name, want := range map[string]string{
		"folder:":                    "names no file",
		"folder:" + dir + "?sise=3":  `no parameter "sise"; the parameters are size, channels, fit, background, test, seed`,
		"folder:" + dir + "?size=0":  "such as 32x32",
		"folder:" + dir + "?test=2":  "between 0 and 1",
		"folder:" + dir + "?fit=max": "crop or stretch or pad",
		"fodler:" + dir:              "no set is called",
	} {
		if _, err := Open(context.Background(), name, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	if _, err := Open(context.Background(), "folder:"+filepath.Join(dir, "none"), Options{}); err == nil || !os.IsNotExist(rootOf(err)) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func rootOf(err error) error {
	for {
		u, ok := err.(interface{ Unwrap() error })
		if !ok || os.IsNotExist(err) {
			return err
		}
		err = u.Unwrap()
	}
}

func TestNatural(t *testing.T) {
	names := []string{"b", "a10", "a9", "a09", "a", "a9b", "A1"}
	slices.SortFunc(names, natural)
	if got := strings.Join(names, " "); got != "A1 a a09 a9 a9b a10 b" {
		t.Error(got)
	}
}

func TestOwnPath(t *testing.T) {
	for name, want := range map[string]string{"folder:photos?size=32x32": "photos", "csv:/a?b.csv?label=y": "/a?b.csv", "npz:x.npz": "x.npz", "emnist": "", "other:x": ""} {
		if got := OwnPath(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSplitNames: the layouts of other projects are read as what they are, or refused.
func TestSplitNames(t *testing.T) {
	for _, c := range []struct{ folders, want string }{
		{"Train Test", "training images from the folder Train, test images from the folder Test"},
		{"TRAIN VAL", "VAL"},
		{"training testing", "testing"},
		{"seg_train/seg_train seg_test/seg_test", "seg_test"},
		{"train_images validation-images", "validation-images"},
		{"data/TrainSet data/DevSet data/EvalSet", "EvalSet; left out: DevSet"},
		{"dataset/train2017 dataset/val2017", "read from the folder dataset"},
		{"traindata testdata", "testdata"},
		{"train", "0.2 of each class"},
		{"Learn Check", "so that both may be the classes"},
		{"images/train images/val labels/train labels/val", "so that both may be the classes"},
		{"train1 train2 test", "2 folders that are named as training images"},
		{"Train Test_A Test_B", "several folders of test images"},
		{"Train Test Unlabelled", "beside it"},
		{"Test Val", "0 folders that are named as training images"},
	} {
		dir := t.TempDir()
		for k, folder := range strings.Fields(c.folders) {
			for i, class := range []string{"cat", "cat", "dog", "dog"} {
				paint(t, filepath.Join(dir, folder, class, fmt.Sprint(i, ".png")), 4, 4, color.Gray{uint8(10*k + i)})
			}
		}
		d, err := Open(context.Background(), "folder:"+dir, Options{})
		if err == nil && (!slices.Equal(d.Classes, []string{"cat", "dog"}) || !strings.Contains(d.Note, c.want)) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v; want %q", c.folders, err, c.want)
		}
	}
	dir := t.TempDir()
	for _, name := range []string{"Train/1.png", "Test/2.png"} {
		paint(t, filepath.Join(dir, name), 4, 4, color.Black)
	}
	if _, err := Open(context.Background(), "folder:"+dir, Options{}); err == nil || !strings.Contains(err.Error(), "no folders of classes") {
		t.Error(err)
	}
}

// TestAlike: one rule for classes that look the same, in folders and tables.
func TestAlike(t *testing.T) {
	for _, c := range [][2]string{{"Cat", "cat"}, {"caf\u00e9", "cafe\u0301"}, {"dog", "do\u200bg"}, {"1", "1.0"}, {"a b", "a\u00a0 b"}, {"Straße", "STRASSE"}, {"x2", "x\u00b2"}} {
		if err := distinct([]string{"other", c[0], c[1]}); err == nil {
			t.Errorf("%q and %q are different classes", c[0], c[1])
		}
		path := filepath.Join(t.TempDir(), "a.csv")
		write(t, path, fmt.Appendf(nil, "a,label\n.5,%[1]s\n.5,%[1]s\n.5,%[2]s\n.5,%[2]s\n", c[0], c[1]))
		if _, err := Open(context.Background(), "csv:"+path, Options{}); err == nil || !strings.Contains(err.Error(), "look alike") {
			t.Errorf("%q and %q: %v", c[0], c[1], err)
		}
	}
	if err := distinct([]string{"a", "A", "1", "10", "1.5", "é", "e", "O", "0"}); err != nil {
		t.Error(err)
	}
}

// TestDepth: of images of 16 bits, those bits are used that their makers used, in all images alike.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		most uint16
		note string
		want uint8 // of a sample of half of most
	}{{255, "use 8 bits", 127}, {1023, "use 10 bits", 127}, {4000, "use 12 bits", 125}, {60000, "", 117}, {0, "nearly black", 0}} {
		dir := t.TempDir()
		for i := range 4 {
			img := image.NewGray16(image.Rect(0, 0, 4, 4))
			img.SetGray16(0, 0, color.Gray16{Y: c.most / uint16(1+i%2)})
			img.SetGray16(1, 0, color.Gray16{Y: c.most / 2})
			path := filepath.Join(dir, fmt.Sprint(i/2), fmt.Sprint(i, ".png"))
			write(t, path, encoded(t, path, img))
		}
		d := mustOpen(t, "folder:"+dir)
		if p := d.Image(&d.Train, 0); p[1] != c.want || !strings.Contains(d.Note, c.note) || c.note == "" && strings.Contains(d.Note, "bits") {
			t.Errorf("%d: %v, %s", c.most, p[:4], d.Note)
		}
	}
}

// TestOddities: image files at which Go's decoders stop and other programs do not.
func TestOddities(t *testing.T) {
	img := image.NewPaletted(image.Rect(0, 0, 4, 4), color.Palette{color.Black, color.White})
	copy(img.Pix, []uint8{1, 0, 1})
	var gifs, tiffs bytes.Buffer
	if err := errors.Join(gif.Encode(&gifs, img, nil), tiff.Encode(&tiffs, img, nil)); err != nil {
		t.Fatal(err)
	}
	large := bytes.Clone(gifs.Bytes())
	copy(large[6:], "\x02\x00\x00\x00") // a screen of 2×0
	bits16 := append([]byte("BM\x56\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x04\x00\x00\x00\xfc\xff\xff\xff\x01\x00\x10\x00"), make([]byte, 24+32)...)
	copy(bits16[54:], "\xff\x7f\x00\x00\xff\x7f")
	webps, err := base64.StdEncoding.DecodeString("UklGRrAAAABXRUJQVlA4WAoAAAACAAAADwAADwAAQU5JTQYAAAAAAAAAAABBTk1GUAAAAAAAAAAAAA8AAA8AAGQAAAJWUDhMOAAAAC8PwAMAFyAQSFDyx5pkDbFgMqv8v7AEAkk4+8usM/8xnRoMpG1jcjlcwCXN9BVE9L8JweJQmGcUQU5NRiwAAAAAAAAAAAAAAAABAABkAAAAVlA4TBMAAAAvAEAAAA8w//M///MfaZiAiP5HAA==") // of two frames
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"a.gif": large, "a.tif": tiffs.Bytes(), "a.bmp": bits16, "a.webp": webps} {
		dir := t.TempDir()
		for _, place := range []string{"a/1", "a/2", "b/1", "b/2"} {
			write(t, filepath.Join(dir, place+name), data)
		}
		d := mustOpen(t, "folder:"+dir+"?channels=1")
		if p := d.Image(&d.Train, 0); name == "a.webp" && d.Height != 16 || name != "a.webp" && (len(p) != 16 || p[0] != 255 || p[1] != 0 || p[2] != 255) {
			t.Errorf("%s: %v", name, p)
		}
	}
}
