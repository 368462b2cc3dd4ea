package datasets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A rawSplit is a split as it is in a file: its labels are still texts, and its numbers have all
// their digits.
type rawSplit struct {
	height, width, channels, vector int
	values
	labels []string
}

// A rawSet is what files of vectors or images hold. If test is nil, it is still to be split.
type rawSet struct {
	classes     []string // names of the labels "0", "1", …; nil if the labels are the names
	columns     []string // names of the values of a vector; nil if they have none
	train, test *rawSplit
	note        string // what was guessed
}

// A sampleReader reads samples and their labels from one file, or from one for training and one for
// testing.
type sampleReader interface {
	files() ([]string, error)
	read(ctx context.Context, files []string) (*rawSet, error)
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

func (f *sampleFiles) stamp(context.Context) string {
	files, err := f.files()
	if err != nil {
		return err.Error()
	}
	return stampOf(files...)
}

func (f *sampleFiles) survey(ctx context.Context, i *Info) error {
	d := &Dataset{Name: i.Name}
	s, err := unchanged(ctx, f, d)
	if err != nil {
		return err
	}
	i.Classes, i.Train, i.SHA256 = len(d.Classes), len(s.train.labels), d.SHA256
	i.Height, i.Width, i.Channels, i.Vector = d.Height, d.Width, d.Channels, d.Vector
	return nil
}

func (f *sampleFiles) open(ctx context.Context, d *Dataset) (*samples, error) {
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	if d.SHA256, err = sumFiles(ctx, files...); err != nil {
		return nil, err
	}
	r, err := f.read(ctx, files)
	if err != nil {
		return nil, err
	}
	s, err := f.split(d, r)
	return s, at(f.path, err)
}

// split gives d the size and the classes of r, and returns its training and test samples.
func (f *sampleFiles) split(d *Dataset, r *rawSet) (*samples, error) {
	d.Height, d.Width, d.Channels, d.Vector = r.train.height, r.train.width, r.train.channels, r.train.vector
	d.Note = r.note
	if err := r.name(d); err != nil {
		return nil, err
	}
	train, err := r.train.part(r, d)
	if err != nil {
		return nil, err
	}
	s := &samples{train: train, columns: r.columns, normalise: f.Normalise}
	if r.test == nil {
		if err := enough(d, train.labels, 2, "training and testing"); err != nil {
			return nil, err
		}
		first, second := stratified(train.labels, 1-f.Test, f.Seed)
		s.train, s.test = train.pick(d.ImageSize(), first), train.pick(d.ImageSize(), second)
		d.Note = join(d.Note, fmt.Sprintf("%g of each class are test samples, drawn with seed %d", f.Test, f.Seed))
		return s, s.enough(d)
	}
	if err := f.refuse(); err != nil {
		return nil, err
	}
	if r.test.size() != r.train.size() {
		return nil, fmt.Errorf("the training samples are %s, the test samples %s", r.train.size(), r.test.size())
	}
	if s.test, err = r.test.part(r, d); err != nil {
		return nil, err
	}
	return s, s.enough(d)
}

// size is the size and type of the samples, for errors.
func (r *rawSplit) size() string {
	kind := "numbers"
	if r.pixels != nil {
		kind = "bytes"
	}
	return sizeOf(r.height, r.width, r.channels, r.vector) + " " + kind
}

// part returns the samples of a split, with numbers in place of labels.
func (r *rawSplit) part(set *rawSet, d *Dataset) (part, error) {
	number := map[string]int32{}
	for i, name := range d.Classes {
		if set.classes != nil {
			name = fmt.Sprint(i)
		}
		number[name] = int32(i)
	}
	p := part{r.values, make([]int32, len(r.labels))}
	for i, l := range r.labels {
		n, ok := number[l]
		if !ok {
			return p, fmt.Errorf("the label %s of %s has no name: the array classes has %d, for the labels "+
				"0 to %d", l, r.name(i), len(d.Classes), len(d.Classes)-1)
		}
		p.labels[i] = n
	}
	return p, nil
}

// name gives d its classes: the labels that occur, in natural order, or if these have names, all
// names in order.
func (r *rawSet) name(d *Dataset) error {
	d.Classes = r.classes
	if r.classes == nil {
		seen := map[string]bool{}
		for _, s := range []*rawSplit{r.train, cmp.Or(r.test, new(rawSplit))} {
			for _, l := range s.labels {
				seen[l] = true
			}
		}
		d.Classes = slices.SortedFunc(maps.Keys(seen), natural)
		if len(d.Classes) == 1 {
			return fmt.Errorf("all samples have the label %q; want at least two classes", d.Classes[0])
		}
	}
	return checkClasses(d.Classes)
}

// enough returns an error unless both splits have samples of each class.
func (s *samples) enough(d *Dataset) error {
	if len(d.Classes) < 2 {
		return errors.New("one class; want at least two")
	}
	return cmp.Or(enough(d, s.train.labels, 1, "training"), enough(d, s.test.labels, 1, "testing"))
}

// enough returns an error unless there are so many samples of each class.
func enough(d *Dataset, labels []int32, least int, purpose string) error {
	for class, n := range perClass(d, labels) {
		if n < least {
			return fmt.Errorf("the class %q has %d samples for %s; want %d: add samples, or leave the "+
				"class out", d.Classes[class], n, purpose, least)
		}
	}
	return nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
