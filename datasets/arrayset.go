package datasets

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/npz"
)

// An arrayFile has named arrays.
type arrayFile interface {
	Names() []string
	Read(name string) (npz.Array, error)
	Close() error
}

// arrays is a file of arrays that has samples and their labels.
type arrays struct {
	path string
	open func(path string) (arrayFile, error)
	arrayParameters
}

type arrayParameters struct {
	X string `param:"x" default:"" doc:"array of the samples, if it does not have one of the usual names"`
	Y string `param:"y" default:"" doc:"array of the labels"`
	sampleParameters
}

func parseNPZ(path string, given map[string]any) (own, error) {
	return parseArrays(path, given, func(path string) (arrayFile, error) { return npz.Open(path, maxOwnBytes) })
}

func parseSafetensors(path string, given map[string]any) (own, error) {
	return parseArrays(path, given, openSafetensors)
}

func parseArrays(path string, given map[string]any, open func(string) (arrayFile, error)) (own, error) {
	p, err := withParameters[arrayParameters](given)
	return &sampleFiles{&arrays{path, open, p}, path, p.sampleParameters, p.asked(given)}, err
}

// splitNames and wholeNames are the names that samples and labels have in the files of common programs: first for training and
// test samples, then for samples that are still to be split.
var (
	splitNames = [][4]string{
		{"x_train", "y_train", "x_test", "y_test"},
		{"X_train", "y_train", "X_test", "y_test"},
		{"train_images", "train_labels", "test_images", "test_labels"},
		{"train_features", "train_labels", "test_features", "test_labels"},
	}
	wholeNames = [][2]string{{"x", "y"}, {"X", "y"}, {"images", "labels"}, {"features", "labels"}, {"embeddings", "labels"}}
)

func (a *arrays) files() ([]string, error) { return []string{a.path}, nil }

func (a *arrays) read(context.Context, []string) (*rawSet, error) {
	f, err := a.open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := new(rawSet)
	names, err := a.names(f.Names())
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"classes", "class_names"} {
		if slices.Contains(f.Names(), name) && r.classes == nil {
			if r.classes, err = classNames(f, name); err != nil {
				return nil, err
			}
		}
	}
	if r.train, err = readArrays(f, names[0], names[1]); err == nil && len(names) == 4 {
		r.test, err = readArrays(f, names[2], names[3])
	}
	return r, err
}

// names returns the names of the arrays with the samples and their labels, two for all or four for both splits.
func (a *arrays) names(have []string) ([]string, error) {
	if (a.X == "") != (a.Y == "") {
		return nil, fmt.Errorf("the parameters x and y belong together")
	}
	if a.X != "" {
		return []string{a.X, a.Y}, nil
	}
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(have, n) })
	}
	for _, n := range splitNames {
		if has(n[:]...) {
			return n[:], nil
		}
	}
	for _, n := range append(wholeNames, [2]string{"x_train", "y_train"}) {
		if has(n[:]...) {
			return n[:], nil
		}
	}
	return nil, fmt.Errorf("it has the arrays %s; want x_train, y_train, x_test and y_test, or x and y, or ?x=NAME&y=NAME", strings.Join(have, ", "))
}

func classNames(f arrayFile, name string) ([]string, error) {
	a, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	names, ok := a.Data.([]string)
	if !ok {
		return nil, fmt.Errorf("array %s: want the names of the classes as texts; save %s.astype(str)", name, name)
	}
	return names, texts(names)
}

// texts returns an error if a name is empty or is not text.
func texts(names []string) error {
	for i, n := range names {
		if n == "" || !utf8.ValidString(n) {
			return fmt.Errorf("name %d, %q, is empty or not valid UTF-8: save the names as texts (numpy's dtype U)", i, n)
		}
	}
	return nil
}

func readArrays(f arrayFile, x, y string) (*rawSplit, error) {
	labels, err := f.Read(y)
	if err != nil {
		return nil, err
	}
	r := new(rawSplit)
	if r.labels, err = labelTexts(labels); err != nil {
		return nil, fmt.Errorf("array %s: %w", y, err)
	}
	samples, err := f.Read(x)
	if err != nil {
		return nil, err
	}
	if err := r.take(samples); err != nil {
		return nil, fmt.Errorf("array %s: %w", x, err)
	}
	if samples.Shape[0] != len(r.labels) {
		return nil, fmt.Errorf("%s has %d samples and %s %d labels", x, samples.Shape[0], y, len(r.labels))
	}
	return r, nil
}

// labelTexts returns labels of the shape N or N×1 as texts.
func labelTexts(a npz.Array) ([]string, error) {
	if len(a.Shape) != 1 && !(len(a.Shape) == 2 && a.Shape[1] == 1) {
		return nil, fmt.Errorf("labels of the shape %v: want one for each sample, a class number or a name", a.Shape)
	}
	var out []string
	switch d := a.Data.(type) {
	case []string:
		return d, texts(d)
	case []uint8:
		for _, v := range d {
			out = append(out, strconv.Itoa(int(v)))
		}
	case []int64:
		for i, v := range d {
			if v < 0 {
				return nil, fmt.Errorf("label %d is %d: want class numbers from 0", i, v)
			}
			out = append(out, strconv.FormatInt(v, 10))
		}
	default:
		return nil, fmt.Errorf("the labels are floats: want whole numbers or names")
	}
	return out, nil
}

// take sets the samples: bytes or numbers of the shape N×D, N×H×W or N×H×W×C.
func (r *rawSplit) take(a npz.Array) error {
	switch s := a.Shape; {
	case len(s) < 2 || slices.Min(s) < 1:
		return fmt.Errorf("samples of the shape %v: want N×D for vectors, or N×H×W or N×H×W×C for images", s)
	case len(s) == 2:
		r.vector = s[1]
	case len(s) == 3:
		r.height, r.width, r.channels = s[1], s[2], 1
	case len(s) == 4 && (s[3] == 1 || s[3] == 3):
		r.height, r.width, r.channels = s[1], s[2], s[3]
	case len(s) == 4 && (s[1] == 1 || s[1] == 3):
		return fmt.Errorf("images of the shape %v have their channels first: save x.transpose(0, 2, 3, 1)", s)
	default:
		return fmt.Errorf("samples of the shape %v: images have 1 or 3 channels", s)
	}
	if len(a.Shape) == 3 && a.Shape[2] == 3 && a.Shape[1] > 3 {
		return fmt.Errorf("the shape %v could be vectors of colours: give images four dimensions and vectors two", a.Shape)
	}
	switch d := a.Data.(type) {
	case []uint8:
		r.pixels = d
	case []float32:
		r.values = d
	case []float64:
		r.values = narrowed(d)
	case []int64:
		if len(a.Shape) > 2 && slices.ContainsFunc(d, func(v int64) bool { return v < 0 || v > 1 }) {
			return fmt.Errorf("images of whole numbers, whose scale is not known: save them as uint8, or divide by 255")
		}
		r.values = narrowed(d)
	default:
		return fmt.Errorf("samples that are texts: want numbers")
	}
	per := len(r.values) / a.Shape[0]
	for i, v := range r.values {
		if v-v != 0 {
			return fmt.Errorf("value %d of sample %d is %v, which is not finite: mend or leave out the sample", i%per, i/per, v)
		}
	}
	return nil
}

func narrowed[T float64 | int64](x []T) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
