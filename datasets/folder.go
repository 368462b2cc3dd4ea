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
	side          int // see Options
	background    color.Color

	tree *pictureTree // as it was when stamp was called last
	err  error        // why it could not be listed
}

type folderParameters struct {
	Size       string `param:"size" default:"" doc:"height and width of the samples, such as 32x32"`
	Channels   int    `param:"channels" default:"0" range:"whole [0,3]" doc:"1 (grey) or 3 (colours); 0 follows from the images"`
	Fit        string `param:"fit" default:"crop" choices:"crop,stretch,pad" doc:"what is done with images of another shape"`
	Background string `param:"background" default:"white" choices:"white,black" doc:"what shows where an image is transparent, and in borders"`
	Broken     string `param:"broken" default:"refuse" choices:"refuse,skip" doc:"what is done if images cannot be read: skip leaves them out"`
	splitting
}

const (
	ownSide   = 64 // images up to this size, if all have the same one, are left as they are
	otherSide = 32 // what other images are brought to
)

func parseFolder(path string, given map[string]any) (source, error) {
	p, err := withParameters[folderParameters](given)
	if err != nil {
		return nil, err
	}
	f := &folder{root: path, folderParameters: p, background: color.White}
	if p.Background == "black" {
		f.background = color.Black
	}
	if p.Channels == 2 {
		return nil, errors.New("channels=2; want 1 (grey) or 3 (colours)")
	}
	if p.Size == "" {
		return f, nil
	}
	h, w, both := strings.Cut(p.Size, "x") // or one number for both
	if !both {
		w = h
	}
	var err1, err2 error
	f.height, err1 = strconv.Atoi(h)
	f.width, err2 = strconv.Atoi(w)
	if errors.Join(err1, err2) != nil || min(f.height, f.width) < 1 || max(f.height, f.width) > 1024 {
		return nil, fmt.Errorf("size=%s; want a height and a width of 1 to 1024 pixels, such as 32x32", p.Size)
	}
	return f, nil
}

// list lists the folder and splits its images.
func (f *folder) list(ctx context.Context) (*pictureTree, error) {
	t, err := readTree(ctx, f.root)
	if err != nil {
		return nil, err
	}
	if t.folders.test == "" {
		return t, f.split(t)
	}
	return t, f.refuse()
}

// split moves a share of each class to the test images. Which ones follows from their names, so
// that images that are added later leave almost all others where they are.
func (f *folder) split(t *pictureTree) error {
	all := t.train
	t.train = nil
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].class == all[0].class {
			n++
		}
		class, own := t.classes[all[0].class], all[:n]
		if n < 2 {
			return fmt.Errorf("%s: the class %q has a single image (%s), which cannot be for training and for testing: "+
				"add images, or remove the folder", f.root, class, own[0].path)
		}
		lots := map[string]string{}
		for _, p := range own {
			lots[p.name] = f.splitHash(class, p.name)
		}
		drawn := slices.SortedFunc(maps.Keys(lots), func(a, b string) int {
			return cmp.Or(strings.Compare(lots[a], lots[b]), strings.Compare(a, b))
		})
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
	return nil
}

// splitHash decides whether an image is one of the test images.
func (f *folder) splitHash(class, name string) string {
	h := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, f.Seed), class+"/"+name...))
	return string(h[:])
}

func (f *folder) stamp(ctx context.Context) string {
	if f.tree, f.err = f.list(ctx); f.err != nil {
		return f.err.Error()
	}
	h := sha256.New()
	fmt.Fprintln(h, f.side)
	for _, p := range f.files() {
		fmt.Fprintf(h, "%q %d %d\n", p.path, p.size, p.time)
	}
	return string(h.Sum(nil))
}

// files are the training images and then the test images.
func (f *folder) files() []pictureFile { return slices.Concat(f.tree.train, f.tree.test) }

func (f *folder) survey(ctx context.Context, i *Info) error {
	if f.err != nil {
		return f.err
	}
	skip := f.Broken == skipBroken
	heads, bad, err := f.headers(ctx, skip) // the size of an image that cannot be read does not count
	if err == nil && bad.count() > 0 && !skip {
		_, bad, err = f.headers(ctx, true) // to name all at once
		err = cmp.Or(err, bad.error())
	}
	if err != nil {
		return err
	}
	i.Classes, i.Train, i.SHA256 = len(f.tree.classes), len(f.tree.train)-bad[:len(f.tree.train)].count(), f.sum(heads)
	i.Height, i.Width, i.Channels = f.size(heads)
	return nil
}

// headers reads the headers of all images, and decodes the images or does not. The header of one
// that cannot be read has its checksum only.
func (f *folder) headers(ctx context.Context, decode bool) ([]pictureHead, broken, error) {
	files := f.files()
	heads := make([]pictureHead, len(files))
	bad, err := eachPicture(ctx, files, nil, func() func(int, []byte) error {
		return func(n int, file []byte) error {
			head, data, err := headOf(file)
			if err == nil && decode {
				_, err = decodePicture(data)
			}
			if heads[n] = head; err != nil {
				heads[n] = pictureHead{sum: head.sum}
			}
			return err
		}
	})
	return heads, bad, err
}

// sum is the checksum of all images with their names, classes and splits, also of those that cannot
// be read.
func (f *folder) sum(heads []pictureHead) string {
	h := sha256.New()
	for n, p := range f.files() {
		fmt.Fprintf(h, "%t %q %q %x\n", n < len(f.tree.train), f.tree.classes[p.class], p.name, heads[n].sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// size returns the size that the samples get: what the parameters say, or else what the images have
// in common.
func (f *folder) size(heads []pictureHead) (height, width, channels int) {
	height, width, channels = f.height, f.width, f.Channels
	unread := func(h pictureHead) bool { return h.height == 0 }
	heads = slices.DeleteFunc(slices.Clone(heads), unread)
	if height == 0 {
		height = cmp.Or(f.side, otherSide)
		width = height
		other := func(h pictureHead) bool { return h.height != heads[0].height || h.width != heads[0].width }
		if len(heads) > 0 && max(heads[0].height, heads[0].width) <= ownSide && !slices.ContainsFunc(heads, other) {
			height, width = heads[0].height, heads[0].width
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

func (f *folder) open(ctx context.Context, d *Dataset) (*samples, error) {
	if f.err != nil {
		return nil, f.err
	}
	d.Height, d.Width, d.Channels = f.height, f.width, f.Channels
	if d.Height == 0 || d.Channels == 0 {
		// Inspect returns the same survey, which is kept.
		i, err := surveyed(ctx, Info{Name: d.Name, Title: d.Title, Source: d.Source, Licence: d.Licence}, f)
		if err != nil {
			return nil, err
		}
		d.Height, d.Width, d.Channels = i.Height, i.Width, i.Channels
	}
	files, one := f.files(), d.ImageSize()
	if len(files) > maxOwnBytes/one {
		return nil, fmt.Errorf("%s: %d images of %s are more than %d GB: choose a smaller size, such as "+
			"?size=32x32", f.root, len(files), d.Size(), maxOwnBytes>>30)
	}
	r := &folderReader{folder: f, set: d, files: files}
	r.heads, r.pixels = make([]pictureHead, len(files)), make([]uint8, len(files)*one)
	if err := r.read(ctx); err != nil {
		return nil, err
	}
	d.Classes, d.SHA256 = f.tree.classes, f.sum(r.heads)
	s := r.samples()
	d.Note = r.note()
	return s, s.enough(d)
}
