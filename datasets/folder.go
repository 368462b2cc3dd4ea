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

	"github.com/parallelcl/parallelcl/internal/fail"
)

// folder is a folder of images, one folder for each class.
type folder struct {
	root string
	folderParameters
	height, width int // 0: as the images are
	background    color.Color

	tree *pictureTree // as it was when stamp was called last
	err  error        // why it could not be listed
}

type folderParameters struct {
	Size       string `param:"size" default:"" doc:"height and width of the samples, such as 32x32"`
	Channels   int    `param:"channels" default:"0" range:"whole [0,3]" doc:"1 (grey) or 3 (colours); 0 follows from the images"`
	Fit        string `param:"fit" default:"crop" choices:"crop,stretch,pad" doc:"what is done with images of another shape"`
	Background string `param:"background" default:"white" choices:"white,black" doc:"what shows where an image is transparent, and in borders"`
	splitting
}

const (
	ownSide   = 64 // images up to this size, if all have the same one, are left as they are
	otherSide = 32 // what other images are brought to
)

func parseFolder(path string, given map[string]any) source {
	p := withParameters[folderParameters](given)
	f := &folder{root: path, folderParameters: p, background: color.White}
	if p.Background == "black" {
		f.background = color.Black
	}
	fail.When(p.Channels == 2, "channels=2; want 1 (grey) or 3 (colours)")
	if p.Size == "" {
		return f
	}
	h, w, both := strings.Cut(p.Size, "x") // or one number for both
	if !both {
		w = h
	}
	var err1, err2 error
	f.height, err1 = strconv.Atoi(h)
	f.width, err2 = strconv.Atoi(w)
	fail.When(errors.Join(err1, err2) != nil || min(f.height, f.width) < 1 || max(f.height, f.width) > 1024,
		"size=%s; want a height and a width of 1 to 1024 pixels, such as 32x32", p.Size)
	return f
}

// list lists the folder and splits its images.
func (f *folder) list(ctx context.Context) *pictureTree {
	t := readTree(ctx, f.root)
	if t.folders.test == "" {
		f.split(t)
	} else {
		f.refuse()
	}
	return t
}

// split moves a share of each class to the test images. Which ones follows from their names, so that images that
// are added later leave almost all others where they are.
func (f *folder) split(t *pictureTree) {
	all := t.train
	t.train = nil
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].class == all[0].class {
			n++
		}
		class, own := t.classes[all[0].class], all[:n]
		fail.When(n < 2, "%s: the class %q has a single image (%s), which cannot be for training and for testing: add images, or remove the folder", f.root, class, own[0].path)
		lots := map[string]string{}
		for _, p := range own {
			lots[p.name] = f.lot(class, p.name)
		}
		drawn := slices.SortedFunc(maps.Keys(lots), func(a, b string) int { return cmp.Or(strings.Compare(lots[a], lots[b]), strings.Compare(a, b)) })
		chosen := drawn[:min(max(1, int(math.Round(f.Test*float64(n)))), n-1)]
		last := lots[chosen[len(chosen)-1]]
		for _, p := range own {
			if lots[p.name] <= last {
				t.test = append(t.test, p)
			} else {
				t.train = append(t.train, p)
			}
		}
		all = all[n:]
	}
}

// lot is what decides whether an image is one of the test images.
func (f *folder) lot(class, name string) string {
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, f.Seed), class+"/"+name...))
	return string(h[:])
}

func (f *folder) stamp(ctx context.Context) string {
	if f.err = fail.Tried(func() { f.tree = f.list(ctx) }); f.err != nil {
		return f.err.Error()
	}
	h := sha256.New()
	for _, p := range f.files() {
		fmt.Fprintf(h, "%q %d %d\n", p.path, p.size, p.time)
	}
	return string(h.Sum(nil))
}

// files are the training images and then the test images.
func (f *folder) files() []pictureFile { return slices.Concat(f.tree.train, f.tree.test) }

func (f *folder) survey(ctx context.Context, i *Info) {
	fail.If(f.err)
	files := f.files()
	heads := make([]pictureHead, len(files))
	eachPicture(ctx, files, every, func() func(int, []byte) {
		return func(n int, data []byte) { heads[n], _ = headOf(data) }
	})
	i.Classes, i.Train, i.SHA256 = len(f.tree.classes), len(f.tree.train), f.sum(heads)
	i.Height, i.Width, i.Channels = f.size(heads)
}

// pictureHead is what [folder.survey] learns of an image file.
type pictureHead struct {
	sum           [sha256.Size]byte
	height, width int
	grey          bool
	brightest     uint16 // of 16 bits; known after the image was decoded
}

// headOf also returns what to decode.
func headOf(file []byte) (pictureHead, []byte) {
	defer fail.Foreign("not a readable image")
	data := mended(file)
	c := pictureConfig(data)
	return pictureHead{sum: sha256.Sum256(file), height: c.Height, width: c.Width, grey: grey(coloursOf(data, c.ColorModel))}, data
}

// sum is the checksum of all images with their names, classes and splits.
func (f *folder) sum(heads []pictureHead) string {
	h := sha256.New()
	for n, p := range f.files() {
		fmt.Fprintf(h, "%t %q %q %x\n", n < len(f.tree.train), f.tree.classes[p.class], p.name, heads[n].sum)
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

func (f *folder) open(ctx context.Context, d *Dataset) {
	fail.If(f.err)
	d.Height, d.Width, d.Channels = f.height, f.width, f.Channels
	if d.Height == 0 || d.Channels == 0 {
		// What is kept of the survey is also what Inspect returns.
		i := surveyed(ctx, Info{Name: d.Name, Title: d.Title, Source: d.Source, Licence: d.Licence}, f)
		d.Height, d.Width, d.Channels = i.Height, i.Width, i.Channels
	}
	t, files, one := f.tree, f.files(), d.ImageSize()
	fail.When(len(files) > maxOwnBytes/one, "%s: %d images of %s are more than %d GB: choose a smaller size, such as ?size=32x32", f.root, len(files), d.Size(), maxOwnBytes>>30)
	r := &folderReader{f, d, files, make([]pictureHead, len(files)), make([]uint8, len(files)*one)}
	r.read(ctx)
	d.Classes, d.SHA256, d.Note = t.classes, f.sum(r.heads), f.note(r.heads, d)
	labels := make([]int32, len(files))
	for n, p := range files {
		labels[n] = p.class
	}
	n := len(t.train)
	d.Train = Split{Pixels: r.pixels[: n*one : n*one], Labels: labels[:n:n]}
	d.Test = Split{Pixels: r.pixels[n*one:], Labels: labels[n:]}
}

// note says what was done to the images, and what somebody should know of them.
func (f *folder) note(heads []pictureHead, d *Dataset) string {
	t := f.tree
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

// eachPicture reads the chosen files on all cores and calls the function that worker returns, which each core has its own of,
// with the number and the bytes of each. The error names the first files that could not be read.
func eachPicture(ctx context.Context, files []pictureFile, chosen func(n int) bool, worker func() func(n int, data []byte)) {
	errs := make([]error, len(files))
	onAllCores(ctx, len(files), func() func(int) {
		use := worker()
		return func(n int) {
			if !chosen(n) {
				return
			}
			errs[n] = fail.Tried(func() {
				data := readFile(files[n].path, maxPictureBytes)
				defer fail.At(files[n].path)
				use(n, data)
			})
		}
	})
	var bad []string
	for _, err := range errs {
		if err != nil {
			bad = append(bad, err.Error())
		}
	}
	const shown = 5
	if len(bad) > shown {
		bad = append(bad[:shown], fmt.Sprintf("and %d more", len(bad)-shown))
	}
	fail.When(len(bad) > 0, "unreadable images; save them anew as PNG, for example with ImageMagick, or remove them: %s", strings.Join(bad, "; "))
}

func every(int) bool { return true }
