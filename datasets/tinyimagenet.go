package datasets

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	tinyFolder  = "tiny-imagenet-200"
	tinySide    = 64
	tinyBytes   = tinySide * tinySide * 3
	tinyClasses = 200
)

// A tinyFormat reads the folders of Tiny ImageNet.
type tinyFormat struct{ halved bool }

type tinyFile struct {
	path  string
	label int32
}

func (f tinyFormat) open(ctx context.Context, d *Dataset, dir string) error {
	dir = filepath.Join(dir, tinyFolder)
	wnids, err := readWNIDs(dir)
	if err != nil {
		return err
	}
	if d.Classes, err = tinyNames(dir, wnids); err != nil {
		return err
	}
	for _, part := range []struct {
		split *Split
		list  func(dir string, wnids []string) ([]tinyFile, error)
	}{{&d.Train, tinyTrain}, {&d.Test, tinyVal}} {
		files, err := part.list(dir, wnids)
		if err != nil {
			return err
		}
		if *part.split, err = decodeTiny(ctx, files); err != nil {
			return err
		}
	}
	markSubset(d, tinyTrainSamples, tinyTestSamples)
	d.Note = join(d.Note, "the official validation set is the test split")
	if f.halved {
		for _, s := range []*Split{&d.Train, &d.Test} {
			s.Pixels = halve(s.Pixels, s.Len(), tinySide, tinySide, d.Channels)
		}
	}
	return nil
}

func (tinyFormat) list(path string, f File) (c content, err error) {
	dir, rel := filepath.Dir(path), strings.TrimPrefix(f.Path, tinyFolder+"/")
	if strings.HasPrefix(rel, "val/") {
		dir = filepath.Dir(dir)
	}
	wnids, err := readWNIDs(dir)
	if err != nil {
		return c, err
	}
	var images []tinyFile
	switch rel {
	case "words.txt":
		_, err = tinyNames(dir, wnids)
	case "val/val_annotations.txt":
		_, err = tinyVal(dir, wnids)
	case "val/images/":
		images, err = tinyVal(dir, wnids)
	case "train/":
		images, err = tinyTrain(dir, wnids)
	}
	for _, image := range images {
		c.files = append(c.files, image.path)
	}
	c.samples = len(images)
	c.check = func(ctx context.Context) error {
		for some := range slices.Chunk(images, 1000) { // all at once would need 1.2 GB
			if _, err := decodeTiny(ctx, some); err != nil {
				return err
			}
		}
		return nil
	}
	return c, err
}

func readWNIDs(dir string) ([]string, error) {
	path := filepath.Join(dir, "wnids.txt")
	wnids, err := readNames(path, tinyClasses)
	seen := map[string]bool{}
	for _, w := range wnids {
		if seen[w] || !plainName(w) {
			return nil, fmt.Errorf("%s: %q is not a WordNet id, or is there twice", path, w)
		}
		seen[w] = true
	}
	return wnids, err
}

// plainName reports whether a name from a file can be joined to a path without leading elsewhere.
func plainName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`)
}

// tinyNames gives each class the first of its names in words.txt, with its WordNet id where two
// classes share it.
func tinyNames(dir string, wnids []string) ([]string, error) {
	path := filepath.Join(dir, "words.txt")
	text, err := readFile(path, maxTextBytes)
	if err != nil {
		return nil, err
	}
	words, err := parseWords(string(text))
	if err != nil {
		return nil, at(path, err)
	}
	names := make([]string, len(wnids))
	count := map[string]int{}
	for i, w := range wnids {
		names[i] = words[w]
		if names[i] == "" {
			return nil, fmt.Errorf("%s: no name for %s, which wnids.txt lists", path, w)
		}
		count[names[i]]++
	}
	for i, n := range names {
		if count[n] > 1 {
			names[i] = n + " (" + wnids[i] + ")"
		}
	}
	return names, nil
}

// eachLine calls use for the tab-separated fields of each line that is not empty. There must be at
// least two.
func eachLine(text string, use func(line int, fields []string) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) < 2 {
			return fmt.Errorf("line %d: want at least two fields with a tab between them", n)
		}
		if err := use(n, fields); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// parseWords maps WordNet ids to the first of their comma-separated names.
func parseWords(text string) (map[string]string, error) {
	words := map[string]string{}
	err := eachLine(text, func(_ int, fields []string) error {
		first, _, _ := strings.Cut(fields[1], ",")
		words[fields[0]] = strings.TrimSpace(first)
		return nil
	})
	return words, err
}

// tinyTrain lists the training images in class order, and by number within a class.
func tinyTrain(dir string, wnids []string) (files []tinyFile, err error) {
	for label, w := range wnids {
		folder := filepath.Join(dir, "train", w, "images")
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, e := range entries {
			if !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), ".jpeg") {
				names = append(names, e.Name())
			}
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("%s: no training image (*.JPEG)", folder)
		}
		slices.SortFunc(names, natural)
		for _, n := range names {
			files = append(files, tinyFile{filepath.Join(folder, n), int32(label)})
		}
	}
	return files, nil
}

func tinyVal(dir string, wnids []string) ([]tinyFile, error) {
	path := filepath.Join(dir, "val", "val_annotations.txt")
	text, err := readFile(path, maxTextBytes)
	if err != nil {
		return nil, err
	}
	files, err := parseAnnotations(string(text), wnids)
	for i := range files {
		files[i].path = filepath.Join(dir, "val", "images", files[i].path)
	}
	return files, at(path, err)
}

// parseAnnotations reads lines of file name, WordNet id and a box, which is ignored.
func parseAnnotations(text string, wnids []string) (files []tinyFile, err error) {
	seen := map[string]bool{}
	err = eachLine(text, func(_ int, fields []string) error {
		name, label := fields[0], slices.Index(wnids, fields[1])
		if !plainName(name) || seen[name] {
			return fmt.Errorf("%q is not a plain file name, or is there twice", name)
		}
		if label < 0 {
			return fmt.Errorf("class %q is not in wnids.txt", fields[1])
		}
		seen[name] = true
		files = append(files, tinyFile{name, int32(label)})
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("no annotation")
	}
	return files, err
}

// decodeTiny decodes the files on all cores, in their order.
func decodeTiny(ctx context.Context, files []tinyFile) (Split, error) {
	s := Split{Pixels: make([]uint8, len(files)*tinyBytes), Labels: make([]int32, len(files))}
	err := onAllCores(ctx, len(files), func() func(int) error {
		rgb := shaper{height: tinySide, width: tinySide, channels: 3, background: color.White}
		return func(i int) error {
			s.Labels[i] = files[i].label
			return decodeTinyFile(s.Pixels[i*tinyBytes:(i+1)*tinyBytes], files[i].path, &rgb)
		}
	})
	return s, err
}

func decodeTinyFile(dst []uint8, path string, rgb *shaper) error {
	data, err := readFile(path, maxPictureBytes)
	if err != nil {
		return err
	}
	img, err := decodePicture(data)
	if err != nil {
		return at(path, err)
	}
	if size := img.Bounds().Size(); size != image.Pt(tinySide, tinySide) {
		return fmt.Errorf("%s: image is %d×%d; want %d×%[4]d", path, size.X, size.Y, tinySide)
	}
	rgb.shape(dst, img)
	return nil
}

// halve makes n images of even height and width half as high and wide. Each new pixel is the mean
// of four, rounded to the nearest byte and upwards from the middle.
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

// keepTiny leaves out the test images: nobody has their labels.
func keepTiny(member string) (string, bool) {
	rel, ok := strings.CutPrefix(member, tinyFolder+"/")
	return rel, ok && !strings.HasPrefix(rel, "test/")
}
