package datasets

import (
	"context"
	"fmt"
	"slices"
)

// A folderReader reads the images of a folder into samples.
type folderReader struct {
	*folder
	set    *Dataset // of which it takes the size
	files  []pictureFile
	heads  []pictureHead
	pixels []uint8
}

// read reads all images. How many of 16 bits are used is known when all were read; where not all are, those images are
// read again.
func (r *folderReader) read(ctx context.Context) {
	r.pictures(ctx, every, 16)
	most := uint16(0)
	for _, h := range r.heads {
		most = max(most, h.brightest)
	}
	if bits := depthOf(most); bits < 16 {
		r.tree.notes = append(r.tree.notes, fmt.Sprintf("images of 16 bits have samples up to %d and are taken to use %d bits", most, bits))
		r.pictures(ctx, func(n int) bool { return r.heads[n].brightest > 0 }, bits)
	}
	if most := slices.Max(r.pixels); most < 8 {
		r.tree.notes = append(r.tree.notes, fmt.Sprintf("no sample is above %d of 255: the images are nearly black", most))
	}
}

// pictures reads the chosen images, of whose 16 bits so many are used.
func (r *folderReader) pictures(ctx context.Context, chosen func(n int) bool, bits int) {
	one := r.set.ImageSize()
	eachPicture(ctx, r.files, chosen, func() func(int, []byte) {
		s := shaper{height: r.set.Height, width: r.set.Width, channels: r.set.Channels, fit: r.Fit, background: r.background}
		return func(n int, file []byte) {
			head, data := headOf(file)
			img := decodePicture(data)
			if bits < 16 {
				deepen(img, bits)
			}
			head.brightest = brightest(img)
			r.heads[n] = head
			s.shape(r.pixels[n*one:(n+1)*one], img)
		}
	})
}
