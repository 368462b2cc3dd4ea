package datasets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parallelcl/parallelcl/internal/alike"
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

func parseNPZ(path string, given map[string]any) (source, error) {
	return parseArrays(path, given, func(path string) (arrayFile, error) { return npz.Open(path, maxOwnBytes) })
}

func parseSafetensors(path string, given map[string]any) (source, error) {
	return parseArrays(path, given, openSafetensors)
}

func parseArrays(path string, given map[string]any, open func(string) (arrayFile, error)) (source, error) {
	p, err := withParameters[arrayParameters](given)
	if err == nil && (p.X == "") != (p.Y == "") {
		err = errors.New("the parameters x and y belong together")
	}
	return &sampleFiles{&arrays{path, open, p}, path, p.sampleParameters}, err
}

// usualNames are the names that samples and labels have in the files of common programs: for
// training and test samples, of which the latter may be missing, or for samples that are still to
// be split.
var usualNames = [][]string{
	{"x_train", "y_train", "x_test", "y_test"},
	{"X_train", "y_train", "X_test", "y_test"},
	{"train_images", "train_labels", "test_images", "test_labels"},
	{"train_features", "train_labels", "test_features", "test_labels"},
	{"x", "y"}, {"X", "y"}, {"images", "labels"}, {"features", "labels"}, {"embeddings", "labels"},
}

func (a *arrays) files() ([]string, error) { return []string{a.path}, nil }

func (a *arrays) read(context.Context, []string) (*rawSet, error) {
	f, err := a.open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := a.set(f)
	return r, at(a.path, err)
}

func (a *arrays) set(f arrayFile) (r *rawSet, err error) {
	r = new(rawSet)
	have := f.Names()
	for _, name := range []string{"class_names", "classes"} { // if a file has both, classes is taken
		if slices.Contains(have, name) {
			if r.classes, err = classNames(f, name); err != nil {
				return nil, err
			}
		}
	}
	names, note, err := a.names(have)
	if err != nil {
		return nil, err
	}
	r.note = note
	if r.train, err = readArrays(f, names[0], names[1]); err != nil {
		return nil, err
	}
	if len(names) == 4 {
		r.test, err = readArrays(f, names[2], names[3])
		return r, err
	}
	return r, nil
}

// names returns the names of the arrays with the samples and their labels, two for all or four for
// both splits, and says if test samples are left out.
func (a *arrays) names(have []string) (names []string, note string, err error) {
	if a.X != "" {
		for _, name := range []string{a.X, a.Y} {
			if hint := alike.Hint(name, have); hint != "" {
				return nil, "", fmt.Errorf("there is no array %s%s", name, hint)
			}
		}
		return []string{a.X, a.Y}, "", nil
	}
	missing := func(name string) bool { return !slices.Contains(have, name) }
	var found [][]string
	for _, names := range usualNames {
		if !slices.ContainsFunc(names, missing) {
			found = append(found, names)
		}
	}
	if len(found) > 0 {
		return oneOf(found)
	}
	// all pairs were tried above: what begins here has four names, of which the test samples or
	// their labels are missing
	for _, names := range usualNames {
		if slices.ContainsFunc(names[:2], missing) {
			continue
		}
		if !missing(names[2]) {
			note = fmt.Sprintf("%s was left out: it has no labels %s", names[2], names[3])
		}
		return names[:2], note, nil
	}
	return nil, "", fmt.Errorf("it has the arrays %s; want x_train, y_train, x_test and y_test, or x and y, or "+
		"?x=NAME&y=NAME", some(have))
}

// oneOf returns the names of the arrays to take from those that a file has. A file that has both
// splits and undivided samples is taken to be split.
func oneOf(found [][]string) (names []string, note string, err error) {
	names = found[0]
	for _, others := range found[1:] {
		if len(others) == len(names) {
			return nil, "", fmt.Errorf("the samples may be those of %s or of %s: name them with ?x=NAME&y=NAME",
				names[0], others[0])
		}
		note = join(note, fmt.Sprintf("%s was left out, as the samples of %s are split", others[0], names[0]))
	}
	return names, note, nil
}

func classNames(f arrayFile, name string) ([]string, error) {
	a, err := f.Read(name)
	if err != nil {
		return nil, err
	}
	names, ok := a.Data.([]string)
	if !ok {
		return nil, fmt.Errorf("array %s: want the names of the classes as texts; save %[1]s.astype(str)", name)
	}
	return names, at("array "+name, texts(names))
}

// texts returns an error if a name is empty or is not text.
func texts(names []string) error {
	for i, n := range names {
		if strings.TrimSpace(n) == "" {
			return fmt.Errorf("name %d, %q, is empty: leave out samples without a label", i, n)
		}
		if !utf8.ValidString(n) {
			return fmt.Errorf("name %d, %q, is not valid UTF-8: save the names as texts (numpy's dtype U)", i, n)
		}
	}
	return nil
}

func readArrays(f arrayFile, x, y string) (*rawSplit, error) {
	r := new(rawSplit)
	r.name = func(i int) string { return fmt.Sprintf("%s[%d]", x, i) }
	labels, err := f.Read(y)
	if err != nil {
		return nil, err
	}
	samples, err := f.Read(x)
	if err != nil {
		return nil, err
	}
	// before the labels, so that an empty file is reported as one without samples
	if err := r.take(samples); err != nil {
		return nil, at("array "+x, err)
	}
	if err := r.takeLabels(labels); err != nil {
		return nil, at("array "+y, err)
	}
	if samples.Shape[0] != len(r.labels) {
		return nil, fmt.Errorf("%s has %d samples and %s %d labels", x, samples.Shape[0], y, len(r.labels))
	}
	return r, nil
}

// takeLabels sets the labels, of the shape N or N×1.
func (r *rawSplit) takeLabels(a npz.Array) error {
	if column := len(a.Shape) == 1 || len(a.Shape) == 2 && a.Shape[1] == 1; !column {
		return fmt.Errorf("labels of the shape %v; want one for each sample, a class number or a name", a.Shape)
	}
	switch d := a.Data.(type) {
	case []string:
		r.labels = d
		return texts(d)
	case []uint8:
		for _, v := range d {
			r.labels = append(r.labels, strconv.Itoa(int(v)))
		}
	case []int64:
		for i, v := range d {
			if v < 0 {
				return fmt.Errorf("label %d is %d; want class numbers from 0: leave out samples without a label", i, v)
			}
			r.labels = append(r.labels, strconv.FormatInt(v, 10))
		}
	case []float32:
		return floatLabels(numbers{single: d})
	case []float64:
		return floatLabels(numbers{double: d})
	}
	return nil
}

// floatLabels returns the error for labels that are floats: a NaN among them is how pandas writes a
// missing label.
func floatLabels(labels numbers) error {
	for i := range labels.len() {
		if v := labels.at(i); v-v != 0 {
			return fmt.Errorf("label %d is %v, as programs write a missing one: leave out such samples, and save "+
				"y.astype(int)", i, v)
		}
	}
	return errors.New("the labels are floats; want whole numbers or names: save y.astype(int)")
}

// take sets the samples: bytes or numbers of the shape N×D, N×H×W or N×H×W×C.
func (r *rawSplit) take(a npz.Array) error {
	s := a.Shape
	switch {
	case len(s) > 1 && s[0] == 0:
		return errors.New("it has no samples: leave it out, or fill it")
	case len(s) < 2 || len(s) > 4 || slices.Min(s) < 1:
		return fmt.Errorf("samples of the shape %v; want N×D for vectors, or N×H×W or N×H×W×C for images", s)
	case len(s) == 2:
		r.vector = s[1]
	case len(s) == 3 && s[2] == 3 && s[1] > 3:
		return fmt.Errorf("the shape %v could be vectors of colours: give images four dimensions and vectors two", s)
	case len(s) == 3:
		r.height, r.width, r.channels = s[1], s[2], 1
	case s[3] != 1 && s[3] != 3:
		return fmt.Errorf("images of the shape %v; want 1 or 3 channels, and them last: save x.transpose(0, 2, 3, 1) "+
			"if they are first", s)
	default:
		r.height, r.width, r.channels = s[1], s[2], s[3]
	}
	switch d := a.Data.(type) {
	case []uint8:
		r.pixels = d
	case []float32:
		r.single = d
	case []float64:
		r.double = d
	case []int64:
		if len(s) > 2 && slices.ContainsFunc(d, func(v int64) bool { return v < 0 || v > 1 }) {
			return errors.New("images of whole numbers, whose scale is not known: save them as uint8, or divide by 255")
		}
		r.double = make([]float64, len(d))
		for i, v := range d {
			r.double[i] = float64(v)
		}
	default:
		return errors.New("samples that are texts; want numbers")
	}
	return nil
}
