package datasets

import (
	"encoding/binary"
	"image"
)

// deepSamples returns the samples of an image of 16 bits, two bytes each, the number of its
// channels, and how many of these are colours. It returns nil for other images.
func deepSamples(img image.Image) (pix []byte, colours, channels int) {
	switch img := img.(type) {
	case *image.Gray16:
		return img.Pix, 1, 1
	case *image.RGBA64:
		return img.Pix, 3, 4
	case *image.NRGBA64:
		return img.Pix, 3, 4
	}
	return nil, 0, 1
}

// brightest returns the largest sample of an image of 16 bits, and 0 for other images.
func brightest(img image.Image) (most uint16) {
	pix, colours, channels := deepSamples(img)
	for i := 0; i < len(pix)/2; i++ {
		if i%channels < colours {
			most = max(most, binary.BigEndian.Uint16(pix[2*i:]))
		}
	}
	return most
}

// depthOf returns how many bits the maker of images of 16 bits used, whose largest sample is most:
// cameras and scanners have 10, 12 or 14, which many programs do not scale. It is 16 if nothing is
// to be scaled.
func depthOf(most uint16) int {
	for bits := 8; bits < 16 && most > 0; bits += 2 {
		if most < 1<<bits {
			return bits
		}
	}
	return 16
}

// deepen scales the samples of an image whose maker used fewer than 16 bits.
func deepen(img image.Image, bits int) {
	pix, _, _ := deepSamples(img)
	for i := 0; i+1 < len(pix); i += 2 {
		v := uint32(binary.BigEndian.Uint16(pix[i:])) * 65535 / (1<<bits - 1)
		binary.BigEndian.PutUint16(pix[i:], uint16(min(v, 65535)))
	}
}
