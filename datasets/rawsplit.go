package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A rawSplit is a split whose labels are still texts.
type rawSplit struct {
	height, width, channels, vector int
	pixels                          []uint8
	values                          []float32
	labels                          []string
}

// A rawSet is what files of vectors or images hold. If test is nil, it is still to be split.
type rawSet struct {
	classes     []string // names of the labels "0", "1", …; nil if the labels are the names
	train, test *rawSplit
	note        string // what was guessed
}

// A sampleReader reads samples and their labels from one file, or from one for training and one for testing.
type sampleReader interface {
	files() ([]string, error)
	read(ctx context.Context, files []string) (*rawSet, error)
}

// sampleFiles are files that are read as a whole, and how a set is made of their samples.
type sampleFiles struct {
	sampleReader
	path string
	sampleParameters
	splitAsked bool
}

type sampleParameters struct {
	splitting
	Normalise string `param:"normalise" default:"none" choices:"none,standard,length" doc:"how the values of vectors are normalised"`
}

// How the values of vectors are normalised.
const (
	asTheyAre = "none"
	standard  = "standard" // mean 0 and variance 1 over the training samples
	unitForm  = "length"   // each vector has the length 1
)

func (f *sampleFiles) stamp(context.Context) (string, error) {
	files, err := f.files()
	if err != nil {
		return "", err
	}
	return stampOf(files...)
}

func (f *sampleFiles) survey(ctx context.Context, i *Info) error {
	d := &Dataset{Name: i.Name}
	err := f.open(ctx, d)
	i.Classes, i.Train, i.SHA256 = len(d.Classes), d.Train.Len(), d.SHA256
	i.Height, i.Width, i.Channels, i.Vector = d.Height, d.Width, d.Channels, d.Vector
	return err
}

func (f *sampleFiles) open(ctx context.Context, d *Dataset) error {
	return unchanged(ctx, f, func() error { return f.load(ctx, d) })
}

func (f *sampleFiles) load(ctx context.Context, d *Dataset) error {
	files, err := f.files()
	if err != nil {
		return err
	}
	if d.SHA256, err = sumFiles(ctx, files...); err != nil {
		return err
	}
	r, err := f.read(ctx, files)
	if err == nil {
		err = f.fill(d, r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	return nil
}

// fill makes r the data of d.
func (f *sampleFiles) fill(d *Dataset, r *rawSet) error {
	d.Height, d.Width, d.Channels, d.Vector = r.train.height, r.train.width, r.train.channels, r.train.vector
	d.Note = fmt.Sprintf("%g of each class are test samples, drawn with seed %d", f.Test, f.Seed)
	if r.test != nil {
		if f.splitAsked {
			return errors.New("there are test samples: the parameters test and seed, which split samples that are not, do not apply")
		}
		d.Note = ""
		if t := r.test; t.height != d.Height || t.width != d.Width || t.channels != d.Channels || t.vector != d.Vector || (t.values == nil) != (r.train.values == nil) {
			return fmt.Errorf("the training samples are %s, the test samples %s", r.train.size(), t.size())
		}
	}
	if err := r.label(d); err != nil {
		return err
	}
	if err := f.divide(d, r.test == nil); err != nil {
		return err
	}
	d.Note = join(r.note, d.Note)
	return f.scale(d)
}

// size is the size and type of the samples, for errors.
func (r *rawSplit) size() string {
	kind := "numbers"
	if r.values == nil {
		kind = "bytes"
	}
	return sizeOf(r.height, r.width, r.channels, r.vector) + " " + kind
}

// label gives d the samples of r, with numbers in place of labels.
func (r *rawSet) label(d *Dataset) error {
	names := r.names()
	d.Classes = names
	if r.classes != nil {
		d.Classes = r.classes
	}
	if err := distinct(d.Classes); err != nil {
		return err
	}
	number := map[string]int32{}
	for i, name := range names {
		number[name] = int32(i)
	}
	for to, s := range map[*Split]*rawSplit{&d.Train: r.train, &d.Test: r.test} {
		if s == nil {
			continue
		}
		*to = Split{Pixels: s.pixels, Values: s.values, Labels: make([]int32, len(s.labels))}
		for i, l := range s.labels {
			n, ok := number[l]
			if !ok {
				return fmt.Errorf("the label %s has no name; want labels from 0 to %d, which the %d names of classes are for", l, len(names)-1, len(names))
			}
			to.Labels[i] = n
		}
	}
	return nil
}

// names returns the labels that occur, in natural order or, if the classes have names, all labels in order.
func (r *rawSet) names() (names []string) {
	if r.classes != nil {
		for i := range r.classes {
			names = append(names, fmt.Sprint(i))
		}
		return names
	}
	seen := map[string]bool{}
	for _, s := range []*rawSplit{r.train, cmp.Or(r.test, new(rawSplit))} {
		for _, l := range s.labels {
			if !seen[l] {
				seen[l] = true
				names = append(names, l)
			}
		}
	}
	slices.SortFunc(names, natural)
	return names
}

// divide splits the training samples if the set is to be split, and checks that each class is in both splits.
func (f *sampleFiles) divide(d *Dataset, split bool) error {
	if len(d.Classes) < 2 {
		return fmt.Errorf("%d classes; want at least two", len(d.Classes))
	}
	if split {
		for class, samples := range d.ByClass(&d.Train, 2) {
			if len(samples) < 2 {
				return fmt.Errorf("the class %q has %d samples, too few for training and testing: add samples, or leave the class out", d.Classes[class], len(samples))
			}
		}
		d.divide(d.Train, 1-f.Test, f.Seed)
	}
	for name, s := range map[string]*Split{"training": &d.Train, "test": &d.Test} {
		for class, samples := range d.ByClass(s, 1) {
			if len(samples) == 0 {
				return fmt.Errorf("the class %q has no %s samples", d.Classes[class], name)
			}
		}
	}
	return nil
}

// scale normalises the values.
func (f *sampleFiles) scale(d *Dataset) error {
	switch {
	case f.Normalise == asTheyAre:
		return nil
	case d.Train.Values == nil:
		return fmt.Errorf("normalise=%s is for numbers; bytes are always divided by 255", f.Normalise)
	case f.Normalise == standard:
		standardise(d)
		d.Note = join(d.Note, "each value has mean 0 and variance 1 over the training samples")
		return nil
	}
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i := range s.Len() {
			if !toUnitLength(d.numbers(s, i)) {
				return fmt.Errorf("a vector of zeros cannot get the length 1 (normalise=%s)", f.Normalise)
			}
		}
	}
	d.Note = join(d.Note, "each vector has the length 1")
	return nil
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// standardise subtracts the mean over the training samples from each value and divides by the standard deviation,
// unless the value is the same in all of them.
func standardise(d *Dataset) {
	width, n := d.ImageSize(), float64(d.Train.Len())
	for k := range width {
		sum, squares := 0.0, 0.0
		for i := k; i < len(d.Train.Values); i += width {
			sum += float64(d.Train.Values[i])
		}
		mean := sum / n
		for i := k; i < len(d.Train.Values); i += width {
			squares += (float64(d.Train.Values[i]) - mean) * (float64(d.Train.Values[i]) - mean)
		}
		deviation := math.Sqrt(squares / n)
		if deviation == 0 {
			deviation = 1
		}
		for _, s := range []*Split{&d.Train, &d.Test} {
			for i := k; i < len(s.Values); i += width {
				s.Values[i] = float32((float64(s.Values[i]) - mean) / deviation)
			}
		}
	}
}

func toUnitLength(x []float32) bool {
	squares := 0.0
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	if squares == 0 {
		return false
	}
	for i, v := range x {
		x[i] = float32(float64(v) / math.Sqrt(squares))
	}
	return true
}
