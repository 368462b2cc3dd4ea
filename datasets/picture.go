package datasets

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	_ "image/jpeg"
	_ "image/png"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/jsummers/gobmp" // for BMP with 16 bits, and packed ones
	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// pictureEndings are the endings of the files that are read, in small letters.
const pictureEndings = ".png .jpg .jpeg .jpe .jfif .gif .webp .bmp .tif .tiff"

const (
	maxPictureBytes  = 256 << 20 // of a file
	maxPicturePixels = 1 << 26   // of an image: 67 million
	maxPictureSide   = 1<<16 - 1 // as in a JPEG; resampling takes memory for the samples' width times an image's height
)

// readable says what is wrong with an image, if its decoder returned an error.
func readable(data []byte, err error) error {
	switch {
	case len(data) == 0:
		return errors.New("the file is empty")
	case err == image.ErrFormat:
		return errors.New("not a PNG, JPEG, GIF, WebP, BMP or TIFF image, whatever its name says")
	case err != nil:
		return fmt.Errorf("not a readable image: %w", err)
	}
	return nil
}

// decoding makes a panic of a decoder, which is the code of others, an error of the function that
// defers it.
func decoding(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("not a readable image: %v", p)
	}
}

// pictureHead is what the header of an image file says.
type pictureHead struct {
	sum           [sha256.Size]byte
	height, width int // as it is seen
	orientation   int
	grey          bool
	brightest     uint16 // of 16 bits; known after the image was decoded
}

// headOf also returns what to decode. The checksum is known of any file.
func headOf(file []byte) (h pictureHead, data []byte, err error) {
	h.sum = sha256.Sum256(file)
	defer decoding(&err)
	data = mended(file)
	c, err := pictureConfig(data)
	if err != nil {
		return h, nil, err
	}
	model, err := coloursOf(data, c.ColorModel)
	if err != nil {
		return h, nil, err
	}
	h.height, h.width, h.orientation, h.grey = c.Height, c.Width, orientationOf(file), grey(model)
	if h.orientation > 4 {
		h.height, h.width = c.Width, c.Height
	}
	return h, data, nil
}

// pictureConfig returns the size and the colours of an image from the beginning of its file.
func pictureConfig(data []byte) (image.Config, error) {
	c, err := bmp.DecodeConfig(bytes.NewReader(data)) // which knows transparency; image calls gobmp
	if err != nil {
		c, _, err = image.DecodeConfig(bytes.NewReader(data))
	}
	if err := readable(data, err); err != nil {
		return c, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPicturePixels/c.Height || max(c.Width, c.Height) > maxPictureSide {
		return c, fmt.Errorf("its header says %d×%d pixels; at most %d million are decoded, and %d "+
			"on a side", c.Width, c.Height, maxPicturePixels/1_000_000, maxPictureSide)
	}
	return c, nil
}

// decodePicture decodes an image, unless its header says that it is too large. Of a GIF it is the
// first frame, of a TIFF the first page.
func decodePicture(data []byte) (img image.Image, err error) {
	defer decoding(&err)
	c, err := pictureConfig(data)
	if err != nil {
		return nil, err
	}
	img, err = bmp.Decode(bytes.NewReader(data))
	if err != nil {
		img, _, err = image.Decode(bytes.NewReader(data))
	}
	if err := readable(data, err); err != nil {
		return nil, err
	}
	if img.Bounds().Empty() {
		return nil, errors.New("it has no pixels")
	}
	return onScreen(img, image.Rect(0, 0, c.Width, c.Height)), nil
}

// onScreen returns an image of the size that its file has. The first frame of a GIF may be smaller;
// around it nothing is drawn.
func onScreen(img image.Image, screen image.Rectangle) image.Image {
	if img.Bounds() == screen {
		return img
	}
	all := image.NewNRGBA(screen)
	draw.Draw(all, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return all
}

// coloursOf returns the colour model of an image, whose header says that it is c. Go has no model
// for the grey PNGs with transparency, type 4 in their header, and the header of a GIF says nothing
// of a first frame that has a table of colours of its own.
func coloursOf(data []byte, c color.Model) (color.Model, error) {
	const typeAt = 25
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG")) && len(data) > typeAt && data[typeAt] == 4:
		return color.GrayModel, nil
	case bytes.HasPrefix(data, []byte("GIF8")):
		img, err := gif.Decode(bytes.NewReader(data))
		if err := readable(data, err); err != nil {
			return nil, err
		}
		return img.ColorModel(), nil
	}
	return c, nil
}

// grey reports whether images of a colour model have no colours.
func grey(m color.Model) bool {
	if p, ok := m.(color.Palette); ok {
		for _, c := range p {
			if r, g, b, _ := c.RGBA(); r != g || g != b {
				return false
			}
		}
		return true
	}
	return m == color.GrayModel || m == color.Gray16Model
}

// Where an image has another shape than the samples.
const (
	fitCrop    = "crop"    // its middle
	fitStretch = "stretch" // all of it, distorted
	fitPad     = "pad"     // all of it, with borders
)

// A shaper gives images the size of the samples. It must not be used by several goroutines at once.
type shaper struct {
	height, width, channels int
	fit                     string
	background              color.Color
	scaler                  draw.Scaler // for the size below, which images often have in common
	to, from                image.Point
	canvas                  *image.RGBA
}

func (s *shaper) shape(dst []uint8, img image.Image) {
	if s.canvas == nil {
		s.canvas = image.NewRGBA(image.Rect(0, 0, s.width, s.height))
	}
	draw.Draw(s.canvas, s.canvas.Rect, image.NewUniform(s.background), image.Point{}, draw.Src)
	to, from := s.place(img.Bounds())
	if to.Size() == from.Size() {
		draw.Draw(s.canvas, to, img, from.Min, draw.Over)
	} else {
		if s.scaler == nil || s.to != to.Size() || s.from != from.Size() {
			s.to, s.from = to.Size(), from.Size()
			s.scaler = draw.CatmullRom.NewScaler(s.to.X, s.to.Y, s.from.X, s.from.Y)
		}
		s.scaler.Scale(s.canvas, to, img, from, draw.Over, nil)
	}
	for i, k := 0, 0; k < len(dst); i, k = i+4, k+s.channels {
		p := s.canvas.Pix[i : i+4]
		if s.channels == 3 {
			copy(dst[k:], p[:3])
		} else {
			dst[k] = color.GrayModel.Convert(color.RGBA{p[0], p[1], p[2], 255}).(color.Gray).Y
		}
	}
}

// place returns which part of an image goes where.
func (s *shaper) place(b image.Rectangle) (to, from image.Rectangle) {
	to, from = s.canvas.Rect, b
	wide := b.Dx()*s.height - b.Dy()*s.width // > 0: wider than the samples
	switch {
	case wide == 0 || s.fit == fitStretch:
	case s.fit == fitPad && wide > 0:
		to = middle(to, s.width, max(1, divided(b.Dy()*s.width, b.Dx())))
	case s.fit == fitPad:
		to = middle(to, max(1, divided(b.Dx()*s.height, b.Dy())), s.height)
	case wide > 0:
		from = middle(b, max(1, divided(b.Dy()*s.width, s.height)), b.Dy())
	default:
		from = middle(b, b.Dx(), max(1, divided(b.Dx()*s.height, s.width)))
	}
	return to, from
}

// divided is a/b, rounded to the nearest whole number.
func divided(a, b int) int { return (a + b/2) / b }

// middle returns the rectangle of the given size in the middle of r.
func middle(r image.Rectangle, width, height int) image.Rectangle {
	x, y := r.Min.X+(r.Dx()-width)/2, r.Min.Y+(r.Dy()-height)/2
	return image.Rect(x, y, x+width, y+height)
}

// isPicture reports whether a file is read, by its name.
func isPicture(name string) bool {
	ending := strings.ToLower(filepath.Ext(name))
	return ending != "" && !strings.HasPrefix(name, ".") && slices.Contains(strings.Fields(pictureEndings), ending)
}
