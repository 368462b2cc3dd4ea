package datasets

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/names"
)

// doubtful is a set whose rows or images are to be written in some form.
type doubtful struct {
	shape   []int // of a sample
	samples [][]float64
	classes []string
	labels  []int
}

func (d *doubtful) add(class int, values ...float64) {
	d.samples, d.labels = append(d.samples, values), append(d.labels, class)
}

// rows are 40 vectors of two classes, in which nothing is doubtful.
func rows() *doubtful {
	d := &doubtful{shape: []int{2}, classes: []string{"cat", "dog"}}
	for i := range 40 {
		d.add(i%2, float64(i%2)+float64(i)/100, float64(i*7%40)/40)
	}
	return d
}

// pictures are 40 images of two classes with values in [0,1], in which nothing is doubtful.
func pictures() *doubtful {
	d := &doubtful{shape: []int{2, 3, 1}, classes: []string{"cat", "dog"}}
	for i := range 40 {
		d.add(i%2, float64(i%2), float64(i)/51, 0.2, 0, 1, 0.6)
	}
	return d
}

// flat are the values of all samples.
func (d *doubtful) flat() []float64 { return slices.Concat(d.samples...) }

// dims are those of the array of all samples.
func (d *doubtful) dims() []int { return append([]int{len(d.samples)}, d.shape...) }

// npy is a file of one array.
func npy(descr string, shape []int, data any) []byte {
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprint(n, ",")
	}
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, dims)
	out := append([]byte("\x93NUMPY\x01\x00"), byte(len(head)), byte(len(head)>>8))
	out, _ = binary.Append(append(out, head...), binary.LittleEndian, data)
	return out
}

// wide are texts of 32 bits for each of 16 characters.
func wide(texts []string) (out []int32) {
	for _, text := range texts {
		out = append(out, append([]rune(text), make([]int32, 16-len([]rune(text)))...)...)
	}
	return out
}

func (d *doubtful) npz(t *testing.T, descr string, values any) string {
	var labels []string
	for _, l := range d.labels {
		labels = append(labels, d.classes[l])
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	must.Get(must.Get(z.Create("x.npy"))(t).Write(npy(descr, d.dims(), values)))(t)
	must.Get(must.Get(z.Create("y.npy"))(t).Write(npy("<U16", []int{len(labels)}, wide(labels))))(t)
	must.Do(t, z.Close())
	path := filepath.Join(t.TempDir(), "a.npz")
	write(t, path, b.Bytes())
	return "npz:" + path
}

func (d *doubtful) bytes() (out []uint8) {
	for _, v := range d.flat() {
		out = append(out, uint8(math.Round(v*255)))
	}
	return out
}

func (d *doubtful) singles() (out []float32) {
	for _, v := range d.flat() {
		out = append(out, float32(v))
	}
	return out
}

func (d *doubtful) csv(t *testing.T) string {
	text := "a,b,label\n"
	for i, x := range d.samples {
		for _, v := range x {
			text += strconv.FormatFloat(v, 'g', -1, 64) + ","
		}
		text += d.classes[d.labels[i]] + "\n"
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte(text))
	return "csv:" + path
}

func (d *doubtful) safetensors(t *testing.T) string {
	classes := string(must.Get(json.Marshal(d.classes))(t))
	n := 8 * len(d.flat())
	header := string(must.Get(json.Marshal(map[string]any{"__metadata__": map[string]string{"classes": classes},
		"x": map[string]any{"dtype": "F64", "shape": d.dims(), "data_offsets": []int{0, n}},
		"y": map[string]any{"dtype": "U8", "shape": []int{len(d.labels)}, "data_offsets": []int{n, n + len(d.labels)}}}))(t))
	out := append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...)
	out = must.Get(binary.Append(out, binary.LittleEndian, d.flat()))(t)
	for _, l := range d.labels {
		out = append(out, byte(l))
	}
	path := filepath.Join(t.TempDir(), "a.safetensors")
	write(t, path, out)
	return "safetensors:" + path
}

// registered makes a set that a program or a notebook registers, of whose samples every fourth is
// for testing.
func (d *doubtful) registered(t *testing.T) string {
	name := "doubtful-" + strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '-'
	}, t.Name())
	set := &Dataset{Classes: d.classes}
	if len(d.shape) == 1 {
		set.Vector = d.shape[0]
	} else {
		set.Height, set.Width, set.Channels = d.shape[0], d.shape[1], d.shape[2]
	}
	size := set.ImageSize()
	for i, l := range d.labels {
		s := &set.Train
		if i/2%4 == 3 {
			s = &set.Test
		}
		s.Values = append(s.Values, d.singles()[i*size:(i+1)*size]...)
		s.Labels = append(s.Labels, int32(l))
	}
	t.Cleanup(func() { registry = names.Registry[*entry]{Kind: registry.Kind} })
	Register(Spec{Info: Info{Name: name}, Open: func(context.Context, Options) (*Dataset, error) { return set, nil }})
	return name
}

func (d *doubtful) folder(t *testing.T) string {
	dir := t.TempDir()
	for i := range d.samples {
		img := image.NewGray(image.Rect(0, 0, d.shape[1], d.shape[0]))
		copy(img.Pix, d.bytes()[i*len(img.Pix):])
		path := filepath.Join(dir, d.classes[d.labels[i]], fmt.Sprint(i, ".png"))
		write(t, path, encoded(t, path, img))
	}
	return "folder:" + dir
}

var (
	rowForms = map[string]func(*testing.T, *doubtful) string{
		"csv":         func(t *testing.T, d *doubtful) string { return d.csv(t) },
		"npz":         func(t *testing.T, d *doubtful) string { return d.npz(t, "<f8", d.flat()) },
		"npz float32": func(t *testing.T, d *doubtful) string { return d.npz(t, "<f4", d.singles()) },
		"safetensors": func(t *testing.T, d *doubtful) string { return d.safetensors(t) },
		"registered":  func(t *testing.T, d *doubtful) string { return d.registered(t) },
	}
	pictureForms = map[string]func(*testing.T, *doubtful) string{
		"folder":      func(t *testing.T, d *doubtful) string { return d.folder(t) },
		"npz bytes":   func(t *testing.T, d *doubtful) string { return d.npz(t, "|u1", d.bytes()) },
		"npz":         func(t *testing.T, d *doubtful) string { return d.npz(t, "<f8", d.flat()) },
		"safetensors": func(t *testing.T, d *doubtful) string { return d.safetensors(t) },
		"registered":  func(t *testing.T, d *doubtful) string { return d.registered(t) },
	}
)

// A doubt is what is asked of sets of every form, with words of its answer: a note, or an error.
type doubt struct {
	name    string
	make    func(d *doubtful)
	want    string
	refused bool
	forms   []string // where it can be; nil stands for all
}

// inAllForms opens a doubtful set in all forms.
func inAllForms(t *testing.T, forms map[string]func(*testing.T, *doubtful) string, good func() *doubtful,
	doubts []doubt) {
	for _, c := range doubts {
		for _, form := range slices.Sorted(maps.Keys(forms)) {
			if c.forms != nil && !slices.Contains(c.forms, form) {
				continue
			}
			t.Run(c.name+"/"+form, func(t *testing.T) {
				set := good()
				c.make(set)
				name := forms[form](t, set)
				d, err := Open(t.Context(), name, Options{})
				switch {
				case c.refused:
					expect.Refusal(t, "the set", err, c.want)
				case err != nil:
					t.Error(err)
				case c.want == "":
					for part := range strings.SplitSeq(d.Note, "; ") {
						if part != "" && !strings.Contains(part, "of each class are test") {
							t.Errorf("a set without a doubt: %s", part)
						}
					}
				case !strings.Contains(d.Note, c.want):
					t.Errorf("the note %q lacks %q", d.Note, c.want)
				}
				switch files, _ := Verify(t.Context(), name, Options{}); {
				case len(files) != 1:
					t.Errorf("len(files) is %d; want 1", len(files))
				case !strings.Contains(files[0].Detail, c.want):
					t.Errorf("files[0].Detail is %q; want %q in it", files[0].Detail, c.want)
				}
			})
		}
	}
}

// TestDoubtsAboutRows asks the same of vectors, whatever they are read from.
func TestDoubtsAboutRows(t *testing.T) {
	precise := []string{"csv", "npz", "safetensors"}
	each := func(change func(i int, x []float64)) func(d *doubtful) {
		return func(d *doubtful) {
			for i, x := range d.samples {
				change(i, x)
			}
		}
	}
	inAllForms(t, rowForms, rows, []doubt{
		{name: "none", make: func(*doubtful) {}},
		{name: "rows on both sides", want: "test rows are also training rows",
			make: each(func(i int, x []float64) { x[0], x[1] = float64(i%2), float64(i/2%3) })},
		{name: "zero with a sign", want: "test rows are also training rows",
			make: each(func(i int, x []float64) { x[0], x[1] = math.Copysign(0, float64(i/2%2)-.5), float64(i%4)/4 })},
		{name: "two labels", want: "rows with two labels: 1, such as",
			make: func(d *doubtful) { copy(d.samples[1], d.samples[0]) }},
		{name: "nan", want: `the class "nan" (20 samples) may stand for missing labels`, make: func(d *doubtful) {
			d.classes[1] = "nan"
		}},
		{name: "None", want: `the class "None"`, make: func(d *doubtful) { d.classes[0] = "None" }},
		{name: "question mark", want: `the class "?"`, make: func(d *doubtful) { d.classes[0] = "?" }},
		{name: "not available", want: `the class "N/A"`, make: func(d *doubtful) { d.classes[0] = "N/A" }},
		{name: "the same column", want: "the same in all training rows", make: each(func(_ int, x []float64) { x[1] = 0.1 })},
		{name: "a large range", want: "go from 0 to 65535 and are taken as they are",
			make: each(func(i int, x []float64) { x[1] = float64(i%2) * 65535; x[0] = float64(i) / 40 })},
		{name: "milliseconds", want: "float32 has too few digits", forms: precise,
			make: each(func(i int, x []float64) { x[0] = 1.7e12 + 40*float64(i) })},
		{name: "tiny masses", want: "float32 has too few digits", forms: precise,
			make: each(func(i int, x []float64) { x[0] = 1e-47 * float64(i+1) })},
		{name: "beyond float32", want: "above the largest float32", refused: true, forms: precise,
			make: each(func(i int, x []float64) { x[0] = 1e300 * float64(i) })},
		{name: "two forms of Unicode", want: `"cafe\u0301" and "caf\u00e9" look alike`, refused: true,
			make: func(d *doubtful) { d.classes = []string{"cafe\u0301", "caf\u00e9"} }},
	})
}

// TestDoubtsAboutPictures asks the same of images, whatever they are read from.
func TestDoubtsAboutPictures(t *testing.T) {
	numbers := []string{"npz", "safetensors", "registered"}
	scaled := func(scale, shift float64) func(d *doubtful) {
		return func(d *doubtful) {
			for _, x := range d.samples {
				for k := range x {
					x[k] = x[k]*scale + shift
				}
			}
		}
	}
	inAllForms(t, pictureForms, pictures, []doubt{
		{name: "none", make: func(*doubtful) {}},
		{name: "from -1 to 1", make: scaled(2, -1), forms: numbers},
		{name: "standardised before", make: scaled(5, -2), forms: numbers},
		{name: "images on both sides", want: "test images are also training images", make: func(d *doubtful) {
			for i, x := range d.samples {
				x[1] = float64(i/2%5) / 51
			}
		}},
		{name: "two labels", want: "images with two labels: 1, such as", make: func(d *doubtful) {
			copy(d.samples[1], d.samples[0])
		}},
		{name: "none of the classes", want: `the class "none" (20 samples) may stand for missing labels`,
			make: func(d *doubtful) {
				d.classes[1] = "none"
			}},
		{name: "like a system's", want: `the class "@thumbs" (20 samples) is called like what systems keep`,
			make: func(d *doubtful) {
				d.classes[1] = "@thumbs"
			}},
		{name: "0 to 255", want: "go from 0 to 255", make: scaled(255, 0), forms: numbers},
		{name: "0 to 65535", want: "go from 0 to 65535", make: scaled(65535, 0), forms: numbers},
		{name: "0 to 16", want: "go from 0 to 16", make: scaled(16, 0), forms: numbers},
		{name: "-128 to 127", want: "go from -128 to 127", make: scaled(255, -128), forms: numbers},
		{name: "nearly black", want: "nearly black", make: scaled(1./255, 0), forms: []string{"npz bytes", "folder"}},
	})
}

// TestDigits: values have all their digits until they are normalised, in every form of vectors.
func TestDigits(t *testing.T) {
	for name, at := range map[string]func(i int) float64{
		"milliseconds": func(i int) float64 { return 1.7e12 + float64(i) },
		"tiny":         func(i int) float64 { return 1e-47 * float64(1+i) },
		"tinier":       func(i int) float64 { return 5e-324 * float64(1+i) },
		"huge":         func(i int) float64 { return 1e306 * float64(1+i) },
		"microseconds": func(i int) float64 { return 1.7e15 + float64(i) },
		"negative":     func(i int) float64 { return -1e9 - float64(i)/1e3 },
	} {
		set := rows()
		for i, x := range set.samples {
			x[0] = at(i)
		}
		for _, form := range []string{"csv", "npz", "safetensors"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				of := rowForms[form](t, set)
				for _, how := range []string{standard, unitForm} {
					query := "?normalise=" + how
					if form == "csv" {
						query += "&keep=a" // though it numbers the rows
					}
					d := mustOpen(t, of+query)
					if how == unitForm {
						if v := d.numbers(&d.Train, 0); math.Abs(math.Hypot(float64(v[0]), float64(v[1]))-1) > 1e-6 {
							t.Errorf("a vector is %v", v)
						}
						continue
					}
					least, most := math.Inf(1), math.Inf(-1)
					different := map[float32]bool{}
					for i := range d.Train.Len() {
						v := d.numbers(&d.Train, i)[0]
						least, most, different[v] = min(least, float64(v)), max(most, float64(v)), true
					}
					switch {
					case len(different) != d.Train.Len():
						t.Errorf("len(different) is %d; want %d", len(different), d.Train.Len())
					case least > -1.5:
						t.Errorf("least is %g; want at most -1.5", least)
					case most < 1.5:
						t.Errorf("most is %g; want at least 1.5", most)
					case most > 2:
						t.Errorf("most is %g; want at most 2", most)
					}
				}
			})
		}
	}
}

// TestOneColour: images of different sizes are copies if the samples made of them are.
func TestOneColour(t *testing.T) {
	dir := t.TempDir()
	for i := range 8 {
		paint(t, filepath.Join(dir, fmt.Sprint(i%2), fmt.Sprint(i, ".png")), 4+i, 4+i, color.White)
	}
	if d := mustOpen(t, "folder:"+dir); !strings.Contains(d.Note, "images with two labels: ") {
		t.Error(d.Note)
	}
}
