package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jsummers/gobmp"
	"golang.org/x/image/bmp"
	"golang.org/x/image/draw"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// A pictureFormat is a format of image files, known by how they begin.
type pictureFormat struct {
	name   string
	magic  string // "?" stands for any byte
	decode func(io.Reader) (image.Image, error)
	config func(io.Reader) (image.Config, error)
}

var pictureFormats = []pictureFormat{
	{"PNG", "\x89PNG\r\n\x1a\n", png.Decode, png.DecodeConfig},
	{"JPEG", "\xff\xd8", jpeg.Decode, jpeg.DecodeConfig},
	{"GIF", "GIF8", gif.Decode, gif.DecodeConfig}, // its first frame
	{"WebP", "RIFF????WEBP", webp.Decode, webp.DecodeConfig},
	{"BMP", "BM", or(bmp.Decode, gobmp.Decode), or(bmp.DecodeConfig, gobmp.DecodeConfig)}, // the latter for 16 bits and packed ones
	{"TIFF", "II*\x00", tiff.Decode, tiff.DecodeConfig},                                   // its first page
	{"TIFF", "MM\x00*", tiff.Decode, tiff.DecodeConfig},
}

// pictureEndings are the endings of the files that are read, in small letters.
const pictureEndings = ".png .jpg .jpeg .jpe .jfif .gif .webp .bmp .tif .tiff"

const (
	maxPictureBytes  = 256 << 20 // of a file
	maxPicturePixels = 1 << 26   // of an image: 67 million
	maxPictureSide   = 1<<16 - 1 // as in a JPEG; resampling takes memory for the samples' width times an image's height
)

// readPicture returns the bytes of an image file.
func readPicture(path string) ([]byte, error) {
	info, err := statFile(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxPictureBytes {
		return nil, fmt.Errorf("%d bytes; at most %d MB are read", info.Size(), maxPictureBytes>>20)
	}
	return os.ReadFile(path)
}

// pictureConfig returns the format, the size and the colours of an image from the beginning of its file.
func pictureConfig(data []byte) (f *pictureFormat, c image.Config, err error) {
	defer recovered(&err)
	if f, err = formatOf(data); err != nil {
		return nil, c, err
	}
	if c, err = f.config(bytes.NewReader(data)); err != nil {
		return nil, c, fmt.Errorf("not a readable %s: %w", f.name, err)
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPicturePixels/c.Height || max(c.Width, c.Height) > maxPictureSide {
		return nil, c, fmt.Errorf("its header says %d×%d pixels; at most %d million are decoded, and %d on a side", c.Width, c.Height, maxPicturePixels/1_000_000, maxPictureSide)
	}
	return f, c, nil
}

// decodePicture decodes an image, unless its header says that it is too large.
func decodePicture(data []byte) (img image.Image, err error) {
	defer recovered(&err)
	f, c, err := pictureConfig(data)
	if err != nil {
		return nil, err
	}
	if img, err = f.decode(bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("not a readable %s: %w", f.name, err)
	}
	if img.Bounds().Empty() {
		return nil, errors.New("it has no pixels")
	}
	return onScreen(img, image.Rect(0, 0, c.Width, c.Height)), nil
}

// onScreen returns an image of the size that its file has. The first frame of a GIF may be smaller; around it nothing is
// drawn.
func onScreen(img image.Image, screen image.Rectangle) image.Image {
	if img.Bounds() == screen {
		return img
	}
	all := image.NewNRGBA(screen)
	draw.Draw(all, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return all
}

// recovered turns a panic of a decoder into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("not a readable image: %v", p)
	}
}

func formatOf(data []byte) (*pictureFormat, error) {
	if len(data) == 0 {
		return nil, errors.New("the file is empty")
	}
	for i, f := range pictureFormats {
		if begins(data, f.magic) {
			return &pictureFormats[i], nil
		}
	}
	return nil, errors.New("not a PNG, JPEG, GIF, WebP, BMP or TIFF image, whatever its name says")
}

// begins reports whether data begin with magic, in which "?" stands for any byte.
func begins(data []byte, magic string) bool {
	for i := range len(magic) {
		if i >= len(data) || magic[i] != '?' && data[i] != magic[i] {
			return false
		}
	}
	return true
}

// coloursOf returns the colour model of an image, whose header says that it is c. Go has no model for the grey PNGs with
// transparency, type 4 in their header, and the header of a GIF says nothing of a first frame that has a table of colours
// of its own.
func coloursOf(data []byte, c color.Model) (_ color.Model, err error) {
	defer recovered(&err)
	const typeAt = 25
	if begins(data, "\x89PNG") && len(data) > typeAt && data[typeAt] == 4 {
		return color.GrayModel, nil
	}
	if !begins(data, "GIF8") {
		return c, nil
	}
	img, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("not a readable GIF: %w", err)
	}
	return img.ColorModel(), nil
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
