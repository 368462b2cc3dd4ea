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
func (r *folderReader) read(ctx context.Context, notes *[]string) error {
	all := make([]int, len(r.files))
	for n := range all {
		all[n] = n
	}
	if err := r.pictures(ctx, all, 16); err != nil {
		return err
	}
	var deep []int
	most := uint16(0)
	for n, h := range r.heads {
		if most = max(most, h.brightest); h.brightest > 0 {
			deep = append(deep, n)
		}
	}
	if bits := depthOf(most); bits < 16 {
		*notes = append(*notes, fmt.Sprintf("images of 16 bits have samples up to %d and are taken to use %d bits", most, bits))
		if err := r.pictures(ctx, deep, bits); err != nil {
			return err
		}
	}
	if most := slices.Max(r.pixels); most < 8 {
		*notes = append(*notes, fmt.Sprintf("no sample is above %d of 255: the images are nearly black", most))
	}
	return nil
}

// pictures reads the images of these numbers, of whose 16 bits so many are used.
func (r *folderReader) pictures(ctx context.Context, numbers []int, bits int) error {
	files := make([]pictureFile, len(numbers))
	for i, n := range numbers {
		files[i] = r.files[n]
	}
	one := r.set.ImageSize()
	return eachPicture(ctx, files, func() func(int, []byte) error {
		s := shaper{height: r.set.Height, width: r.set.Width, channels: r.set.Channels, fit: r.Fit, background: r.background}
		return func(i int, file []byte) error {
			head, data, err := headOf(file)
			if err != nil {
				return err
			}
			img, err := decodePicture(data)
			if err != nil {
				return err
			}
			n := numbers[i]
			if bits < 16 {
				if head.sum != r.heads[n].sum {
					return errChanged
				}
				deepen(img, bits)
			} else {
				head.brightest = brightest(img)
				r.heads[n] = head
			}
			s.shape(r.pixels[n*one:(n+1)*one], img)
			return nil
		}
	})
}
