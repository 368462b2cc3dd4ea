package datasets

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/fail"
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

func parseNPZ(path string, given map[string]any) source {
	return parseArrays(path, given, func(path string) (arrayFile, error) { return npz.Open(path, maxOwnBytes) })
}

func parseSafetensors(path string, given map[string]any) source {
	return parseArrays(path, given, openSafetensors)
}

func parseArrays(path string, given map[string]any, open func(string) (arrayFile, error)) source {
	p := withParameters[arrayParameters](given)
	return &sampleFiles{&arrays{path, open, p}, path, p.sampleParameters}
}

// usualNames are the names that samples and labels have in the files of common programs: for training and test samples, or for
// samples that are still to be split.
var usualNames = [][]string{
	{"x_train", "y_train", "x_test", "y_test"},
	{"X_train", "y_train", "X_test", "y_test"},
	{"train_images", "train_labels", "test_images", "test_labels"},
	{"train_features", "train_labels", "test_features", "test_labels"},
	{"x", "y"}, {"X", "y"}, {"images", "labels"}, {"features", "labels"}, {"embeddings", "labels"}, {"x_train", "y_train"},
}

func (a *arrays) files() []string { return []string{a.path} }

func (a *arrays) read(context.Context, []string) *rawSet {
	f := fail.Or(a.open(a.path))
	defer f.Close()
	defer fail.At(a.path)
	r, have := new(rawSet), f.Names()
	for _, name := range []string{"class_names", "classes"} { // of which the latter counts
		if slices.Contains(have, name) {
			r.classes = classNames(f, name)
		}
	}
	names := a.names(have)
	r.train = readArrays(f, names[0], names[1])
	if len(names) == 4 {
		r.test = readArrays(f, names[2], names[3])
	}
	return r
}

// names returns the names of the arrays with the samples and their labels, two for all or four for both splits.
func (a *arrays) names(have []string) []string {
	fail.When((a.X == "") != (a.Y == ""), "the parameters x and y belong together")
	if a.X != "" {
		return []string{a.X, a.Y}
	}
	for _, names := range usualNames {
		if !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(have, n) }) {
			return names
		}
	}
	fail.Now("it has the arrays %s; want x_train, y_train, x_test and y_test, or x and y, or ?x=NAME&y=NAME", strings.Join(have, ", "))
	return nil
}

func classNames(f arrayFile, name string) []string {
	names, ok := fail.Or(f.Read(name)).Data.([]string)
	defer fail.At("array " + name)
	fail.When(!ok, "want the names of the classes as texts; save %s.astype(str)", name)
	return texts(names)
}

// texts ends with an error if a name is empty or is not text.
func texts(names []string) []string {
	for i, n := range names {
		if n == "" || !utf8.ValidString(n) {
			fail.Now("name %d, %q, is empty or not valid UTF-8: save the names as texts (numpy's dtype U)", i, n)
		}
	}
	return names
}

func readArrays(f arrayFile, x, y string) *rawSplit {
	r := new(rawSplit)
	r.takeLabels(fail.Or(f.Read(y)), y)
	samples := fail.Or(f.Read(x))
	r.take(samples, x)
	fail.When(samples.Shape[0] != len(r.labels), "%s has %d samples and %s %d labels", x, samples.Shape[0], y, len(r.labels))
	return r
}

// takeLabels sets the labels, of the shape N or N×1.
func (r *rawSplit) takeLabels(a npz.Array, name string) {
	defer fail.At("array " + name)
	column := len(a.Shape) == 1 || len(a.Shape) == 2 && a.Shape[1] == 1
	fail.When(!column, "labels of the shape %v; want one for each sample, a class number or a name", a.Shape)
	switch d := a.Data.(type) {
	case []string:
		r.labels = texts(d)
	case []uint8:
		for _, v := range d {
			r.labels = append(r.labels, strconv.Itoa(int(v)))
		}
	case []int64:
		for i, v := range d {
			if v < 0 {
				fail.Now("label %d is %d; want class numbers from 0", i, v)
			}
			r.labels = append(r.labels, strconv.FormatInt(v, 10))
		}
	default:
		fail.Now("the labels are floats; want whole numbers or names")
	}
}

// take sets the samples: bytes or numbers of the shape N×D, N×H×W or N×H×W×C.
func (r *rawSplit) take(a npz.Array, name string) {
	defer fail.At("array " + name)
	s := a.Shape
	fail.When(len(s) < 2 || len(s) > 4 || slices.Min(s) < 1, "samples of the shape %v; want N×D for vectors, or N×H×W or N×H×W×C for images", s)
	switch len(s) {
	case 2:
		r.vector = s[1]
	case 3:
		fail.When(s[2] == 3 && s[1] > 3, "the shape %v could be vectors of colours: give images four dimensions and vectors two", s)
		r.height, r.width, r.channels = s[1], s[2], 1
	case 4:
		fail.When(s[3] != 1 && s[3] != 3, "images of the shape %v; want 1 or 3 channels, and them last: save x.transpose(0, 2, 3, 1) if they are first", s)
		r.height, r.width, r.channels = s[1], s[2], s[3]
	}
	switch d := a.Data.(type) {
	case []uint8:
		r.pixels = d
	case []float32:
		r.values = d
	case []float64:
		r.values = narrowed(d)
	case []int64:
		unknown := len(s) > 2 && slices.ContainsFunc(d, func(v int64) bool { return v < 0 || v > 1 })
		fail.When(unknown, "images of whole numbers, whose scale is not known: save them as uint8, or divide by 255")
		r.values = narrowed(d)
	default:
		fail.Now("samples that are texts; want numbers")
	}
	if bad := slices.IndexFunc(r.values, func(v float32) bool { return v-v != 0 }); bad >= 0 {
		per := len(r.values) / s[0]
		fail.Now("value %d of sample %d is %v, which is not finite: mend or leave out the sample", bad%per, bad/per, r.values[bad])
	}
}

func narrowed[T float64 | int64](x []T) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
