package datasets

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/alike"
	"github.com/parallelcl/parallelcl/internal/plural"
)

// values has the values of the samples of a split, before they are normalised: bytes or numbers, as
// in a [Split].
type values struct {
	pixels []uint8
	numbers
	name func(i int) string // what messages call a sample
}

// A part is the training or the test samples of a set of a user's own.
type part struct {
	values
	labels []int32
}

// pick copies the samples at the given indices, each of which has size values.
func (p part) pick(size int, indices []int) part {
	return part{
		values{
			rowsOf(p.pixels, size, indices),
			numbers{rowsOf(p.single, size, indices), rowsOf(p.double, size, indices)},
			func(i int) string { return p.name(indices[i]) },
		},
		rowsOf(p.labels, 1, indices),
	}
}

// samples has the samples of a user's own set, whatever they were read from. Each may be doubtful
// in the same ways.
type samples struct {
	train, test part
	columns     []string // names of the values of a vector; nil if they have none
	normalise   string   // as in [sampleParameters]
	files       []string // those of the training and then of the test samples; nil if they have none
}

// column is what messages call value k of a sample.
func (s *samples) column(k int) string {
	if s.columns != nil {
		return fmt.Sprintf("the column %q", s.columns[k])
	}
	return fmt.Sprintf("value %d", k)
}

// settle asks what is doubtful about the samples, normalises them, and makes them those of d. The
// answers are in the note of d.
func (s *samples) settle(d *Dataset) error {
	if err := s.finite(d); err != nil {
		return err
	}
	spans := s.train.spans(d.ImageSize())
	notes := []string{s.labelsMissing(d), s.copies(d), s.ranges(d, spans), s.constants(d, spans)}
	train, test, err := s.scale(d)
	if err != nil {
		return err
	}
	for _, n := range append(notes, s.digitsLost(d, spans, train)) {
		d.Note = join(d.Note, n)
	}
	d.Train = Split{Pixels: s.train.pixels, Values: train, Labels: s.train.labels}
	d.Test = Split{Pixels: s.test.pixels, Values: test, Labels: s.test.labels}
	if s.files != nil {
		d.Train.files, d.Test.files = s.files[:d.Train.Len()], s.files[d.Train.Len():]
	}
	return nil
}

// checkClasses refuses names that cannot be those of classes.
func checkClasses(names []string) error {
	for _, c := range names {
		if strings.TrimSpace(c) == "" || !utf8.ValidString(c) {
			return fmt.Errorf("the name of the class %q is empty or not UTF-8 text: rename the class", c)
		}
	}
	return alike.Distinct(names)
}

// finite returns an error if a value is not a number.
func (s *samples) finite(d *Dataset) error {
	for _, p := range []part{s.train, s.test} {
		for i := range p.len() {
			if v := p.at(i); v-v != 0 {
				return s.wrong(p, i, d.ImageSize(), "which is not finite: mend or leave out the sample")
			}
		}
	}
	return nil
}

// wrong is the error that a value cannot be used. size is how many a sample has.
func (s *samples) wrong(p part, i, size int, why string) error {
	return fmt.Errorf("%s of %s is %g, %s", s.column(i%size), p.name(i/size), p.at(i), why)
}

// noLabel are names that programs write where a label is missing, and that no class should have.
var noLabel = regexp.MustCompile(`(?i)^(nan|none|null|nil|nat|#?n/?a|<na>|\?+|-+|_+|\.+|` +
	`missing|unknown|undefined|un-?label+ed|no[ _-]?label)$`)

// labelsMissing names classes that may stand for samples without a label, or for what a system
// keeps in a folder.
func (s *samples) labelsMissing(d *Dataset) string {
	train, test := perClass(d, s.train.labels), perClass(d, s.test.labels)
	var notes string
	for class, name := range d.Classes {
		n := train[class] + test[class]
		switch {
		case noLabel.MatchString(strings.TrimSpace(name)):
			notes = join(notes, fmt.Sprintf("the class %q (%s) may stand for missing labels: leave its samples out if "+
				"it does", name, plural.Of(n, "sample")))
		case len(name) > 1 && strings.ContainsRune("$#@~", rune(name[0])):
			notes = join(notes, fmt.Sprintf("the class %q (%s) is called like what systems keep: leave it out if it "+
				"is none", name, plural.Of(n, "sample")))
		}
	}
	return notes
}

func perClass(d *Dataset, labels []int32) []int {
	counts := make([]int, len(d.Classes))
	for _, l := range labels {
		counts[l]++
	}
	return counts
}

// thing is what a sample is.
func thing(d *Dataset) string {
	if d.Vector > 0 {
		return "row"
	}
	return "image"
}

// copies says how many test samples are training samples too, and how many samples have two labels.
func (s *samples) copies(d *Dataset) string {
	type sample struct {
		of *part
		i  int
	}
	first, seed := map[uint64]sample{}, maphash.MakeSeed()
	both, twice, such := 0, 0, ""
	for _, p := range []*part{&s.train, &s.test} {
		for i, label := range p.labels {
			key := p.hash(seed, i, d.ImageSize())
			other, seen := first[key]
			if !seen {
				first[key] = sample{p, i}
				continue
			}
			if other.of != p {
				both++
			}
			before := other.of.labels[other.i]
			if before == label {
				continue
			}
			if twice++; such == "" {
				such = fmt.Sprintf("%s (%s) and %s (%s)",
					other.of.name(other.i), d.Classes[before], p.name(i), d.Classes[label])
			}
		}
	}
	notes := ""
	if both > 0 {
		notes = fmt.Sprintf("%d test %ss are also training %ss, so that the accuracy is higher than on "+
			"new ones", both, thing(d), thing(d))
	}
	if twice > 0 {
		notes = join(notes, fmt.Sprintf("%ss with two labels: %d, such as %s", thing(d), twice, such))
	}
	return notes
}

// hash is the same for samples with the same values.
func (p *part) hash(seed maphash.Seed, i, size int) uint64 {
	if p.pixels != nil {
		return maphash.Bytes(seed, p.pixels[i*size:(i+1)*size])
	}
	var h maphash.Hash
	h.SetSeed(seed)
	for k := i * size; k < (i+1)*size; k++ {
		var bits [8]byte
		binary.LittleEndian.PutUint64(bits[:], math.Float64bits(p.at(k)+0)) // which makes -0 0
		h.Write(bits[:])
	}
	return h.Sum64()
}

const (
	black  = 8       // of 255: no image is all darker
	far    = 16      // beyond what images have whose mean is 0 and variance 1
	uneven = 100     // beyond what a network learns well from
	levels = 1 << 14 // with so many different values, a column has lost nothing that matters
)

// ranges says if values have another range than a network learns from.
func (s *samples) ranges(d *Dataset, spans []span) string {
	if s.train.pixels != nil {
		if most := slices.Max(s.train.pixels); d.Vector == 0 && most < black {
			return fmt.Sprintf("no sample is above %d of 255: the images are nearly black", most)
		}
		return ""
	}
	least, most := math.Inf(1), math.Inf(-1)
	for _, of := range spans {
		least, most = min(least, of.least), max(most, of.most)
	}
	switch {
	case s.normalise != asTheyAre:
	case d.Vector == 0 && (least >= 0 && most > 1.001 || max(-least, most) > far):
		return fmt.Sprintf("the values of the images go from %g to %g and are taken as they are; want 0 to 1: "+
			"divide them by the largest that they can have, such as 255, save bytes as uint8, or add "+
			"normalise=standard", least, most)
	case d.Vector > 0 && max(-least, most) > uneven:
		return fmt.Sprintf("the values go from %g to %g and are taken as they are: "+
			"normalise=standard gives each the mean 0 and the variance 1", least, most)
	}
	return ""
}

// constants names columns that are the same in all training samples.
func (s *samples) constants(d *Dataset, spans []span) string {
	if d.Vector == 0 || s.train.pixels != nil {
		return "" // borders of images often are
	}
	var same []string
	for k, of := range spans {
		if of.least == of.most {
			same = append(same, s.column(k))
		}
	}
	if same == nil {
		return ""
	}
	return fmt.Sprintf("the same in all training rows, so that nothing is learnt from it: %s", some(same))
}

// digitsLost names columns in which values that differ have become the same float32.
func (s *samples) digitsLost(d *Dataset, spans []span, train []float32) string {
	if d.Vector == 0 || s.train.double == nil {
		return ""
	}
	var lost []string
	for k, of := range spans {
		if size := max(-of.least, of.most); of.most/2-of.least/2 > size/256 && size > 1e-30 {
			continue // float32 keeps thousands of steps between them
		}
		before, after := map[float64]bool{}, map[float32]bool{}
		for i := k; i < len(train); i += d.Vector {
			before[s.train.double[i]], after[train[i]] = true, true
		}
		if len(after) < levels && 10*len(after) < 9*len(before) {
			lost = append(lost, fmt.Sprintf("%s (%d different values become %d)", s.column(k), len(before), len(after)))
		}
	}
	if lost == nil {
		return ""
	}
	return "float32 has too few digits for " + some(lost) + ": normalise=standard keeps them"
}
