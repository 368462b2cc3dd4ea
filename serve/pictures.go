package serve

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"strings"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/fp"
)

// Limits of pictures, whose decoding takes more than their bytes say. One is decoded at a time.
const (
	mostPixels   = 25_000_000  // of a picture: decoding takes up to 20 bytes for each, of a progressive JPEG of four inks
	mostTogether = 250_000_000 // of the pictures of a request
	freePixels   = 1 << 20     // that a picture may have, however few bytes it has
	perByte      = 1000        // and how many more for each byte: a smooth PNG has so many
	mostValues   = maxBody / 4 // that the pictures of a request may have in all
	mostScans    = 50          // of a JPEG: each passes over all pixels, and may be a few bytes
	mostFields   = 8           // of a form, beside its pictures
)

// pictures are the bodies of pictures, as their requests have them.
type pictures [][]byte

// isPictures says whether a body of a type has pictures, and not JSON or numbers.
func isPictures(kind string) bool {
	return strings.HasPrefix(kind, "image/") || strings.HasPrefix(kind, "multipart/form-data")
}

// readPictures reads a picture, or a form with some as files of any name and with fields that
// stand in an address otherwise.
func (s *Service) readPictures(kind string, body []byte, asked url.Values) (all pictures, err error) {
	width := s.options.Pictures.Values()
	if width == 0 {
		return nil, errors.New("the service takes no pictures: send JSON, or set Options.Pictures")
	}
	if strings.HasPrefix(kind, "image/") {
		return pictures{body}, nil
	}
	_, parameters, err := mime.ParseMediaType(kind)
	if err != nil {
		return nil, fmt.Errorf("the Content-Type: %w", err)
	}
	form, most := multipart.NewReader(bytes.NewReader(body), parameters["boundary"]), mostValues/width
	for n := 0; ; n++ {
		part, err := form.NextPart()
		if err == io.EOF {
			return all, nil
		}
		if n == most+mostFields { // a part takes more than its bytes
			return nil, fmt.Errorf("the form has too many parts; want at most %d pictures of %d values at once", most, width)
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
	x.width = s.options.Pictures.Values()
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
		x.values = append(x.values, make([]float32, len(picture))...)
		fp.Units(x.values[x.n*x.width:], picture)
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
	if scans := scansOf(file); scans > mostScans {
		return 0, fmt.Errorf("a JPEG of %d scans; want at most %d", scans, mostScans)
	}
	return int(n), nil
}

// scansOf returns how many scans a JPEG has. It finds them as a decoder does: in segments, and
// behind the end of the picture, the same bytes mean nothing.
func scansOf(file []byte) (n int) {
	const end, scan, first, last = 0xd9, 0xda, 0xd0, 0xd7 // markers; first and last of those that restart
	if file[0] != 0xff {
		return 0
	}
	for at := 2; at+4 <= len(file); {
		switch marker := file[at+1]; {
		case file[at] != 0xff || marker == 0xff:
			at++
		case marker == 0 || first <= marker && marker <= last:
			at += 2
		case marker == end:
			return n
		default:
			if marker == scan {
				n++
			}
			at += 2 + max(2, int(binary.BigEndian.Uint16(file[at+2:])))
		}
	}
	return n
}
