package datasets

import (
	"bytes"
	"encoding/binary"
	"image/color"
	"image/gif"
	"image/jpeg"
	"iter"
	"slices"
)

// mended returns the bytes of an image file without an oddity at which Go's decoders stop and most
// programs do not.
func mended(data []byte) []byte {
	switch {
	case bytes.HasPrefix(data, []byte("GIF8")):
		return mendGIF(data)
	case bytes.HasPrefix(data, []byte("\xff\xd8")):
		return mendJPEG(data)
	case bytes.HasPrefix(data, []byte("RIFF")):
		return mendWebP(data)
	}
	return data
}

// mendGIF makes the screen as large as a first frame that exceeds it.
func mendGIF(data []byte) []byte {
	const at = 6 // of the screen's width and height
	if _, err := gif.Decode(bytes.NewReader(data)); err == nil || len(data) < at+4 {
		return data
	}
	wide := slices.Clone(data)
	copy(wide[at:], "\x00\x20\x00\x20") // 8192×8192, as large as an image may be
	img, err := gif.Decode(bytes.NewReader(wide))
	if err != nil {
		return data
	}
	for i, side := range []int{img.Bounds().Max.X, img.Bounds().Max.Y} {
		binary.LittleEndian.PutUint16(wide[at+2*i:], max(uint16(side), binary.LittleEndian.Uint16(data[at+2*i:])))
	}
	return wide
}

// mendJPEG marks a CMYK image as one of inverted inks, if it says nothing about its inks. Adobe's
// programs invert them, and other programs read such an image like that, too.
func mendJPEG(data []byte) []byte {
	c, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil || c.ColorModel != color.CMYKModel || bytes.Contains(data, []byte("Adobe")) {
		return data
	}
	return slices.Concat(data[:2], []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"), data[2:])
}

// webpChunks yields the chunks of a WebP by their names, up to one that is cut off.
func webpChunks(data []byte) iter.Seq2[string, []byte] {
	const head = 8
	return func(yield func(string, []byte) bool) {
		for at := 12; at+head <= len(data); {
			size := int64(binary.LittleEndian.Uint32(data[at+4:]))
			if size > int64(len(data)-at-head) || !yield(string(data[at:at+4]), data[at+head:][:size]) {
				return
			}
			at += head + int(size+size&1)
		}
	}
}

// mendWebP takes the first frame out of an animation, if it fills the picture.
func mendWebP(data []byte) []byte {
	const frameHead = 16
	canvas := []byte(nil) // width and height, less 1, in 3 bytes each
	for name, chunk := range webpChunks(data) {
		switch {
		case name == "VP8X" && len(chunk) == 10:
			canvas = chunk[4:]
		case name == "ANMF" && len(chunk) > frameHead+4 && bytes.Equal(chunk[6:12], canvas):
			flags := byte(0)
			if string(chunk[frameHead:frameHead+4]) == "ALPH" {
				flags = 0x10 // it has an alpha channel
			}
			frame := slices.Concat([]byte("WEBPVP8X\x0a\x00\x00\x00"), []byte{flags, 0, 0, 0}, canvas, chunk[frameHead:])
			return slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(frame))), frame)
		}
	}
	return data
}
