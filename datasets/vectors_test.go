package datasets

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/npz"
)

// npzFile writes arrays and returns the name of the set that they are.
func npzFile(t *testing.T, a map[string]npz.Array) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.npz")
	must.Do(t, npz.Write(path, a))
	return "npz:" + path
}

// vectors returns n samples of two numbers, and labels 0 and 1 in turn.
func vectors(n int) (x, y npz.Array) {
	var values []float32
	var labels []int32
	for i := range n {
		values = append(values, float32(i), 10*float32(i%2)-5)
		labels = append(labels, int32(i%2))
	}
	return npz.Array{Shape: []int{n, 2}, Data: values}, npz.Array{Shape: []int{n}, Data: labels}
}

func TestNPZ(t *testing.T) {
	x, y := vectors(20)
	name := npzFile(t, map[string]npz.Array{"x": x, "y": y})
	d := mustOpen(t, name)
	switch {
	case d.Size() != "2":
		t.Fatalf("d.Size() is %q; want %q", d.Size(), "2")
	case d.Train.Len() != 16:
		t.Fatalf("d.Train.Len() is %d; want 16", d.Train.Len())
	case d.Test.Len() != 4:
		t.Fatalf("d.Test.Len() is %d; want 4", d.Test.Len())
	case !slices.Equal(d.Classes, []string{"0", "1"}):
		t.Fatalf("d.Classes is %q; want %q", d.Classes, []string{"0", "1"})
	case len(d.SHA256) != 64:
		t.Fatalf("len(d.SHA256) is %d; want 64", len(d.SHA256))
	}
	if v := d.numbers(&d.Train, 1); v[1] != 5 && v[1] != -5 {
		t.Errorf("a sample is %v", v)
	}
	if other := mustOpen(t, name+"?seed=3"); slices.Equal(other.Test.Values, d.Test.Values) {
		t.Error("another seed draws the same test samples")
	}
	i, err := Inspect(context.Background(), name, Options{})
	switch {
	case err != nil:
		t.Error(err)
	case i.SHA256 != d.SHA256:
		t.Errorf("i.SHA256 is %q; want %q", i.SHA256, d.SHA256)
	case i.Vector != 2:
		t.Errorf("i.Vector is %d; want 2", i.Vector)
	case i.Classes != 2:
		t.Errorf("i.Classes is %d; want 2", i.Classes)
	case i.Train != 16:
		t.Errorf("i.Train is %d; want 16", i.Train)
	}
	x4, y4 := vectors(4)
	d = mustOpen(t, npzFile(t, map[string]npz.Array{"train_features": x, "train_labels": y, "test_features": x4,
		"test_labels": y4}))
	switch {
	case d.Train.Len() != 20:
		t.Errorf("d.Train.Len() is %d; want 20", d.Train.Len())
	case d.Test.Len() != 4:
		t.Errorf("d.Test.Len() is %d; want 4", d.Test.Len())
	case d.Test.Values[2] != 1:
		t.Errorf("d.Test.Values[2] is %g; want 1", d.Test.Values[2])
	}
	pictures := npz.Array{Shape: []int{4, 2, 3, 1}, Data: make([]uint8, 24)}
	d = mustOpen(t,
		npzFile(t, map[string]npz.Array{"images": pictures, "labels": {Shape: []int{4, 1}, Data: []uint8{7, 7, 3, 3}}}))
	switch {
	case d.Size() != "2×3×1":
		t.Errorf("d.Size() is %q; want %q", d.Size(), "2×3×1")
	case d.Train.Values != nil:
		t.Errorf("d.Train.Values is %v; want nil", d.Train.Values)
	case !slices.Equal(d.Classes, []string{"3", "7"}):
		t.Errorf("d.Classes is %q; want %q", d.Classes, []string{"3", "7"})
	}
}

func TestNormalise(t *testing.T) {
	x, y := vectors(20)
	name := npzFile(t, map[string]npz.Array{"x": x, "y": y})
	d := mustOpen(t, name+"?normalise=standard")
	for k := range 2 {
		sum, squares := 0.0, 0.0
		for i := range d.Train.Len() {
			v := float64(d.numbers(&d.Train, i)[k])
			sum, squares = sum+v, squares+v*v
		}
		if n := float64(d.Train.Len()); math.Abs(sum/n) > 1e-6 || math.Abs(squares/n-1) > 1e-6 {
			t.Errorf("value %d has mean %g and mean square %g", k, sum/n, squares/n)
		}
	}
	d = mustOpen(t, name+"?normalise=length")
	if v := d.numbers(&d.Test, 0); math.Abs(float64(v[0]*v[0]+v[1]*v[1])-1) > 1e-6 {
		t.Errorf("a vector is %v", v)
	}
}

func TestBadArrays(t *testing.T) {
	x, y := vectors(8)
	floats := func(shape ...int) npz.Array {
		n := 1
		for _, d := range shape {
			n *= d
		}
		return npz.Array{Shape: shape, Data: make([]float32, n)}
	}
	labels := func(y ...int32) npz.Array { return npz.Array{Shape: []int{len(y)}, Data: y} }
	nan := npz.Array{Shape: []int{8, 2}, Data: append(make([]float32, 15), float32(math.NaN()))}
	for name, c := range map[string]struct {
		arrays map[string]npz.Array
		query  string
	}{
		"NaN":               {map[string]npz.Array{"x": nan, "y": y}, ""},
		"other names":       {map[string]npz.Array{"a": x, "b": y}, ""},
		"x alone":           {map[string]npz.Array{"a": x, "b": y}, "?x=a"},
		"no array c":        {map[string]npz.Array{"a": x, "b": y}, "?x=a&y=c"},
		"channels first":    {map[string]npz.Array{"x": floats(8, 3, 4, 4), "y": y}, ""},
		"one dimension":     {map[string]npz.Array{"x": floats(8), "y": y}, ""},
		"two channels":      {map[string]npz.Array{"x": floats(8, 4, 4, 2), "y": y}, ""},
		"images or vectors": {map[string]npz.Array{"x": floats(8, 4, 3), "y": y}, ""},
		"whole numbers as images": {map[string]npz.Array{
			"x": {Shape: []int{4, 1, 2}, Data: []int32{0, 255, 0, 1, 0, 1, 0, 1}}, "y": labels(0, 0, 1, 1)}, ""},
		"fewer samples":     {map[string]npz.Array{"x": floats(7, 2), "y": y}, ""},
		"labels are floats": {map[string]npz.Array{"x": x, "y": floats(8)}, ""},
		"one class":         {map[string]npz.Array{"x": x, "y": labels(make([]int32, 8)...)}, ""},
		"a class of one":    {map[string]npz.Array{"x": x, "y": labels(0, 0, 0, 0, 0, 0, 0, 1)}, ""},
		"a negative label":  {map[string]npz.Array{"x": x, "y": labels(0, 0, 0, 0, 0, 0, 0, -1)}, ""},
		"no test samples of one": {map[string]npz.Array{"x_train": x, "y_train": y, "x_test": x,
			"y_test": labels(make([]int32, 8)...)}, ""},
		"other test samples": {map[string]npz.Array{"x_train": x, "y_train": y, "x_test": floats(8, 3), "y_test": y}, ""},
		"split already":      {map[string]npz.Array{"x_train": x, "y_train": y, "x_test": x, "y_test": y}, "?test=0.3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Log(name)
			refused(t, npzFile(t, c.arrays)+c.query, "a.npz")
		})
	}
	mustOpen(t, npzFile(t, map[string]npz.Array{"x": {Shape: []int{4, 1, 2}, Data: []int32{0, 1, 0, 1, 0, 1, 0, 1}},
		"y": labels(0, 0, 1, 1)}))
}

// TestTwoSetsOfArrays: a file with two sets of samples is refused unless the name says which to
// take. Samples that are split are taken before undivided ones, and the note says so.
func TestTwoSetsOfArrays(t *testing.T) {
	x, y := vectors(10)
	undivided := func(names ...string) map[string]npz.Array {
		a := map[string]npz.Array{"labels": y}
		for _, n := range names {
			a[n] = x
		}
		return a
	}
	split := undivided("features", "train_features", "test_features")
	split["train_labels"], split["test_labels"] = y, y
	for name, c := range map[string]struct {
		arrays               map[string]npz.Array
		query, refused, note string
	}{
		"two of features": {undivided("features", "embeddings"), "",
			"those of features or of embeddings: name them with ?x=NAME&y=NAME", ""},
		"images and features": {undivided("images", "features"), "", "those of images or of features", ""},
		"two, one named":      {undivided("features", "embeddings"), "?x=embeddings&y=labels", "", ""},
		"two, one unknown":    {undivided("features", "codes"), "", "", ""},
		"split and undivided": {split, "", "", "features was left out, as the samples of train_features are split"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := Open(t.Context(), npzFile(t, c.arrays)+c.query, Options{})
			switch {
			case c.refused != "":
				expect.Refusal(t, "Open", err, c.refused)
			case err != nil:
				t.Error(err)
			case !strings.Contains(d.Note, c.note):
				t.Errorf("the note is %q; want %q in it", d.Note, c.note)
			}
		})
	}
}

func TestSafetensors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.safetensors")
	file := func(header string, data ...byte) {
		write(t, path, append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), data...))
	}
	const classes, y = `"__metadata__":{"classes":"[\"cat\",\"dog\"]"},`,
		`"y":{"dtype":"U8","shape":[4],"data_offsets":[16,20]}`
	values := bytes.Repeat([]byte{0x80, 0x3f, 0, 0xc0, 0, 0, 0x80, 0x3f}, 2) // bfloat16: 1, −2, 0, 1
	values = append(values, 0, 1, 0, 1)
	file(`{`+classes+`"x":{"dtype":"BF16","shape":[4,2],"data_offsets":[0,16]},`+y+`}`, values...)
	d := mustOpen(t, "safetensors:"+path+"?test=0.5")
	switch {
	case !slices.Equal(d.Classes, []string{"cat", "dog"}):
		t.Fatalf("d.Classes is %q; want %q", d.Classes, []string{"cat", "dog"})
	case d.Size() != "2":
		t.Fatalf("d.Size() is %q; want %q", d.Size(), "2")
	case d.Train.Len() != 2:
		t.Fatalf("d.Train.Len() is %d; want 2", d.Train.Len())
	}
	if v := d.numbers(&d.Train, 0); v[0] != 1 || v[1] != -2 {
		t.Errorf("the first sample is %v", v)
	}
	for _, typ := range []string{"BF16", "F32", "C64"} { // cut off, too few bytes, unknown
		file(`{"x":{"dtype":"`+typ+`","shape":[4,2],"data_offsets":[0,16]},`+y+`}`, values[:20-strings.Count(typ, "B")]...)
		refused(t, "safetensors:"+path, "f.safetensors")
	}
	write(t, path, []byte("short"))
	refused(t, "safetensors:"+path, "f.safetensors")
}

// flowers is a table with two classes.
func flowers() string {
	text := "\xef\xbb\xbfwidth, height, id, Class\n"
	for i := range 10 {
		text += fmt.Sprintf("%d,%.1f,f%d,%s\n", 2*i, 5*float64(i), i, []string{"rose", "tulip"}[i%2])
	}
	return text
}

func TestCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "flowers.csv")
	write(t, path, []byte(flowers()))
	d := mustOpen(t, "csv:"+path+"?ignore=id")
	switch {
	case !slices.Equal(d.Classes, []string{"rose", "tulip"}):
		t.Fatalf("d.Classes is %q; want %q", d.Classes, []string{"rose", "tulip"})
	case d.Size() != "2":
		t.Fatalf("d.Size() is %q; want %q", d.Size(), "2")
	case d.Train.Len() != 8:
		t.Fatalf("d.Train.Len() is %d; want 8", d.Train.Len())
	case d.Test.Len() != 2:
		t.Fatalf("d.Test.Len() is %d; want 2", d.Test.Len())
	}
	if v := d.numbers(&d.Train, 1); v[1] != 2.5*v[0] {
		t.Errorf("a sample is %v", v)
	}
	for _, c := range []struct{ text, query string }{
		{flowers(), ""}, {flowers(), "?label=colour"}, {flowers(), "?ignore=x"}, {"a,label\n1,x\nNaN,y\n", ""},
		{"a,label\n1,x\n,y\n", ""},
		{"a,label\n1,x,3\n", ""}, {"a,label\n1,\n", ""}, {"a,a,label\n.5,2,x\n.5,1,x\n.5,3,y\n.5,1,y\n", ""}, {"1,2,0\n", ""},
		{"0,0,1\n", ""}, {"a,label\n", ""}, {"", ""},
		{"a:label\n1:x\n", ""}, {"sep=:\na:label\n1:x\n2:x\n1:y\n2:y\n", ""}, {"5.1,3.5,setosa\n4.9,3,virginica\n", ""},
		{"b,c,a\n1,2,3,x\n", "?label=a"}, {"a;label\n1,5;x\n", ""},
		{"\x1f\x8b\x08", ""}, {"PK\x03\x04", ""}, {"a\x00,\x00", ""},
	} {
		write(t, path, []byte(c.text))
		refused(t, "csv:"+path+c.query, "flowers.csv")
	}
}

// TestLabelLeak: a second column that may have the classes is no input unless somebody says so.
func TestLabelLeak(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte("label,Y,a\n1,1,5\n2,1,5\n2,2,5\n1,2,5\n"))
	for query, size := range map[string]string{"": "", "?label=label&ignore=label": "", "?ignore=label,Y": "",
		"?label=label": "2", "?ignore=Y": "1", "?label=Y&ignore=label": "1"} {
		t.Run(query, func(t *testing.T) {
			if size == "" {
				refused(t, "csv:"+path+query, "a.csv")
			} else if d := mustOpen(t, "csv:"+path+query); d.Size() != size {
				t.Errorf("vectors of %s numbers, want %s", d.Size(), size)
			}
		})
	}
}

// TestTabs reads a table with tabs and an empty cell in a column that is ignored.
func TestTabs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsv")
	write(t, path, []byte("a\tnote\tb\ty\n1\t\t2\tno\n3\tx\t4\tyes\n5\t\t6\tno\n7\t\t8\tyes\n"))
	d := mustOpen(t, "csv:"+path+"?separator=tab&ignore=note&test=0.5")
	if n := len(d.Train.Values) + len(d.Test.Values); n != 8 || d.Vector != 2 {
		t.Errorf("%d values of samples with %d", n, d.Vector)
	}
}

// TestCSVText: tables as other programs write them give the same samples.
func TestCSVText(t *testing.T) {
	const plain = "a,b,label\n0.5,1,x\n2,3,y\n4,5,x\n6,7,y\n"
	utf16 := func(order binary.ByteOrder, text string) string {
		out := make([]byte, 2*len(text)+2)
		order.PutUint16(out, 0xfeff)
		for i := range len(text) {
			order.PutUint16(out[2*i+2:], uint16(text[i]))
		}
		return string(out)
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte(plain))
	want := mustOpen(t, "csv:"+path)
	for name, c := range map[string]struct{ text, note string }{
		"semicolons": {strings.ReplaceAll(plain, ",", ";"), `separated by ';'`},
		"tabs":       {strings.ReplaceAll(plain, ",", "\t"), "separated by"},
		"sep line":   {"sep=|\r\n" + strings.ReplaceAll(plain, ",", "|"), `separated by '|'`},
		"CR":         {strings.ReplaceAll(plain, "\n", "\r"), ""},
		"CRLF":       {strings.ReplaceAll(plain, "\n", "\r\n"), ""},
		"mark":       {"\ufeff" + plain, ""},
		"UTF-16 LE":  {utf16(binary.LittleEndian, plain), ""},
		"UTF-16 BE":  {utf16(binary.BigEndian, plain), ""},
		"trailing":   {strings.ReplaceAll(plain, "\n", ",,\n"), ""},
		"only below": {strings.Replace(strings.ReplaceAll(plain, "\n", ",\n"), "label,", "label", 1), ""},
		"quotes":     {`"a","b","label"` + plain[9:], ""},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, []byte(c.text))
			d := mustOpen(t, "csv:"+path)
			switch {
			case !slices.Equal(d.Train.Values, want.Train.Values):
				t.Errorf("d.Train.Values is %v; want %v", d.Train.Values, want.Train.Values)
			case !slices.Equal(d.Classes, want.Classes):
				t.Errorf("d.Classes is %q; want %q", d.Classes, want.Classes)
			case !strings.Contains(d.Note, c.note):
				t.Errorf("d.Note is %q; want %q in it", d.Note, c.note)
			}
		})
	}
}

// rdata returns a table of 12 rows as R and pandas write them: each column's function gives the
// cell of a row.
func rdata(header string, columns ...func(row int) any) string {
	text := header + "\n"
	for row := range 12 {
		for k, cell := range columns {
			text += strings.Repeat(",", min(k, 1)) + fmt.Sprint(cell(row))
		}
		text += "\n"
	}
	return text
}

// TestRowNumbers: a column that numbers the rows is no input, wherever it stands and whatever it is
// called.
func TestRowNumbers(t *testing.T) {
	number := func(row int) any { return row + 1 }
	mixed := func(row int) any { return 1e9 + row*5%12 }
	gaps := func(row int) any { return row + row/4 }
	size := func(row int) any { return float64(row%3) + 0.5 }
	year := func(row int) any { return 1990 + row/2 }
	class := func(row int) any { return []string{"a", "b"}[row/6] }
	for _, c := range []struct {
		name, text, query string
		inputs            int
	}{
		{"R", rdata(`"","size","y"`, number, size, class), "", 1},
		{"Rdatasets", rdata("rownames,size,year,label", number, size, year, class), "", 2},
		{"pandas", rdata(",size,label", gaps, size, class), "", 1},
		{"in the middle, shuffled", rdata("size,plot,label", size, mixed, class), "", 1},
		{"another name with gaps", rdata("size,height,label", size, gaps, class), "", 2},
		{"kept", rdata("rownames,size,label", number, size, class), "?keep=rownames", 2},
		{"ignored", rdata(",size,label", number, size, class), "?ignore=Unnamed: 0", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.csv")
			write(t, path, []byte(c.text))
			d := mustOpen(t, "csv:"+path+c.query)
			if said := strings.Contains(d.Note, "numbers the rows"); d.Vector != c.inputs ||
				said != (c.query == "" && c.name != "another name with gaps") {
				t.Errorf("%d inputs, %s", d.Vector, d.Note)
			}
			if v := d.numbers(&d.Train, 0); c.inputs == 1 && v[0] > 3 {
				t.Errorf("a sample is %v", v)
			}
		})
	}
}

// TestRowNumbersOfSplits: train.csv and test.csv are numbered each for itself, or were one table.
func TestRowNumbersOfSplits(t *testing.T) {
	for _, number := range []func(row, k int) any{
		func(row, _ int) any { return row * 5 % 12 }, func(row, k int) any {
			return row*5%12 + 12*k
		}, func(row, k int) any { return 2*row + k },
	} {
		dir := t.TempDir()
		for k, name := range []string{"train.csv", "test.csv"} {
			write(t, filepath.Join(dir, name), []byte(rdata("size,plot,label", func(row int) any {
				return row % 3
			}, func(row int) any { return number(row, k) }, func(row int) any { return row / 6 })))
		}
		if d := mustOpen(t, "csv:"+dir); d.Vector != 1 {
			t.Errorf("%d inputs, %s", d.Vector, d.Note)
		}
	}
}

func TestCSVFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "train.csv"), []byte("a;b;y\n1;2;no\n3;4;yes\n"))
	refused(t, "csv:"+dir, "test.csv")
	write(t, filepath.Join(dir, "test.csv"), []byte("a;b;y\n5;6;yes\n7;8;no\n"))
	d := mustOpen(t, "csv:"+dir+"?separator=%3B")
	if !slices.Equal(d.Test.Values, []float32{5, 6, 7, 8}) || !slices.Equal(d.Test.Labels, []int32{1, 0}) {
		t.Errorf("%v %v", d.Test.Values, d.Test.Labels)
	}
	write(t, filepath.Join(dir, "test.csv"), []byte("b;a;y\n5;6;yes\n7;8;no\n"))
	refused(t, "csv:"+dir+"?separator=%3B", "test.csv")
}

// TestFileNames: every file can be named, also with characters that stand for something else.
func TestFileNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its files have no question mark")
	}
	dir := t.TempDir()
	text := []byte("a,label\n.5,x\n.5,x\n.5,y\n.5,y\n")
	write(t, filepath.Join(dir, "is it?.csv"), text)
	write(t, filepath.Join(dir, "100%.csv"), text)
	write(t, filepath.Join(dir, "a%3F.csv"), text)
	for _, name := range []string{"is it?.csv", "is it?.csv?test=0.5", "is it%3F.csv", "is%20it%3F.csv?test=0.5",
		"100%.csv", "100%25.csv?test=0.5", "a%3F.csv", "a%3F.csv?seed=1"} {
		t.Run(name, func(t *testing.T) {
			mustOpen(t, "csv:"+filepath.Join(dir, name))
		})
	}
	if got := OwnPath("csv:" + filepath.Join(dir, "is it%3F.csv?test=0.5")); filepath.Base(got) != "is it?.csv" {
		t.Error(got)
	}
}

// TestTexts: names that are no texts are refused, in the list of classes and among the labels.
func TestTexts(t *testing.T) {
	labels := npz.Array{Shape: []int{2}, Data: []string{"a", "\xff"}}
	if new(rawSplit).takeLabels(labels) == nil || texts([]string{"a", ""}) == nil {
		t.Error("no error")
	}
}

// TestSplitStays: which rows are for testing is part of what the name of a set means.
func TestSplitStays(t *testing.T) {
	x, y := vectors(20)
	d := mustOpen(t, npzFile(t, map[string]npz.Array{"x": x, "y": y}))
	var rows []float32
	for i := range d.Test.Len() {
		rows = append(rows, d.numbers(&d.Test, i)[0])
	}
	if want := []float32{1, 3, 4, 12}; !slices.Equal(rows, want) {
		t.Errorf("the test rows are %v, want %v", rows, want)
	}
}
