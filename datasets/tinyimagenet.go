package datasets

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

const (
	tinyFolder  = "tiny-imagenet-200"
	tinySide    = 64
	tinyBytes   = tinySide * tinySide * 3
	tinyClasses = 200

	maxJPEGBytes = 1 << 20 // the largest official image has 10 kB
)

// A tinyFile is one image and its class.
type tinyFile struct {
	path  string
	label int32
}

func openTinyImageNet(ctx context.Context, d *Dataset, dir string, _ Options) error {
	if err := require(dir, d.Name, tinyFolder+"/wnids.txt", tinyFolder+"/words.txt",
		tinyFolder+"/train", tinyFolder+"/val/val_annotations.txt"); err != nil {
		return err
	}
	dir = filepath.Join(dir, tinyFolder)
	wnids, err := readWNIDs(dir)
	if err != nil {
		return err
	}
	if d.Classes, err = tinyNames(dir, wnids); err != nil {
		return err
	}
	train, err := tinyTrain(dir, wnids)
	if err != nil {
		return err
	}
	val, err := tinyVal(dir, wnids)
	if err != nil {
		return err
	}
	if d.Train, err = decodeTiny(ctx, train); err != nil {
		return err
	}
	if d.Test, err = decodeTiny(ctx, val); err != nil {
		return err
	}
	markSubset(d, tinyTrainSamples, tinyTestSamples)
	if d.Note != "" {
		d.Note += fmt.Sprintf("; training images per class: %s of 500", perClass(train, tinyClasses))
	} else {
		d.Note = "the official validation set is the test split"
	}
	return nil
}

// perClass says how many files a class has: "200", or "150 to 200" where classes differ.
func perClass(files []tinyFile, classes int) string {
	counts := make([]int, classes)
	for _, f := range files {
		counts[f.label]++
	}
	lo, hi := slices.Min(counts), slices.Max(counts)
	if lo == hi {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

func readWNIDs(dir string) ([]string, error) {
	path := filepath.Join(dir, "wnids.txt")
	wnids, err := readNames(path, tinyClasses)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, w := range wnids {
		// A WordNet id becomes part of a path.
		if seen[w] || !filepath.IsLocal(w) || strings.ContainsAny(w, `/\`) {
			return nil, fmt.Errorf("%s: %q is there twice or is no WordNet id", path, w)
		}
		seen[w] = true
	}
	return wnids, nil
}

// tinyNames gives each class the first of its names in words.txt, with its WordNet id where two
// classes share it.
func tinyNames(dir string, wnids []string) ([]string, error) {
	path := filepath.Join(dir, "words.txt")
	data, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	words, err := parseWords(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	names := make([]string, len(wnids))
	count := map[string]int{}
	for i, w := range wnids {
		if names[i] = words[w]; names[i] == "" {
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

// parseWords maps WordNet ids to the first of their comma-separated names.
func parseWords(text string) (map[string]string, error) {
	words := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		id, names, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d: want a WordNet id, a tab and names", n)
		}
		first, _, _ := strings.Cut(names, ",")
		words[id] = strings.TrimSpace(first)
	}
	return words, nil
}

// tinyTrain lists the training images in class order, and by number within a class.
func tinyTrain(dir string, wnids []string) ([]tinyFile, error) {
	var files []tinyFile
	for label, w := range wnids {
		folder := filepath.Join(dir, "train", w, "images")
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("training images of class %s: %w", w, err)
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
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
		for _, n := range names {
			files = append(files, tinyFile{filepath.Join(folder, n), int32(label)})
		}
	}
	return files, nil
}

func tinyVal(dir string, wnids []string) ([]tinyFile, error) {
	path := filepath.Join(dir, "val", "val_annotations.txt")
	data, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	files, err := parseAnnotations(string(data), wnids)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range files {
		files[i].path = filepath.Join(dir, "val", "images", files[i].path)
	}
	return files, nil
}

// parseAnnotations reads lines of file name, WordNet id and a box, which is ignored.
func parseAnnotations(text string, wnids []string) ([]tinyFile, error) {
	label := make(map[string]int32, len(wnids))
	for i, w := range wnids {
		label[w] = int32(i)
	}
	var files []tinyFile
	seen := map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) < 2 {
			return nil, fmt.Errorf("line %d: want a file name, a tab and a WordNet id", n)
		}
		name := fields[0]
		if !filepath.IsLocal(name) || strings.ContainsAny(name, `/\`) {
			return nil, fmt.Errorf("line %d: %q is no plain file name", n, name)
		}
		l, ok := label[fields[1]]
		if !ok {
			return nil, fmt.Errorf("line %d: class %q is not in wnids.txt", n, fields[1])
		}
		if seen[name] {
			return nil, fmt.Errorf("line %d: %s is there twice", n, name)
		}
		seen[name] = true
		files = append(files, tinyFile{name, l})
	}
	if len(files) == 0 {
		return nil, errors.New("no annotation")
	}
	return files, nil
}

// decodeTiny decodes the files on all cores, in their order.
func decodeTiny(ctx context.Context, files []tinyFile) (Split, error) {
	s := Split{Pixels: make([]uint8, len(files)*tinyBytes), Labels: make([]int32, len(files))}
	workers := runtime.GOMAXPROCS(0)
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			for i := w; i < len(files); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := decodeTinyFile(s.Pixels[i*tinyBytes:(i+1)*tinyBytes], files[i].path); err != nil {
					return err
				}
				s.Labels[i] = files[i].label
			}
			return nil
		})
	}
	return s, g.Wait()
}

func decodeTinyFile(dst []uint8, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() > maxJPEGBytes {
		return fmt.Errorf("%s: %d bytes: too large for a %d×%d image", path, info.Size(), tinySide, tinySide)
	}
	data := make([]byte, info.Size())
	if _, err := f.ReadAt(data, 0); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := decodeTinyJPEG(dst, data); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// decodeTinyJPEG writes the RGB bytes of a 64×64 JPEG to dst.
func decodeTinyJPEG(dst []uint8, data []byte) error {
	cfg, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if cfg.Width != tinySide || cfg.Height != tinySide {
		return fmt.Errorf("image is %d×%d: want %d×%d", cfg.Width, cfg.Height, tinySide, tinySide)
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	toRGB(dst, img)
	return nil
}

// toRGB writes img to dst with channels last; grey images get three equal channels.
func toRGB(dst []uint8, img image.Image) {
	b := img.Bounds()
	k := 0
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			switch img := img.(type) {
			case *image.YCbCr:
				c := img.YCbCrAt(x, y)
				dst[k], dst[k+1], dst[k+2] = color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			case *image.Gray:
				v := img.GrayAt(x, y).Y
				dst[k], dst[k+1], dst[k+2] = v, v, v
			default:
				c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
				dst[k], dst[k+1], dst[k+2] = c.R, c.G, c.B
			}
			k += 3
		}
	}
}

// keepTiny leaves out the test images: nobody has their labels.
func keepTiny(member string) (string, bool) {
	rel, ok := strings.CutPrefix(member, tinyFolder+"/")
	return rel, ok && !strings.HasPrefix(rel, "test/")
}
