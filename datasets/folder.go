package datasets

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image/color"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// folder is a folder of images, one folder for each class.
type folder struct {
	root string
	folderParameters
	height, width int // 0: as the images are
	background    color.Color
	splitAsked    bool
}

type folderParameters struct {
	Size       string `param:"size" default:"" doc:"height and width of the samples, such as 32x32"`
	Channels   int    `param:"channels" default:"0" range:"whole [0,3]" doc:"1 (grey) or 3 (colours); 0 follows from the images"`
	Fit        string `param:"fit" default:"crop" choices:"crop,stretch,pad" doc:"what is done with images of another shape"`
	Background string `param:"background" default:"white" choices:"white,black" doc:"what shows where an image is transparent, and in borders"`
	splitting
}

const (
	ownSide     = 64 // images up to this size, if all have the same one, are left as they are
	otherSide   = 32 // what other images are brought to
	maxOwnBytes = 16 << 30
)

func parseFolder(path string, given map[string]any) (own, error) {
	p, err := withParameters[folderParameters](given)
	if err != nil {
		return nil, err
	}
	f := &folder{root: path, folderParameters: p, background: color.White, splitAsked: p.asked(given)}
	if p.Background == "black" {
		f.background = color.Black
	}
	if p.Channels == 2 {
		return nil, errors.New("channels=2; want 1 (grey) or 3 (colours)")
	}
	f.height, f.width, err = p.size()
	return f, err
}

// size reads "32" or "HEIGHTxWIDTH".
func (p folderParameters) size() (height, width int, err error) {
	if p.Size == "" {
		return 0, 0, nil
	}
	h, w, both := strings.Cut(p.Size, "x")
	if !both {
		w = h
	}
	height, err1 := strconv.Atoi(h)
	width, err2 := strconv.Atoi(w)
	if errors.Join(err1, err2) != nil || height < 1 || width < 1 || height > 1024 || width > 1024 {
		err = fmt.Errorf("size=%s; want a height and a width of 1 to 1024 pixels, such as 32x32", p.Size)
	}
	return height, width, err
}

// tree lists the folder and splits its images.
func (f *folder) tree(ctx context.Context) (*pictureTree, error) {
	t, err := readTree(ctx, f.root)
	if err != nil {
		return nil, err
	}
	if t.folders.test != "" {
		if f.splitAsked {
			return nil, fmt.Errorf("%s has a folder %s with test images: the parameters test and seed, which split a folder that has none, do not apply", f.root, t.folders.test)
		}
		return t, nil
	}
	return t, f.split(t)
}

// split moves a share of each class to the test images. Which ones follows from their names, so that images that
// are added later leave almost all others where they are.
func (f *folder) split(t *pictureTree) error {
	train, test := []pictureFile{}, []pictureFile{}
	for rest := t.train; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].class == rest[0].class {
			n++
		}
		if n < 2 {
			return fmt.Errorf("%s: the class %q has a single image (%s), which cannot be for training and for testing: add images, or remove the folder",
				f.root, t.classes[rest[0].class], rest[0].path)
		}
		chosen := map[string]bool{}
		names := slices.Clone(rest[:n])
		slices.SortFunc(names, func(a, b pictureFile) int {
			return cmp.Or(strings.Compare(f.lot(t.classes[a.class], a.name), f.lot(t.classes[b.class], b.name)), strings.Compare(a.name, b.name))
		})
		for _, p := range names[:min(max(1, int(math.Round(f.Test*float64(n)))), n-1)] {
			chosen[p.name] = true
		}
		for _, p := range rest[:n] {
			if chosen[p.name] {
				test = append(test, p)
			} else {
				train = append(train, p)
			}
		}
		rest = rest[n:]
	}
	t.train, t.test = train, test
	return nil
}

// lot is what decides whether an image is one of the test images.
func (f *folder) lot(class, name string) string {
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, f.Seed), class+"/"+name...))
	return string(h[:])
}

func (f *folder) stamp(ctx context.Context) (string, error) {
	t, err := f.tree(ctx)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	for _, p := range slices.Concat(t.train, t.test) {
		fmt.Fprintf(h, "%q %d %d\n", p.path, p.size, p.time)
	}
	return string(h.Sum(nil)), nil
}

func (f *folder) survey(ctx context.Context, i *Info) error {
	t, err := f.tree(ctx)
	if err != nil {
		return err
	}
	files := slices.Concat(t.train, t.test)
	heads := make([]pictureHead, len(files))
	err = eachPicture(ctx, files, func() func(int, []byte) error {
		return func(n int, data []byte) (err error) { heads[n], _, err = headOf(data); return err }
	})
	if err != nil {
		return err
	}
	i.Classes, i.Train, i.SHA256 = len(t.classes), len(t.train), sumOf(t, heads)
	i.Height, i.Width, i.Channels = f.size(heads)
	return nil
}

// pictureHead is what [folder.survey] learns of an image file.
type pictureHead struct {
	sum           [sha256.Size]byte
	height, width int
	grey          bool
	brightest     uint16 // of 16 bits; known after the image was decoded
}

// headOf also returns what to decode.
func headOf(file []byte) (h pictureHead, data []byte, err error) {
	defer recovered(&err)
	data = mended(file)
	_, c, err := pictureConfig(data)
	if err != nil {
		return h, nil, err
	}
	colours, err := coloursOf(data, c.ColorModel)
	return pictureHead{sum: sha256.Sum256(file), height: c.Height, width: c.Width, grey: grey(colours)}, data, err
}

// sumOf is the checksum of all images with their names, classes and splits.
func sumOf(t *pictureTree, heads []pictureHead) string {
	h := sha256.New()
	for n, p := range slices.Concat(t.train, t.test) {
		fmt.Fprintf(h, "%t %q %q %x\n", n < len(t.train), t.classes[p.class], p.name, heads[n].sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// size returns the size that the samples get: what the parameters say, or else what the images have in common.
func (f *folder) size(heads []pictureHead) (height, width, channels int) {
	height, width, channels = f.height, f.width, f.Channels
	if height == 0 {
		height, width = heads[0].height, heads[0].width
		for _, h := range heads {
			if h.height != height || h.width != width || height > ownSide || width > ownSide {
				height, width = otherSide, otherSide
				break
			}
		}
	}
	if channels == 0 {
		channels = 1
		if slices.ContainsFunc(heads, func(h pictureHead) bool { return !h.grey }) {
			channels = 3
		}
	}
	return height, width, channels
}

func (f *folder) open(ctx context.Context, d *Dataset) error {
	t, err := f.tree(ctx)
	if err != nil {
		return err
	}
	d.Height, d.Width, d.Channels = f.height, f.width, f.Channels
	if d.Height == 0 || d.Channels == 0 {
		// What is kept of the survey is also what Inspect returns.
		i, err := surveyed(ctx, d.Name, Info{Name: d.Name, Title: d.Title, Source: d.Source, Licence: d.Licence}, f)
		if err != nil {
			return err
		}
		d.Height, d.Width, d.Channels = i.Height, i.Width, i.Channels
	}
	files := slices.Concat(t.train, t.test)
	one := d.ImageSize()
	if len(files) > maxOwnBytes/one {
		return fmt.Errorf("%s: %d images of %s are more than %d GB: choose a smaller size, such as ?size=32x32", f.root, len(files), d.Size(), maxOwnBytes>>30)
	}
	r := &folderReader{f, d, files, make([]pictureHead, len(files)), make([]uint8, len(files)*one)}
	if err := r.read(ctx, &t.notes); err != nil {
		return err
	}
	heads, pixels := r.heads, r.pixels
	d.Classes, d.SHA256, d.Note = t.classes, sumOf(t, heads), f.note(t, heads, d)
	labels := make([]int32, len(files))
	for n, p := range files {
		labels[n] = p.class
	}
	n := len(t.train)
	d.Train = Split{Pixels: pixels[: n*one : n*one], Labels: labels[:n:n]}
	d.Test = Split{Pixels: pixels[n*one:], Labels: labels[n:]}
	return nil
}

// note says what was done to the images, and what somebody should know of them.
func (f *folder) note(t *pictureTree, heads []pictureHead, d *Dataset) string {
	split := fmt.Sprintf("%g of each class are test images, chosen by their names", f.Test)
	if t.folders.test != "" {
		split = t.folders.note()
	}
	notes := append(t.notes, split)
	resized, twice := 0, 0
	training := map[[sha256.Size]byte]bool{}
	for n, h := range heads {
		if h.height != d.Height || h.width != d.Width {
			resized++
		}
		if n < len(t.train) {
			training[h.sum] = true
		} else if training[h.sum] {
			twice++
		}
	}
	if resized > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d images were brought to %d×%d (%s)", resized, len(heads), d.Height, d.Width, f.Fit))
	}
	if twice > 0 {
		notes = append(notes, fmt.Sprintf("%d test images are also training images, byte by byte", twice))
	}
	for _, ending := range slices.Sorted(maps.Keys(t.ignored)) {
		notes = append(notes, fmt.Sprintf("%d files %s were left out; convert them to PNG if they are images", t.ignored[ending], cmp.Or(ending, "without an ending")))
	}
	return strings.Join(notes, "; ")
}

// eachPicture reads the files on all cores and calls the function that worker returns, which each core has its own of,
// with the number and the bytes of each. The error names the first files that could not be read.
func eachPicture(ctx context.Context, files []pictureFile, worker func() func(n int, data []byte) error) error {
	errs := make([]error, len(files))
	err := onAllCores(ctx, len(files), func() func(int) error {
		use := worker()
		return func(n int) error {
			data, err := readPicture(files[n].path)
			if err == nil {
				err = use(n, data)
			}
			errs[n] = err
			return nil
		}
	})
	if err != nil {
		return err
	}
	return unreadable(files, errs)
}

// unreadable returns an error that names the first files that have one.
func unreadable(files []pictureFile, errs []error) error {
	var bad []string
	for n, err := range errs {
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", files[n].path, err))
		}
	}
	const shown = 5
	switch {
	case len(bad) == 0:
		return nil
	case len(bad) > shown:
		bad = append(bad[:shown], fmt.Sprintf("and %d more", len(bad)-shown))
	}
	return fmt.Errorf("unreadable images; save them anew as PNG, for example with ImageMagick, or remove them: %s", strings.Join(bad, "; "))
}
