package datasets

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// A folderReader reads the images of a folder into samples.
type folderReader struct {
	*folder
	set    *Dataset // of which it takes the size
	files  []pictureFile
	heads  []pictureHead
	pixels []uint8
	broken broken
}

// read reads all images. How many of 16 bits are used is known when all were read; where not all
// are, those images are read again.
func (r *folderReader) read(ctx context.Context) (err error) {
	if r.broken, err = r.pictures(ctx, nil, 16); err != nil {
		return err
	}
	if err := r.broken.error(); err != nil && (r.Broken != skipBroken || r.broken.count() == len(r.files)) {
		return err
	}
	most := uint16(0)
	for _, h := range r.heads {
		most = max(most, h.brightest)
	}
	if bits := depthOf(most); bits < 16 {
		r.tree.notes = append(r.tree.notes, fmt.Sprintf("images of 16 bits have samples up to %d and are taken to use "+
			"%d bits", most, bits))
		again, err := r.pictures(ctx, func(n int) bool { return r.heads[n].brightest > 0 }, bits)
		return cmp.Or(err, again.error())
	}
	return nil
}

// pictures reads the chosen images, or all, of whose 16 bits so many are used.
func (r *folderReader) pictures(ctx context.Context, chosen func(n int) bool, bits int) (broken, error) {
	one := r.set.ImageSize()
	return eachPicture(ctx, r.files, chosen, func() func(int, []byte) error {
		s := shaper{height: r.set.Height, width: r.set.Width, channels: r.set.Channels, fit: r.Fit, background: r.background}
		return func(n int, file []byte) error {
			head, data, err := headOf(file)
			r.heads[n] = head
			if err != nil {
				return err
			}
			img, err := decodePicture(data)
			if err != nil {
				return err
			}
			if bits < 16 {
				deepen(img, bits)
			}
			r.heads[n].brightest = brightest(img)
			s.shape(r.pixels[n*one:(n+1)*one], upright(img, head.orientation))
			return nil
		}
	})
}

// samples returns the images that could be read, in the memory of all.
func (r *folderReader) samples() *samples {
	one, train := r.set.ImageSize(), 0
	pixels, labels, paths := r.pixels[:0], []int32(nil), []string(nil)
	for n, p := range r.files {
		if r.broken[n] != nil {
			continue
		}
		pixels, labels, paths = append(pixels, r.pixels[n*one:(n+1)*one]...), append(labels, p.class), append(paths, p.path)
		if n < len(r.tree.train) {
			train++
		}
	}
	part := func(from, to int) part {
		return part{values{pixels: pixels[from*one : to*one : to*one], name: func(i int) string { return paths[from+i] }},
			labels[from:to:to]}
	}
	return &samples{train: part(0, train), test: part(train, len(labels)), normalise: asTheyAre, files: paths}
}

// note says what was done to the images.
func (r *folderReader) note() string {
	t, d := r.tree, r.set
	notes := append(t.notes, t.folders.note(r.Test))
	resized, turned := 0, 0
	for n, h := range r.heads {
		if r.broken[n] != nil {
			continue
		}
		if h.height != d.Height || h.width != d.Width {
			resized++
		}
		if h.orientation > 1 {
			turned++
		}
	}
	if turned > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d images were turned upright, as the orientation in their files "+
			"says (EXIF)", turned, len(r.heads)))
	}
	if resized > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d images were brought to %d×%d (%s)",
			resized, len(r.heads), d.Height, d.Width, r.Fit))
	}
	if r.broken.count() > 0 {
		notes = append(notes, fmt.Sprintf("%s of %d cannot be read and were left out "+
			"(broken=%s): %s", plural.Of(r.broken.count(), "image"), len(r.heads), skipBroken, r.broken.list()))
	}
	for _, ending := range slices.Sorted(maps.Keys(t.ignored)) {
		notes = append(notes, fmt.Sprintf("%d files %s were left out; convert them to PNG if they "+
			"are images", t.ignored[ending], cmp.Or(ending, "without an ending")))
	}
	return strings.Join(notes, "; ")
}

const skipBroken = "skip"

// broken says for each image why it cannot be read, nil where it can.
type broken []error

func (b broken) count() (n int) {
	for _, err := range b {
		if err != nil {
			n++
		}
	}
	return n
}

// list names the first ones.
func (b broken) list() string {
	const shown = 20
	var list []string
	for _, err := range b {
		if err != nil && len(list) < shown {
			list = append(list, err.Error())
		}
	}
	if more := b.count() - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, "; ")
}

// error is an error unless all images can be read.
func (b broken) error() error {
	if b.count() == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d images cannot be read: remove them, save them anew as PNG, for example with ImageMagick, "+
		"or leave them out with \"folder:PATH?broken=%s\": %s", b.count(), len(b), skipBroken, b.list())
}

// eachPicture reads the chosen files, or all if chosen is nil, on all cores. It calls the function
// that worker returns, which each core has its own of, with the number and the bytes of each. It
// returns which could not be read, and an error if ctx ended.
func eachPicture(ctx context.Context, files []pictureFile, chosen func(n int) bool,
	worker func() func(n int, data []byte) error) (broken, error) {
	bad := make(broken, len(files))
	err := onAllCores(ctx, len(files), func() func(int) error {
		use := worker()
		return func(n int) error {
			if chosen != nil && !chosen(n) {
				return nil
			}
			data, err := readFile(files[n].path, maxPictureBytes)
			if err == nil {
				err = at(files[n].path, use(n, data))
			}
			bad[n] = err
			return nil
		}
	})
	return bad, err
}
