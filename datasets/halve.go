package datasets

import "context"

func openTinyImageNet32(ctx context.Context, d *Dataset, dir string, o Options) error {
	if err := openTinyImageNet(ctx, d, dir, o); err != nil {
		return err
	}
	for _, s := range []*Split{&d.Train, &d.Test} {
		s.Pixels = halve(s.Pixels, s.Len(), tinySide, tinySide, d.Channels)
	}
	return nil
}

// halve makes n images of even height and width half as high and wide. Each new pixel is the mean of four, rounded to
// the nearest byte and upwards from the middle.
func halve(pixels []uint8, n, height, width, channels int) []uint8 {
	out := make([]uint8, 0, len(pixels)/4)
	row := width * channels
	for y := 0; y < n*height; y += 2 {
		upper, lower := pixels[y*row:(y+1)*row], pixels[(y+1)*row:(y+2)*row]
		for x := 0; x < row; x += 2 * channels {
			for c := x; c < x+channels; c++ {
				sum := int(upper[c]) + int(upper[c+channels]) + int(lower[c]) + int(lower[c+channels])
				out = append(out, uint8((sum+2)/4))
			}
		}
	}
	return out
}
