package datasets

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/parallelcl/parallelcl/internal/fail"
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
	files() []string
	read(ctx context.Context, files []string) *rawSet
}

// sampleFiles are files that are read as a whole, and how a set is made of their samples.
type sampleFiles struct {
	sampleReader
	path string
	sampleParameters
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

func (f *sampleFiles) stamp(context.Context) (stamp string) {
	if err := fail.Tried(func() { stamp = stampOf(f.files()...) }); err != nil {
		return err.Error()
	}
	return stamp
}

func (f *sampleFiles) survey(ctx context.Context, i *Info) {
	d := &Dataset{Name: i.Name}
	unchanged(ctx, f, d)
	i.Classes, i.Train, i.SHA256 = len(d.Classes), d.Train.Len(), d.SHA256
	i.Height, i.Width, i.Channels, i.Vector = d.Height, d.Width, d.Channels, d.Vector
}

func (f *sampleFiles) open(ctx context.Context, d *Dataset) {
	files := f.files()
	d.SHA256 = sumFiles(ctx, files...)
	r := f.read(ctx, files)
	defer fail.At(f.path)
	f.fill(d, r)
}

// fill makes r the data of d.
func (f *sampleFiles) fill(d *Dataset, r *rawSet) {
	d.Height, d.Width, d.Channels, d.Vector = r.train.height, r.train.width, r.train.channels, r.train.vector
	splits := map[*Split]*rawSplit{&d.Train: r.train}
	if r.test != nil {
		f.refuse()
		fail.When(r.test.size() != r.train.size(), "the training samples are %s, the test samples %s", r.train.size(), r.test.size())
		splits[&d.Test] = r.test
	}
	r.label(d, splits)
	if d.Note = r.note; r.test == nil {
		d.Note = join(r.note, fmt.Sprintf("%g of each class are test samples, drawn with seed %d", f.Test, f.Seed))
		each(d, &d.Train, 2, "training and testing")
		d.divide(d.Train, 1-f.Test, f.Seed)
	}
	each(d, &d.Train, 1, "training")
	each(d, &d.Test, 1, "testing")
	f.scale(d)
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
func (r *rawSet) label(d *Dataset, splits map[*Split]*rawSplit) {
	names := r.names()
	d.Classes = names
	if r.classes != nil {
		d.Classes = r.classes
	}
	distinct(d.Classes)
	fail.When(len(d.Classes) < 2, "%d classes; want at least two", len(d.Classes))
	number := map[string]int32{}
	for i, name := range names {
		number[name] = int32(i)
	}
	for to, s := range splits {
		*to = Split{Pixels: s.pixels, Values: s.values, Labels: make([]int32, len(s.labels))}
		for i, l := range s.labels {
			n, ok := number[l]
			if !ok {
				fail.Now("the label %s has no name; the classes have names for 0 to %d", l, len(names)-1)
			}
			to.Labels[i] = n
		}
	}
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
			seen[l] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), natural)
}

// each ends with an error unless a split has so many samples of each class.
func each(d *Dataset, s *Split, least int, purpose string) {
	for class, samples := range d.ByClass(s, least) {
		fail.When(len(samples) < least, "the class %q has %d samples for %s; want %d: add samples, or leave the class out", d.Classes[class], len(samples), purpose, least)
	}
}

// scale normalises the values.
func (f *sampleFiles) scale(d *Dataset) {
	fail.When(f.Normalise != asTheyAre && d.Train.Values == nil, "normalise=%s is for numbers; bytes are always divided by 255", f.Normalise)
	switch f.Normalise {
	case standard:
		standardise(d)
		d.Note = join(d.Note, "each value has mean 0 and variance 1 over the training samples")
	case unitForm:
		for _, s := range []*Split{&d.Train, &d.Test} {
			for i := range s.Len() {
				toUnitLength(d.numbers(s, i))
			}
		}
		d.Note = join(d.Note, "each vector has the length 1")
	}
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
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

func toUnitLength(x []float32) {
	squares := 0.0
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	fail.When(squares == 0, "a vector of zeros cannot get the length 1 (normalise=%s)", unitForm)
	for i, v := range x {
		x[i] = float32(float64(v) / math.Sqrt(squares))
	}
}
