package datasets

import (
	"fmt"
	"math"
	"slices"
)

// numbers are the values of samples with the digits that they have in a file, until they are
// normalised.
type numbers struct {
	single []float32
	double []float64 // if single is nil
}

func (x numbers) len() int { return len(x.single) + len(x.double) }

func (x numbers) at(i int) float64 {
	if x.single != nil {
		return float64(x.single[i])
	}
	return x.double[i]
}

// A span is between the least and the largest number of a column.
type span struct{ least, most float64 }

// spans returns the spans of the columns of a table.
func (x numbers) spans(width int) []span {
	all := slices.Repeat([]span{{math.Inf(1), math.Inf(-1)}}, width)
	for i := range x.len() {
		of := &all[i%width]
		of.least, of.most = min(of.least, x.at(i)), max(of.most, x.at(i))
	}
	return all
}

// How the values of vectors are normalised.
const (
	asTheyAre = "none"
	standard  = "standard" // mean 0 and variance 1 over the training samples
	unitForm  = "length"   // each vector has the length 1
)

// scale returns the values of the splits as they are learnt.
func (s *samples) scale(d *Dataset) (train, test []float32, err error) {
	if s.train.pixels != nil {
		if s.normalise != asTheyAre {
			err = fmt.Errorf("normalise=%s is for numbers; bytes are always divided by 255", s.normalise)
		}
		return nil, nil, err
	}
	width := d.ImageSize()
	convert := func(p part) ([]float32, error) {
		if p.single != nil {
			return p.single, nil
		}
		return s.converted(p, width, p.at, "above the largest float32: normalise=standard brings values to mean 0 and "+
			"variance 1")
	}
	switch s.normalise {
	case standard:
		d.Note = join(d.Note, "each value has mean 0 and variance 1 over the training samples")
		columns := make([]standardiser, width)
		for k := range columns {
			columns[k] = s.train.standardiser(k, width)
		}
		convert = func(p part) ([]float32, error) {
			of := func(i int) float64 { return columns[i%width].of(p.at(i)) }
			return s.converted(p, width, of, "too far from the training samples")
		}
	case unitForm:
		d.Note = join(d.Note, "each vector has the length 1")
		convert = func(p part) ([]float32, error) { return ofLength1(p, width) }
	}
	if train, err = convert(s.train); err == nil {
		test, err = convert(s.test)
	}
	return train, test, err
}

// converted returns what of makes of each value. tooLarge is said of one that leaves float32.
func (s *samples) converted(p part, width int, of func(i int) float64, tooLarge string) ([]float32, error) {
	out := p.room()
	for i := range out {
		if out[i] = float32(of(i)); out[i]-out[i] != 0 {
			return nil, s.wrong(p, i, width, tooLarge)
		}
	}
	return out, nil
}

// A standardiser is what standardised values of a column are computed with: its numbers are scaled
// by a power of two so that no square of them leaves float64, and then counted from one of them, so
// that no digit is lost where they are alike.
type standardiser struct{ scale, pivot, mean, deviation float64 }

func (x standardiser) of(v float64) float64 { return (v*x.scale - x.pivot - x.mean) / x.deviation }

// standardiser is what subtracts from the values of column k their mean and divides by their
// standard deviation, unless all are the same.
func (x numbers) standardiser(k, width int) standardiser {
	most, n := 0.0, float64(x.len()/width)
	for i := k; i < x.len(); i += width {
		most = max(most, math.Abs(x.at(i)))
	}
	_, exponent := math.Frexp(most)
	c := standardiser{scale: math.Ldexp(1, -min(max(exponent, -1000), 1000)), deviation: 1}
	c.pivot = x.at(k) * c.scale
	sum, squares := 0.0, 0.0
	for i := k; i < x.len(); i += width {
		sum += c.of(x.at(i))
	}
	c.mean = sum / n
	for i := k; i < x.len(); i += width {
		v := c.of(x.at(i))
		squares += v * v
	}
	if squares > 0 {
		c.deviation = math.Sqrt(squares / n)
	}
	return c
}

// ofLength1 gives each vector the length 1.
func ofLength1(p part, width int) ([]float32, error) {
	out := p.room()
	for from := 0; from < len(out); from += width {
		most, squares := 0.0, 0.0
		for i := from; i < from+width; i++ {
			most = max(most, math.Abs(p.at(i)))
		}
		if most == 0 {
			return nil, fmt.Errorf("%s has zeros only, and cannot get the length 1 (normalise=%s)", p.name(from/width), unitForm)
		}
		for i := from; i < from+width; i++ {
			squares += (p.at(i) / most) * (p.at(i) / most)
		}
		for i := from; i < from+width; i++ {
			out[i] = float32(p.at(i) / most / math.Sqrt(squares))
		}
	}
	return out, nil
}

// room returns memory for normalised values: their own, if these have float32.
func (x numbers) room() []float32 {
	if x.single != nil {
		return x.single
	}
	return make([]float32, len(x.double))
}
