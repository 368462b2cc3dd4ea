package datasets

import (
	"context"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/fail"
)

const (
	tinyFolder  = "tiny-imagenet-200"
	tinySide    = 64
	tinyBytes   = tinySide * tinySide * 3
	tinyClasses = 200
)

// A tinyFormat reads the folders of Tiny ImageNet.
type tinyFormat struct{ halved bool }

// A tinyFile is one image and its class.
type tinyFile struct {
	path  string
	label int32
}

func (f tinyFormat) open(ctx context.Context, d *Dataset, dir string) {
	dir = filepath.Join(dir, tinyFolder)
	wnids := readWNIDs(dir)
	d.Classes = tinyNames(dir, wnids)
	train, val := tinyTrain(dir, wnids), tinyVal(dir, wnids)
	d.Train, d.Test = decodeTiny(ctx, train), decodeTiny(ctx, val)
	markSubset(d, tinyTrainSamples, tinyTestSamples)
	d.Note = join(d.Note, "the official validation set is the test split")
	if f.halved {
		for _, s := range []*Split{&d.Train, &d.Test} {
			s.Pixels = halve(s.Pixels, s.Len(), tinySide, tinySide, d.Channels)
		}
	}
}

func (tinyFormat) list(path string, f File) (c content) {
	dir, rel := filepath.Dir(path), strings.TrimPrefix(f.Path, tinyFolder+"/")
	if strings.HasPrefix(rel, "val/") {
		dir = filepath.Dir(dir)
	}
	wnids := readWNIDs(dir)
	var images []tinyFile
	switch rel {
	case "words.txt":
		tinyNames(dir, wnids)
	case "val/val_annotations.txt":
		tinyVal(dir, wnids)
	case "val/images/":
		images = tinyVal(dir, wnids)
	case "train/":
		images = tinyTrain(dir, wnids)
	}
	for _, image := range images {
		c.files = append(c.files, image.path)
	}
	c.samples = len(images)
	c.check = func(ctx context.Context) {
		for some := range slices.Chunk(images, 1000) { // all at once would need 1.2 GB
			decodeTiny(ctx, some)
		}
	}
	return c
}

func readWNIDs(dir string) []string {
	path := filepath.Join(dir, "wnids.txt")
	wnids := readNames(path, tinyClasses)
	seen := map[string]bool{}
	for _, w := range wnids {
		fail.When(seen[w] || !plainName(w), "%s: %q is not a WordNet id, or is there twice", path, w)
		seen[w] = true
	}
	return wnids
}

// plainName reports whether a name from a file can be joined to a path without leading elsewhere.
func plainName(name string) bool {
	return filepath.IsLocal(name) && !strings.ContainsAny(name, `/\`)
}

// tinyNames gives each class the first of its names in words.txt, with its WordNet id where two
// classes share it.
func tinyNames(dir string, wnids []string) []string {
	path := filepath.Join(dir, "words.txt")
	text := string(readFile(path, maxTextBytes))
	defer fail.At(path)
	words := parseWords(text)
	names := make([]string, len(wnids))
	count := map[string]int{}
	for i, w := range wnids {
		names[i] = words[w]
		fail.When(names[i] == "", "no name for %s, which wnids.txt lists", w)
		count[names[i]]++
	}
	for i, n := range names {
		if count[n] > 1 {
			names[i] = n + " (" + wnids[i] + ")"
		}
	}
	return names
}

// eachLine calls use for the tab-separated fields of each line that is not empty. There must be at least two.
func eachLine(text string, use func(line int, fields []string)) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line != "" {
			fields := strings.Split(line, "\t")
			fail.When(len(fields) < 2, "line %d: want at least two fields with a tab between them", n)
			use(n, fields)
		}
	}
}

// parseWords maps WordNet ids to the first of their comma-separated names.
func parseWords(text string) map[string]string {
	words := map[string]string{}
	eachLine(text, func(_ int, fields []string) {
		first, _, _ := strings.Cut(fields[1], ",")
		words[fields[0]] = strings.TrimSpace(first)
	})
	return words
}

// tinyTrain lists the training images in class order, and by number within a class.
func tinyTrain(dir string, wnids []string) (files []tinyFile) {
	for label, w := range wnids {
		folder := filepath.Join(dir, "train", w, "images")
		var names []string
		for _, e := range fail.Or(os.ReadDir(folder)) {
			if !e.IsDir() && strings.EqualFold(filepath.Ext(e.Name()), ".jpeg") {
				names = append(names, e.Name())
			}
		}
		fail.When(len(names) == 0, "%s: no training image (*.JPEG)", folder)
		slices.SortFunc(names, natural)
		for _, n := range names {
			files = append(files, tinyFile{filepath.Join(folder, n), int32(label)})
		}
	}
	return files
}

func tinyVal(dir string, wnids []string) []tinyFile {
	path := filepath.Join(dir, "val", "val_annotations.txt")
	text := string(readFile(path, maxTextBytes))
	defer fail.At(path)
	files := parseAnnotations(text, wnids)
	for i := range files {
		files[i].path = filepath.Join(dir, "val", "images", files[i].path)
	}
	return files
}

// parseAnnotations reads lines of file name, WordNet id and a box, which is ignored.
func parseAnnotations(text string, wnids []string) (files []tinyFile) {
	seen := map[string]bool{}
	eachLine(text, func(line int, fields []string) {
		name, label := fields[0], slices.Index(wnids, fields[1])
		fail.When(!plainName(name) || seen[name], "line %d: %q is not a plain file name, or is there twice", line, name)
		fail.When(label < 0, "line %d: class %q is not in wnids.txt", line, fields[1])
		seen[name] = true
		files = append(files, tinyFile{name, int32(label)})
	})
	fail.When(len(files) == 0, "no annotation")
	return files
}

// decodeTiny decodes the files on all cores, in their order.
func decodeTiny(ctx context.Context, files []tinyFile) Split {
	s := Split{Pixels: make([]uint8, len(files)*tinyBytes), Labels: make([]int32, len(files))}
	onAllCores(ctx, len(files), func() func(int) {
		rgb := shaper{height: tinySide, width: tinySide, channels: 3, background: color.White}
		return func(i int) {
			s.Labels[i] = files[i].label
			decodeTinyFile(s.Pixels[i*tinyBytes:(i+1)*tinyBytes], files[i].path, &rgb)
		}
	})
	return s
}

func decodeTinyFile(dst []uint8, path string, rgb *shaper) {
	data := readFile(path, maxPictureBytes)
	defer fail.At(path)
	img := decodePicture(data)
	size := img.Bounds().Size()
	fail.When(size != image.Pt(tinySide, tinySide), "image is %d×%d; want %d×%[3]d", size.X, size.Y, tinySide)
	rgb.shape(dst, img)
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

// keepTiny leaves out the test images: nobody has their labels.
func keepTiny(member string) (string, bool) {
	rel, ok := strings.CutPrefix(member, tinyFolder+"/")
	return rel, ok && !strings.HasPrefix(rel, "test/")
}
