package datasets

import (
	"bytes"
	"image"
	"image/color"

	"github.com/bep/imagemeta"
)

// orientationOf returns how the camera was held that made an image, as EXIF numbers it from 1 to 8:
// above 4, height and width are exchanged. It is 1, upright, if the file says nothing that can be
// understood.
func orientationOf(file []byte) int {
	is := func(magic string) bool { return bytes.HasPrefix(file, []byte(magic)) }
	switch {
	case is("\xff\xd8"):
		return orientationIn(file, imagemeta.JPEG)
	case is("\x89PNG"):
		return orientationIn(file, imagemeta.PNG)
	case is("II*\x00"), is("MM\x00*"):
		return orientationIn(file, imagemeta.TIFF)
	case is("RIFF"):
		for name, chunk := range webpChunks(file) { // imagemeta loses its way behind chunks of odd sizes
			if name == "EXIF" {
				return orientationIn(bytes.TrimPrefix(chunk, []byte("Exif\x00\x00")), imagemeta.TIFF)
			}
		}
	}
	return 1
}

func orientationIn(data []byte, format imagemeta.ImageFormat) int {
	found := 1
	// Damaged metadata are no reason to refuse an image.
	_, _ = imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(data), ImageFormat: format, Sources: imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool { return t.Tag == "Orientation" && t.Namespace == "IFD0" },
		HandleTag: func(t imagemeta.TagInfo) error {
			if n := whole(t.Value); n >= 1 && n <= 8 {
				found = n
			}
			return imagemeta.ErrStopWalking
		},
	})
	return found
}

// whole returns a whole number of EXIF, 0 if it is none.
func whole(v any) int {
	switch v := v.(type) {
	case uint16:
		return int(v)
	case uint32:
		return int(v)
	case uint8:
		return int(v)
	}
	return 0
}

// A turned image is shown as it was seen.
type turned struct {
	image.RGBA64Image
	orientation int
}

// upright returns an image as it was seen by a camera that was held so.
func upright(img image.Image, orientation int) image.Image {
	if in, ok := img.(image.RGBA64Image); ok && orientation > 1 { // as all of Go's are
		return turned{in, orientation}
	}
	return img
}

func (t turned) Bounds() image.Rectangle {
	size := t.RGBA64Image.Bounds().Size()
	if t.orientation > 4 {
		size.X, size.Y = size.Y, size.X
	}
	return image.Rectangle{Max: size}
}

// from returns where a pixel is in the file.
func (t turned) from(x, y int) (int, int) {
	b := t.RGBA64Image.Bounds()
	if t.orientation > 4 {
		x, y = y, x
	}
	if t.orientation == 2 || t.orientation == 3 || t.orientation == 7 || t.orientation == 8 {
		x = b.Dx() - 1 - x
	}
	if t.orientation == 3 || t.orientation == 4 || t.orientation == 6 || t.orientation == 7 {
		y = b.Dy() - 1 - y
	}
	return b.Min.X + x, b.Min.Y + y
}

func (t turned) At(x, y int) color.Color { return t.RGBA64Image.At(t.from(x, y)) }

func (t turned) RGBA64At(x, y int) color.RGBA64 { return t.RGBA64Image.RGBA64At(t.from(x, y)) }
