package datasets

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// exif is a block of metadata that has nothing but the orientation.
func exif(order binary.AppendByteOrder, orientation int) []byte {
	mark := "II*\x00"
	if order == binary.BigEndian {
		mark = "MM\x00*"
	}
	b := order.AppendUint16(order.AppendUint32([]byte(mark), 8), 1)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 0x112), 3), 1)
	return order.AppendUint32(order.AppendUint16(order.AppendUint16(b, uint16(orientation)), 0), 0)
}

// withEXIF puts metadata into a JPEG or a PNG, where cameras do: in the former behind other
// segments.
func withEXIF(file, exif []byte, before ...byte) []byte {
	if bytes.HasPrefix(file, []byte("\x89PNG")) {
		const at = 8 + 25 // behind IHDR
		chunk := append([]byte("eXIf"), exif...)
		out := binary.BigEndian.AppendUint32(bytes.Clone(file[:at]), uint32(len(exif)))
		return append(binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk)), file[at:]...)
	}
	segment := append([]byte("Exif\x00\x00"), exif...)
	out := append(append(bytes.Clone(file[:2]), before...), 0xff, 0xe1)
	return append(append(binary.BigEndian.AppendUint16(out, uint16(len(segment)+2)), segment...), file[2:]...)
}

// seen is an image without symmetries, 16 pixels high and 8 wide.
func seen() *image.Gray {
	img := image.NewGray(image.Rect(0, 0, 8, 16))
	for i := range img.Pix {
		if x, y := i%8, i/8; x < 4 && y < 8 || x < 2 {
			img.Pix[i] = 240
		}
	}
	return img
}

// stored returns the image as a camera in the given orientation writes it. EXIF's orientation says
// where row 0 and column 0 of the file belong in the upright image.
func stored(img *image.Gray, orientation int) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	where := map[int]func(x, y int) (int, int){ // of a pixel that is seen at x, y
		1: func(x, y int) (int, int) { return x, y },
		2: func(x, y int) (int, int) { return w - 1 - x, y },
		3: func(x, y int) (int, int) { return w - 1 - x, h - 1 - y },
		4: func(x, y int) (int, int) { return x, h - 1 - y },
		5: func(x, y int) (int, int) { return y, x },
		6: func(x, y int) (int, int) { return y, w - 1 - x },
		7: func(x, y int) (int, int) { return h - 1 - y, w - 1 - x },
		8: func(x, y int) (int, int) { return h - 1 - y, x },
	}[orientation]
	out := image.NewGray(image.Rect(0, 0, w, h))
	if orientation > 4 {
		out = image.NewGray(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			i, j := where(x, y)
			out.SetGray(i, j, img.GrayAt(x, y))
		}
	}
	return out
}

// TestOrientation: images are learnt as they are seen, however the camera was held, whatever the
// format, also if they are brought to another size.
func TestOrientation(t *testing.T) {
	xmp := append([]byte{0xff, 0xe1, 0, 31}, "http://ns.adobe.com/xap/1.0/\x00"...)
	for name, file := range map[string]func(img image.Image, orientation int) []byte{
		"a.jpg": func(img image.Image, o int) []byte {
			return withEXIF(encoded(t, "a.jpg", img), exif(binary.BigEndian, o))
		},
		"behind.jpg": func(img image.Image, o int) []byte {
			return withEXIF(encoded(t, "a.jpg", img), exif(binary.LittleEndian, o), xmp...)
		},
		"a.png": func(img image.Image, o int) []byte {
			return withEXIF(encoded(t, "a.png", img), exif(binary.BigEndian, o))
		},
		"a.tif": func(img image.Image, o int) []byte { return orientedTIFF(t, img, o) },
	} {
		for o := 1; o <= 8; o++ {
			for _, query := range []string{"", "?size=5x4", "?size=12x12&fit=pad"} {
				t.Run(fmt.Sprint(name, "/", o, query), func(t *testing.T) {
					want := four(t, name, file(seen(), 1), query)
					got := four(t, name, file(stored(seen(), o), o), query)
					if got.Size() != want.Size() ||
						!near(got.Train.Pixels, want.Train.Pixels, map[bool]int{true: 12}[strings.HasSuffix(name, "jpg")]) {
						t.Errorf("%s: %v, want %s: %v", got.Size(), got.Image(&got.Train, 0), want.Size(), want.Image(&want.Train, 0))
					}
					if said := strings.Contains(got.Note, "4 of 4 images were turned upright"); said != (o > 1) {
						t.Error(got.Note)
					}
				})
			}
		}
	}
}

// near reports whether bytes differ by no more than that.
func near(a, b []byte, most int) bool {
	for i := range min(len(a), len(b)) {
		if d := int(a[i]) - int(b[i]); max(d, -d) > most {
			return false
		}
	}
	return len(a) == len(b)
}

// orientedTIFF adds the orientation to the tags of a TIFF, which are at its end in the order of
// their numbers.
func orientedTIFF(t *testing.T, img image.Image, orientation int) []byte {
	var b bytes.Buffer
	must.Do(t, tiff.Encode(&b, img, nil))
	file, order := b.Bytes(), binary.LittleEndian
	at := order.Uint32(file[4:])
	n := order.Uint16(file[at:])
	tags := bytes.Clone(file[at+2 : at+2+12*uint32(n)])
	entry := order.AppendUint16(order.AppendUint16(nil, 0x112), 3)
	entry = order.AppendUint32(order.AppendUint32(entry, 1), uint32(orientation))
	var all []byte
	for tag := range slices.Chunk(tags, 12) {
		if entry != nil && order.Uint16(tag) > 0x112 {
			all, entry = append(all, entry...), nil
		}
		all = append(all, tag...)
	}
	out := bytes.Clone(file)
	order.PutUint32(out[4:], uint32(len(out)))
	return append(append(order.AppendUint16(out, n+1), all...), 0, 0, 0, 0)
}

// TestOrientationNonsense: metadata that cannot be understood turn nothing, and refuse nothing.
func TestOrientationNonsense(t *testing.T) {
	plain := encoded(t, "a.png", seen())
	whole := exif(binary.BigEndian, 6)
	for name, block := range map[string][]byte{
		"0": exif(binary.BigEndian, 0), "9": exif(binary.LittleEndian, 9), "cut": whole[:12], "empty": nil,
		"text":     []byte("upside down"),
		"far away": append([]byte("MM\x00*"), 0xff, 0xff, 0xff, 0xf0),
	} {
		t.Run(name, func(t *testing.T) {
			if o := orientationOf(withEXIF(plain, block)); o != 1 {
				t.Errorf("orientation %d", o)
			}
			if d := four(t, ".png", withEXIF(plain, block), ""); d.Size() != "16×8×1" {
				t.Errorf("%s", d.Size())
			}
		})
	}
}

// TestWebPOrientation finds the orientation in a WebP, with and without the mark that JPEG puts in
// front of metadata.
func TestWebPOrientation(t *testing.T) {
	chunk := func(name string, data []byte) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))),
			append(data, make([]byte, len(data)%2)...)...)
	}
	pixel := []byte("/\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07")
	for _, mark := range []string{"", "Exif\x00\x00"} {
		t.Run(mark, func(t *testing.T) {
			body := slices.Concat([]byte("WEBP"), chunk("VP8X", []byte{8, 0, 0, 0, 0, 0, 0, 0, 0, 0}), chunk("VP8L", pixel),
				chunk("EXIF", append([]byte(mark), exif(binary.LittleEndian, 8)...)))
			file := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
			if o := orientationOf(file); o != 8 {
				t.Errorf("orientation %d", o)
			}
			if d := four(t, ".webp", file, ""); !strings.Contains(d.Note, "4 of 4 images were turned") {
				t.Error(d.Note)
			}
		})
	}
}

// TestDeepOrientation: images of 16 bits, and with colours and transparency, are turned with all
// their bits.
func TestDeepOrientation(t *testing.T) {
	img := image.NewNRGBA64(image.Rect(0, 0, 4, 2))
	for i := range 8 {
		img.SetNRGBA64(i%4, i/4, color.NRGBA64{uint16(i) * 500, 4000, 100, 0xffff})
	}
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, img))
	d := four(t, ".png", withEXIF(b.Bytes(), exif(binary.BigEndian, 6)), "")
	if d.Size() != "4×2×3" || !strings.Contains(d.Note, "use 12 bits") {
		t.Fatal(d.Size(), d.Note)
	}
	red := []byte{}
	for i := range 8 {
		red = append(red, d.Image(&d.Train, 0)[3*i])
	}
	if !slices.IsSortedFunc([]byte{red[1], red[3], red[5], red[7], red[0], red[2], red[4], red[6]}, func(a, b byte) int {
		return int(a) - int(b)
	}) {
		t.Errorf("the red of the pixels is %v", red)
	}
}

// TestBroken: images that cannot be read are all named at once, whether their headers are damaged
// or their data; or left out.
func TestBroken(t *testing.T) {
	dir := colours(t, 10)
	whole := encoded(t, "a.png", seen())
	for k := range 6 {
		write(t, filepath.Join(dir, "red", fmt.Sprintf("broken%d.png", k)),
			[][]byte{[]byte("<html>"), whole[:len(whole)/2], nil}[k%3])
	}
	_, err := Open(t.Context(), "folder:"+dir, Options{})
	for _, want := range []string{"6 of 36 images cannot be read", "broken0.png", "broken1.png", "broken2.png",
		"broken5.png", "\"folder:PATH?broken=skip\""} {
		t.Run(want, func(t *testing.T) {
			expect.Refusal(t, "damaged pictures", err, want)
		})
	}
	_, inspected := Inspect(t.Context(), "folder:"+dir, Options{})
	expect.Refusal(t, "Inspect", inspected, "6 of 36 images")
	d := mustOpen(t, "folder:"+dir+"?broken=skip")
	i := must.Get(Inspect(t.Context(), "folder:"+dir+"?broken=skip", Options{}))(t)
	switch {
	case d.Train.Len()+d.Test.Len() != 30:
		t.Errorf("d.Train.Len()+d.Test.Len() is %d; want 30", d.Train.Len()+d.Test.Len())
	case d.Size() != "20×20×3":
		t.Errorf("d.Size() is %q; want %q", d.Size(), "20×20×3")
	case d.SHA256 != i.SHA256:
		t.Errorf("d.SHA256 is %q; want %q", d.SHA256, i.SHA256)
	}
	for _, want := range []string{"6 images of 36 cannot be read and were left out (broken=skip)", "broken4.png"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(d.Note, want) {
				t.Errorf("the note %q lacks %q", d.Note, want)
			}
		})
	}
	for k := range 40 {
		write(t, filepath.Join(dir, "blue", fmt.Sprintf("more%d.png", k)), []byte("x"))
	}
	switch _, err := Open(t.Context(), "folder:"+dir, Options{}); {
	case err == nil:
		t.Error("a long list: no error")
	case !strings.Contains(err.Error(), "46 of 76"), !strings.Contains(err.Error(), "and 26 more"):
		t.Errorf("a long list: %v", err)
	case len(err.Error()) > 8000:
		t.Errorf("a long list: len(err.Error()) is %d; want at most 8000", len(err.Error()))
	}
	for _, file := range must.Get(filepath.Glob(filepath.Join(dir, "green", "*")))(t) {
		write(t, file, []byte("x"))
	}
	refused(t, "folder:"+dir+"?broken=skip", `"green" has 0 samples for training`)
}
