package datasets

import (
	"fmt"
	"image/color"
)

// Shape is what pictures are brought to, as the parameters of a folder: say it (docs/data.md).
type Shape struct {
	Height, Width int
	Channels      int    // 1, grey, or 3
	Fit           string // what is done with another shape: "crop", "stretch" or "pad"; empty stands for crop
	Background    string // what shows where a picture is transparent: "white" or "black"; empty stands for white
}

// Values is how many values a picture has.
func (s Shape) Values() int { return s.Height * s.Width * s.Channels }

// Check returns an error unless pictures can be brought to the shape.
func (s Shape) Check() error {
	switch {
	case min(s.Height, s.Width) < 1 || max(s.Height, s.Width) > 1024 || s.Channels != 1 && s.Channels != 3:
		return fmt.Errorf("datasets: a shape of %d×%d×%d; want a height and a width of 1 to 1024, and 1 or 3 channels",
			s.Height, s.Width, s.Channels)
	case s.Fit != "" && s.Fit != fitCrop && s.Fit != fitStretch && s.Fit != fitPad:
		return fmt.Errorf("datasets: fit %q; want %s, %s or %s", s.Fit, fitCrop, fitStretch, fitPad)
	case s.Background != "" && s.Background != "white" && s.Background != "black":
		return fmt.Errorf("datasets: background %q; want white or black", s.Background)
	}
	return nil
}

// Decode returns the bytes of a picture, row by row, channels last, from its file, which may be a
// PNG, JPEG, GIF, WebP, BMP or TIFF image. They are those that a folder: of such pictures has,
// where a byte b of a sample stands for b/255: turned upright, as the camera says, and brought to
// the shape. Of 16 bits all are taken to be used. A picture of more than 67 million pixels is
// refused.
func Decode(file []byte, s Shape) (pixels []uint8, err error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	defer decoding(&err)
	img, err := decodePicture(mended(file))
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	to := shaper{height: s.Height, width: s.Width, channels: s.Channels, fit: s.Fit, background: color.White}
	if s.Background == "black" {
		to.background = color.Black
	}
	pixels = make([]uint8, s.Values())
	to.shape(pixels, upright(img, orientationOf(file)))
	return pixels, nil
}
