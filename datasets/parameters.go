package datasets

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// parameters are what stands behind the question mark of a name, such as size=32x32&channels=3. Each is taken once;
// the first that is wrong is kept as the error.
type parameters struct {
	values url.Values
	names  []string // that were asked for
	err    error
}

func newParameters(query string) *parameters {
	values, err := url.ParseQuery(query)
	if err != nil {
		err = fmt.Errorf("the parameters %q: %w", query, err)
	}
	return &parameters{values: values, err: err}
}

// check returns the first error, also if a parameter was not asked for.
func (p *parameters) check() error {
	if p.err != nil {
		return p.err
	}
	for name, values := range p.values {
		switch {
		case !slices.Contains(p.names, name):
			return fmt.Errorf("there is no parameter %q; the parameters are %s", name, strings.Join(p.names, ", "))
		case len(values) > 1:
			return fmt.Errorf("the parameter %s is given %d times", name, len(values))
		}
	}
	return nil
}

// take calls use with the value of a parameter, if there is one.
func (p *parameters) take(name string, use func(value string) error) {
	p.names = append(p.names, name)
	if !p.values.Has(name) || p.err != nil {
		return
	}
	value := p.values.Get(name)
	if err := use(value); err != nil {
		p.err = fmt.Errorf("%s=%s: %w", name, value, err)
	}
}

func (p *parameters) text(name string, to *string) {
	p.take(name, func(v string) error { *to = v; return nil })
}

// one takes one of several words; the first is the default.
func (p *parameters) one(name string, words ...string) string {
	chosen := words[0]
	p.take(name, func(v string) error {
		if chosen = v; !slices.Contains(words, v) {
			return errors.New("want " + strings.Join(words, " or "))
		}
		return nil
	})
	return chosen
}

func (p *parameters) seed(to *uint64) {
	p.take("seed", func(v string) (err error) {
		if *to, err = strconv.ParseUint(v, 10, 64); err != nil {
			return errors.New("want a whole number that is not negative")
		}
		return nil
	})
}

// fraction takes a share of the samples. given reports whether it was there.
func (p *parameters) fraction(name string, to *float64) (given bool) {
	p.take(name, func(v string) error {
		x, err := strconv.ParseFloat(v, 64)
		if err != nil || !(x > 0 && x < 1) {
			return errors.New("want a number between 0 and 1, such as 0.2")
		}
		*to, given = x, true
		return nil
	})
	return given
}
