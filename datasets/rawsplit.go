package datasets

import (
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

// A rawSet is what a file of vectors or images holds. If test is nil, it is still to be split.
type rawSet struct {
	classes     []string // names of the labels "0", "1", …; nil if the labels are the names
	train, test *rawSplit
}

// vectorOptions say how a rawSet becomes a set.
type vectorOptions struct {
	test      float64
	testGiven bool
	seed      uint64
	normalise string
}

// How the values of vectors are normalised.
const (
	asTheyAre = "none"
	standard  = "standard" // mean 0 and variance 1 over the training samples
	unitForm  = "length"   // each vector has the length 1
)

func (o *vectorOptions) parse(p *parameters) {
	o.test = 0.2
	o.testGiven = p.fraction("test", &o.test)
	p.seed(&o.seed)
	o.normalise = p.one("normalise", asTheyAre, standard, unitForm)
}

// fill makes r the data of d.
func (o *vectorOptions) fill(d *Dataset, r *rawSet) error {
	d.Height, d.Width, d.Channels, d.Vector = r.train.height, r.train.width, r.train.channels, r.train.vector
	d.Note = fmt.Sprintf("%g of each class are test samples, drawn with seed %d", o.test, o.seed)
	if r.test != nil {
		if o.testGiven || o.seed != 0 {
			return errors.New("there are test samples: the parameters test and seed, which split samples that are not, do not apply")
		}
		d.Note = ""
		if t := r.test; t.height != d.Height || t.width != d.Width || t.channels != d.Channels || t.vector != d.Vector || (t.values == nil) != (r.train.values == nil) {
			return fmt.Errorf("the training samples are %s, the test samples %s", r.train.size(), t.size())
		}
	}
	names := r.names()
	d.Classes = names
	if r.classes != nil {
		d.Classes = r.classes
	}
	if err := distinct(d.Classes); err != nil {
		return err
	}
	label := map[string]int32{}
	for i, name := range names {
		label[name] = int32(i)
	}
	d.Train = r.train.split(label)
	if r.test != nil {
		d.Test = r.test.split(label)
	}
	if err := o.divide(d, r.test == nil); err != nil {
		return err
	}
	return o.scale(d)
}

// size is the size and type of the samples, for errors.
func (r *rawSplit) size() string {
	kind := "numbers"
	if r.values == nil {
		kind = "bytes"
	}
	return sizeOf(r.height, r.width, r.channels, r.vector) + " " + kind
}

// names returns the labels that occur, in natural order or, if the classes have names, all labels in order.
func (r *rawSet) names() []string {
	if r.classes != nil {
		var numbers []string
		for i := range r.classes {
			numbers = append(numbers, fmt.Sprint(i))
		}
		return numbers
	}
	var names []string
	seen := map[string]bool{}
	for _, s := range []*rawSplit{r.train, r.test} {
		if s == nil {
			continue
		}
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

func (r *rawSplit) split(label map[string]int32) Split {
	s := Split{Pixels: r.pixels, Values: r.values, Labels: make([]int32, len(r.labels))}
	for i, l := range r.labels {
		n, ok := label[l]
		if !ok {
			n = -1 // Validate names it
		}
		s.Labels[i] = n
	}
	return s
}

// divide splits the training samples if the set is to be split, and checks that each class is in both splits.
func (o *vectorOptions) divide(d *Dataset, split bool) error {
	for _, l := range slices.Concat(d.Train.Labels, d.Test.Labels) {
		if l < 0 || int(l) >= len(d.Classes) {
			return fmt.Errorf("there is a label that none of the %d class names belongs to: labels with names are 0 to %d", len(d.Classes), len(d.Classes)-1)
		}
	}
	if len(d.Classes) < 2 {
		return fmt.Errorf("%d classes; want at least two", len(d.Classes))
	}
	if split {
		for class, samples := range d.ByClass(&d.Train, 2) {
			if len(samples) < 2 {
				return fmt.Errorf("the class %q has %d samples, too few for training and testing: add samples, or leave the class out", d.Classes[class], len(samples))
			}
		}
		first, second, err := Stratified(d.Train.Labels, 1-o.test, o.seed)
		if err != nil {
			return err
		}
		all := d.Train
		d.Train, d.Test = pick(&all, d.ImageSize(), first), pick(&all, d.ImageSize(), second)
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
func (o *vectorOptions) scale(d *Dataset) error {
	switch {
	case o.normalise == asTheyAre:
		return nil
	case d.Train.Values == nil:
		return fmt.Errorf("normalise=%s is for numbers; bytes are always divided by 255", o.normalise)
	case o.normalise == standard:
		standardise(d)
		d.Note = join(d.Note, "each value has mean 0 and variance 1 over the training samples")
		return nil
	}
	for _, s := range []*Split{&d.Train, &d.Test} {
		for i := range s.Len() {
			if !toUnitLength(d.numbers(s, i)) {
				return fmt.Errorf("a vector of zeros cannot get the length 1 (normalise=%s)", o.normalise)
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

// inform sets what [Inspect] says of a set that was read.
func (d *Dataset) inform(i *Info) {
	i.Classes, i.Train, i.SHA256 = len(d.Classes), d.Train.Len(), d.SHA256
	i.Height, i.Width, i.Channels, i.Vector = d.Height, d.Width, d.Channels, d.Vector
}
