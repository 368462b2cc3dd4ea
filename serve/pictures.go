package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
)

// Limits of pictures, whose decoding takes more than their bytes say. One is decoded at a time.
const (
	mostPixels   = 25_000_000  // of a picture: decoding takes up to 15 bytes for each
	mostTogether = 250_000_000 // of the pictures of a request
	freePixels   = 1 << 20     // that a picture may have, however few bytes it has
	perByte      = 1000        // and how many more for each byte: a smooth PNG has so many
	mostValues   = maxBody / 4 // that the pictures of a request may have in all
)

// pictures are the bodies of pictures, as their requests have them.
type pictures [][]byte

// isPictures says whether a body of a type has pictures, and not JSON or numbers.
func isPictures(kind string) bool {
	return strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "multipart/form-data")
}

// readPictures reads a picture, or a form with some as files of any name and with fields that
// stand in an address otherwise.
func readPictures(kind string, body []byte, asked url.Values) (all pictures, err error) {
	if strings.HasPrefix(kind, "image/") {
		return pictures{body}, nil
	}
	_, parameters, err := mime.ParseMediaType(kind)
	if err != nil {
		return nil, fmt.Errorf("the Content-Type: %w", err)
	}
	form := multipart.NewReader(bytes.NewReader(body), parameters["boundary"])
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the form: %w: send JSON, or pictures as curl -F x=@cat.jpg does", err)
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, fmt.Errorf("the form: %w: send JSON, or pictures as curl -F x=@cat.jpg does", err)
		}
		if part.FileName() == "" {
			asked.Add(part.FormName(), string(text))
		} else {
			all = append(all, text)
		}
	}
}

// decode makes samples of pictures.
func (s *Service) decode(ctx context.Context, all pictures, taken *share, had int) (x samples, err error) {
	shape := s.options.Pictures
	if shape == (datasets.Shape{}) {
		return x, errors.New("the service takes no pictures: send numbers, or set Options.Pictures")
	}
	x.width = shape.Values()
	if len(all) == 0 {
		return x, errors.New("the form has no pictures: send JSON, or pictures as files, as curl -F x=@cat.jpg does")
	}
	if len(all) > mostValues/x.width {
		return x, fmt.Errorf("%d pictures of %d values: want at most %d at once", len(all), x.width, mostValues/x.width)
	}
	pixels := 0
	for i, file := range all {
		n, err := pixelsOf(file)
		if pixels += n; err == nil && pixels > mostTogether {
			err = fmt.Errorf("the pictures up to it have %d million pixels; want at most %d million in a request",
				pixels/1_000_000, mostTogether/1_000_000)
		}
		if err != nil {
			return x, fmt.Errorf("picture %d: %w", i, err)
		}
	}
	if err := taken.grow(had + 4*len(all)*x.width); err != nil {
		return x, err
	}
	for i, file := range all {
		picture, err := s.decodeOne(ctx, file)
		if err != nil {
			return x, fmt.Errorf("picture %d: %w", i, err)
		}
		for _, b := range picture {
			x.values = append(x.values, float32(b)/255)
		}
		x.n++
	}
	return x, nil
}

// decodeOne decodes a picture when no other one is decoded.
func (s *Service) decodeOne(ctx context.Context, file []byte) ([]uint8, error) {
	select {
	case s.decoding <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-s.decoding }()
	return datasets.Decode(file, s.options.Pictures)
}

// pixelsOf returns how many pixels the header of a picture announces, unless these are too many.
func pixelsOf(file []byte) (int, error) {
	if !bytes.HasPrefix(file, []byte("\xff\xd8")) && !bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")) {
		return 0, errors.New("want a JPEG or PNG file")
	}
	head, _, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return 0, err
	}
	n := int64(head.Width) * int64(head.Height)
	if n > mostPixels || n > freePixels+perByte*int64(len(file)) {
		return 0, fmt.Errorf("its header says %d×%d pixels in %d bytes; want at most %d million, and %d for each byte",
			head.Width, head.Height, len(file), mostPixels/1_000_000, perByte)
	}
	return int(n), nil
}
