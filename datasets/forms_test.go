package datasets

import (
	"encoding/binary"
	"fmt"
	"image/color"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/npz"
)

// spots writes images of different colours.
func spots(t *testing.T, dir string, names ...string) {
	t.Helper()
	for i, name := range names {
		paint(t, filepath.Join(dir, name), 8, 8, color.NRGBA{uint8(len(name)), uint8(7 * i), 100, 255})
	}
}

// TestSystemFolders: what systems keep in a folder is neither a class nor an image, at every depth,
// and a line says so.
func TestSystemFolders(t *testing.T) {
	for _, folder := range []string{
		"$RECYCLE.BIN/S-1-5-21", "$Recycle.Bin", "#recycle", "@Recycle", "@eaDir/1.png", "__MACOSX/cat", "lost+found",
		"System Volume Information",
		"cat/@eaDir/1.png", "dog/__MACOSX", "cat/#snapshot/daily", ".Trash-1000/files", "cat/.thumbnails", "RECYCLER",
	} {
		for _, around := range []string{"", "photos/", "train/"} {
			t.Run(around+folder, func(t *testing.T) {
				dir := t.TempDir()
				for i := range 6 {
					spots(t, dir, fmt.Sprintf("%scat/%d.png", around, i), fmt.Sprintf("%sdog/%d.png", around, i))
				}
				paint(t, filepath.Join(dir, around+folder, "thumb.png"), 4, 4, color.Black)
				write(t, filepath.Join(dir, around+"cat/Thumbs.db"), nil)
				d := mustOpen(t, "folder:"+dir)
				switch {
				case !slices.Equal(d.Classes, []string{"cat", "dog"}):
					t.Errorf("d.Classes is %q; want %q", d.Classes, []string{"cat", "dog"})
				case d.Train.Len()+d.Test.Len() != 12:
					t.Errorf("d.Train.Len()+d.Test.Len() is %d; want 12", d.Train.Len()+d.Test.Len())
				case d.Size() != "8×8×3":
					t.Errorf("d.Size() is %q; want %q", d.Size(), "8×8×3")
				case strings.Contains(d.Note, ".db"):
					t.Errorf("d.Note is %q; want no %q in it", d.Note, ".db")
				}
				if hidden := strings.Contains(folder, "."+"T") ||
					strings.Contains(folder, ".t"); !hidden && !strings.Contains(d.Note, "a system keeps it for itself") {
					t.Error(d.Note)
				}
			})
		}
	}
}

// TestTestWithoutClasses: a contest's test samples have no labels. They are left out, and a part of
// the others is held out.
func TestTestWithoutClasses(t *testing.T) {
	folder := func(tests ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			for i := range 5 {
				spots(t, dir, fmt.Sprintf("train/cat/%d.png", i), fmt.Sprintf("train/dog/%d.png", i))
				for _, test := range tests {
					spots(t, dir, fmt.Sprintf("%s/%d.png", test, 10+i))
				}
			}
			return "folder:" + dir
		}
	}
	table := func(test string) func(*testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "train.csv"), []byte(flowers()))
			write(t, filepath.Join(dir, "test.csv"), []byte(test))
			return "csv:" + dir + "?ignore=id"
		}
	}
	arrays := func(names ...string) func(*testing.T) string {
		return func(t *testing.T) string {
			x, y := vectors(10)
			return npzFile(t, map[string]npz.Array{names[0]: x, names[1]: y, names[2]: x})
		}
	}
	for name, c := range map[string]struct {
		make  func(*testing.T) string
		note  string
		train int
	}{
		"folder":             {folder("test"), "left out, since it has no folders of classes: test", 8},
		"numbered folder":    {folder("test1"), "no folders of classes: test1", 8},
		"validation":         {folder("val"), "no folders of classes: val", 8},
		"folder in a folder": {folder("test/test"), "no folders of classes: test", 8},
		"folder of unknown":  {folder("test/unknown"), "no folders of classes: test", 8},
		"with validation": {folder("test", "val/cat", "val/dog"),
			"test images from the folder val; left out, since it has no folders of classes: test", 10},
		"with an unlabelled": {folder("val", "test/cat", "test/dog"),
			"test images from the folder test; left out, since it has no folders of classes: val", 10},
		"table": {table("width,height,id\n1,2,a\n3,4,b\n"), "test.csv was left out: it has no column Class",
			8},
		"arrays":                {arrays("x_train", "y_train", "x_test"), "x_test was left out: it has no labels y_test", 8},
		"arrays of Keras":       {arrays("train_images", "train_labels", "test_images"), "test_images was left out", 8},
		"arrays, large letters": {arrays("X_train", "y_train", "X_test"), "X_test was left out", 8},
	} {
		t.Run(name, func(t *testing.T) {
			d := mustOpen(t, c.make(t))
			if d.Train.Len() != c.train || !strings.Contains(d.Note, c.note) {
				t.Errorf("%d training samples, %s", d.Train.Len(), d.Note)
			}
		})
	}
	refused(t, folder("test/cat")(t), "it has 1 folders") // one class is there, and another is not
	refused(t, table("width,other,id\n1,2,a\n")(t), "other columns")
}

// TestTwoForms: where a name is written in two forms of Unicode, the message shows both and says
// what to do.
func TestTwoForms(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("its file system has one form only")
	}
	const one, two = "caf\u00e9", "cafe\u0301"
	const want = "are one name in two forms of Unicode"
	dir := t.TempDir()
	spots(t, dir+"/images", "train/"+one+"/1.png", "train/eau/1.png", "test/"+two+"/2.png", "test/eau/2.png")
	table := "a," + two + ",label\n0.5,0,x\n1.5,0.3,y\n2.5,0.1,x\n3,0.2,y\n"
	write(t, filepath.Join(dir, two+".csv"), []byte(table))
	write(t, filepath.Join(dir, "tables", "train.csv"), []byte(table))
	write(t, filepath.Join(dir, "tables", "test.csv"), []byte(strings.ReplaceAll(table, two, one)))
	x, y := vectors(10)
	arrays := npzFile(t, map[string]npz.Array{two: x, "y": y, "z": y})
	for name, set := range map[string]string{
		"folders of splits": "folder:" + dir + "/images", "label=": "csv:" + dir + "/" + two + ".csv?label=" + one,
		"ignore=": "csv:" + dir + "/" + two + ".csv?ignore=" + one,
		"headers": "csv:" + dir + "/tables", "file": "csv:" + dir + "/" + one + ".csv",
		"array": arrays + "?x=" + one + "&y=y",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), set, Options{})
			expect.Refusal(t, "Open", err, want, `\u0301`)
		})
	}
}

// TestEncodings: text that is not UTF-8 is read if the name says what it is; otherwise the message
// says how to say so.
func TestEncodings(t *testing.T) {
	const text = "größe,label\n1.5,café\n2,thé\n3,café\n4.5,thé\n"
	latin1 := make([]byte, 0, len(text))
	utf16 := []byte{}
	for _, r := range text {
		latin1 = append(latin1, byte(r))
		utf16 = binary.LittleEndian.AppendUint16(utf16, uint16(r))
	}
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte(text))
	want := mustOpen(t, "csv:"+path)
	for name, c := range map[string]struct {
		data            []byte
		query, refusing string
	}{
		"Latin-1": {latin1, "", "encoding=windows-1252"}, "Latin-1, said": {latin1, "?encoding=iso-8859-1", ""},
		"Windows, said":         {latin1, "?encoding=windows-1252", ""},
		"UTF-16 without a mark": {utf16, "", "encoding=utf-16le"}, "UTF-16, said": {utf16, "?encoding=utf-16le", ""},
		"UTF-16 with a mark":            {append([]byte{0xff, 0xfe}, utf16...), "", ""},
		"a mark against what is said":   {append([]byte{0xff, 0xfe}, utf16...), "?encoding=latin1", ""},
		"Latin-1 in a class":            {[]byte(strings.Replace(string(latin1), "gr\xf6\xdfe", "a", 1)), "", "line 2"},
		"an encoding that is not known": {latin1, "?encoding=klingon", "windows-1252"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, c.data)
			d, err := Open(t.Context(), "csv:"+path+c.query, Options{})
			switch {
			case c.refusing != "":
				expect.Refusal(t, "the table", err, c.refusing)
			case err != nil || !slices.Equal(d.Classes, want.Classes) || !slices.Equal(d.Train.Values, want.Train.Values):
				t.Errorf("%v, %v", d, err)
			}
		})
	}
}

// TestTruths: a column of True and False, as pandas and R write them, has the numbers 1 and 0.
func TestTruths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	write(t, path, []byte("wet,big,a,label\nTrue,FALSE,0.5,x\nFalse,TRUE,0.7,y\nTrue,TRUE,0.2,x\nFalse,FALSE,0.1,y\n"))
	d := mustOpen(t, "csv:"+path+"?test=0.5")
	for i, l := range d.Train.Labels {
		if v := d.numbers(&d.Train, i); v[0] != float32(1-l) || v[1] != 0 && v[1] != 1 {
			t.Errorf("a sample of class %d is %v", l, v)
		}
	}
	for _, text := range []string{"wet,label\nTrue,x\n0.5,y\n", "wet,label\n1,x\nFalse,y\n", "wet,label\nyes,x\nno,y\n"} {
		t.Run(text, func(t *testing.T) {
			write(t, path, []byte(text))
			refused(t, "csv:"+path, `"wet"`)
		})
	}
}

// TestCauses: arrays that cannot be a set are refused by their cause.
func TestCauses(t *testing.T) {
	x, y := vectors(8)
	none := npz.Array{Shape: []int{0, 2}, Data: []float32{}}
	names := func(n int) string {
		set := rows()
		set.classes = []string{"cat", "dog", "fox"}[:n]
		return set.safetensors(t)
	}
	for want, name := range map[string]string{
		"array x_test: it has no samples": npzFile(t,
			map[string]npz.Array{"x_train": x, "y_train": y, "x_test": none, "y_test": {Shape: []int{0}, Data: []int32{}}}),
		"array x: it has no samples":      npzFile(t, map[string]npz.Array{"x": none, "y": y}),
		"the label 1 of x[1] has no name": names(1),
		`the class "fox" has 0 samples`:   names(3),
		`all samples have the label "0"`: npzFile(t,
			map[string]npz.Array{"x": x, "y": {Shape: []int{8}, Data: make([]int32, 8)}}),
		"save y.astype(int)": npzFile(t,
			map[string]npz.Array{"x": x, "y": {Shape: []int{8}, Data: make([]float64, 8)}}),
		"whose scale is not known": npzFile(t,
			map[string]npz.Array{"x": {Shape: []int{8, 1, 2}, Data: []int32{9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
				"y": y}),
		"there is none of this name; the arrays": npzFile(t, map[string]npz.Array{"x": x, "y": y}) + "?x=a&y=y",
		"normalise=standard is for numbers; bytes": npzFile(t,
			map[string]npz.Array{"x": {Shape: []int{8, 1}, Data: make([]uint8, 8)}, "y": y}) + "?normalise=standard",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := Open(t.Context(), name, Options{})
			expect.Refusal(t, "Open", err, want)
		})
	}
}
