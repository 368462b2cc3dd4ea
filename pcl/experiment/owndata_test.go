package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/datasets"
	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// table writes a CSV file with four classes and returns the name of the set.
func table(t *testing.T, path string, first float64) string {
	t.Helper()
	text := "a,b,label\n"
	for i := range 80 {
		text += fmt.Sprintf("%g,%d,c%d\n", first+float64(i%4), i%4*i%7, i%4)
	}
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	return "csv:" + path
}

// TestChangedFiles: a run notices that the files of its set are others than when it was saved or
// finished.
func TestChangedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my table.csv")
	name := table(t, path, 0)
	b, out := pcltest.Backend(t, backend.Go), t.TempDir()
	open := func() (Config, work) {
		t.Helper()
		c := must.Get(DefaultConfig(name).OnData(t.Context(), datasets.Options{}))(t)
		d := must.Get(datasets.Open(t.Context(), name, datasets.Options{}))(t)
		return c, work{Store: Store{Dir: out}, Schedule: Schedule{Machine: on(t, b, d)}}
	}
	c, w := open()
	switch {
	case c.Tasks != 2:
		t.Errorf("c.Tasks is %d; want 2", c.Tasks)
	case c.MinClasses != 2:
		t.Errorf("c.MinClasses is %d; want 2", c.MinClasses)
	case c.MaxClasses != 2:
		t.Errorf("c.MaxClasses is %d; want 2", c.MaxClasses)
	case c.Model != "":
		t.Errorf("c.Model is %q; want %q", c.Model, "")
	case c.Batch != 8:
		t.Errorf("c.Batch is %d; want 8", c.Batch)
	case len(c.DataSHA256) != 64:
		t.Errorf("len(c.DataSHA256) is %d; want 64", len(c.DataSHA256))
	}
	if !strings.HasPrefix(c.Folder(), "csv-my-table-csv-class-emgd-s1234-") {
		t.Errorf("the folder is %s", c.Folder())
	}
	ctx, stop := context.WithCancel(t.Context())
	w.OnProgress = func(_ int, p Progress) {
		if p.Step == 2 {
			stop()
		}
	}
	if _, err := made(ctx, c, w); !errors.Is(err, ErrInterrupted) {
		t.Fatal(expect.Text(err))
	}
	table(t, path, 10)
	changed, w := open()
	switch {
	case changed.DataSHA256 == c.DataSHA256:
		t.Errorf("changed.DataSHA256 is %q", c.DataSHA256)
	case changed.Folder() != c.Folder():
		t.Errorf("changed.Folder() is %q; want %q", changed.Folder(), c.Folder())
	case changed.ID() == c.ID():
		t.Errorf("changed.ID() is %q", c.ID())
	}
	if _, err := made(t.Context(), changed, w); !errors.Is(err, ErrForeign) ||
		!strings.Contains(err.Error(), "files of the data set have changed") {
		t.Errorf("resumed on other files: %v", expect.Text(err))
	}
	if _, err := made(t.Context(), c, w); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.DataSHA256[:12]) {
		t.Errorf("resumed on other files: %v", expect.Text(err))
	}
	table(t, path, 0)
	c, w = open()
	r, err := made(t.Context(), c, w)
	switch {
	case err != nil:
		t.Fatal(err)
	case r.A < 50:
		t.Fatalf("r.A is %g; want at least 50", r.A)
	case strings.Join(r.Tasks[0].Names, "") == "":
		t.Fatalf("%+v, %v", r, err)
	case r.Measured.Resumed != 1:
		t.Fatalf("r.Measured.Resumed is %d; want 1", r.Measured.Resumed)
	}
	_, err = w.Finished(Checked{config: changed})
	expect.Refusal(t, "a result on other files", err, ErrForeign, "data_sha256")
	if _, err := c.OnData(t.Context(), datasets.Options{}); err != nil {
		t.Error(err)
	}
}

// TestDefaultsThatAreNamed: naming the default model or precision does not make another run.
func TestDefaultsThatAreNamed(t *testing.T) {
	plain := DefaultConfig("glyphs")
	named, err := parse("model = \"mlp\"\nprecision = \"float32\"\n")
	switch {
	case err != nil:
		t.Error(err)
	case named.ID() != plain.ID():
		t.Errorf("named.ID() is %q; want %q", named.ID(), plain.ID())
	case named.Folder() != plain.Folder():
		t.Errorf("named.Folder() is %q; want %q", named.Folder(), plain.Folder())
	}
	other := plain
	if other.Precision = "bfloat16"; other.ID() == plain.ID() {
		t.Error("bfloat16 does not make another run")
	}
}

// cutMNIST writes a data folder in which the test file of MNIST has only n images.
func cutMNIST(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	images := append([]byte{0, 0, 8, 3, 0, 0, byte(n >> 8), byte(n), 0, 0, 0, 28, 0, 0, 0, 28}, make([]byte, n*28*28)...)
	labels := []byte{0, 0, 8, 1, 0, 0, byte(n >> 8), byte(n)}
	for i := range n {
		images[16+i*28*28+i%10] = 255
		labels = append(labels, byte(i%10))
	}
	for name, data := range map[string][]byte{"t10k-images-idx3-ubyte": images, "t10k-labels-idx1-ubyte": labels} {
		path := filepath.Join(dir, "mnist", name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666)))
	}
	return dir
}

// TestPartsOfASet: runs on parts of the official files are told apart from each other and from runs
// on all of them.
func TestPartsOfASet(t *testing.T) {
	plain := DefaultConfig("mnist-test80")
	plain.Batch = 8
	w := work{Store: Store{Dir: t.TempDir()}}
	of := func(n int) Config {
		t.Helper()
		data := datasets.Options{Dir: cutMNIST(t, n)}
		c := must.Get(plain.OnData(t.Context(), data))(t)
		d := must.Get(datasets.Open(t.Context(), "mnist-test80", data))(t)
		w.Machine = on(t, pcltest.Backend(t, backend.Go), d)
		return c
	}
	large, whole := of(200), of(10000)
	small := of(100)
	switch {
	case whole.ID() != plain.ID():
		t.Errorf("whole.ID() is %q; want %q", whole.ID(), plain.ID())
	case small.ID() == plain.ID():
		t.Errorf("small.ID() is %q", plain.ID())
	case large.ID() == small.ID():
		t.Errorf("large.ID() is %q", small.ID())
	case small.Folder() != plain.Folder():
		t.Errorf("small.Folder() is %q; want %q", small.Folder(), plain.Folder())
	}
	r, err := made(t.Context(), plain, w) // even if it was not told of the data before
	switch {
	case err != nil:
		t.Fatal(err)
	case r.ID != small.ID():
		t.Fatalf("r.ID is %q; want %q", r.ID, small.ID())
	case !strings.Contains(string(r.Config), small.DataSHA256):
		t.Fatalf("string(r.Config) is %q; want %q in it", string(r.Config), small.DataSHA256)
	}
	for _, c := range []Config{large, whole} {
		_, err = w.Finished(Checked{config: c})
		expect.Refusal(t, fmt.Sprintf("the result on 100 images stands for %s", c.ID()), err, ErrForeign, "data_sha256")
	}
}

// TestVectorsRefused: settings for images are refused for vectors.
func TestVectorsRefused(t *testing.T) {
	name := table(t, filepath.Join(t.TempDir(), "t.csv"), 0)
	d := must.Get(datasets.Open(t.Context(), name, datasets.Options{}))(t)
	images, edited := DefaultConfig(name), DefaultConfig(name)
	images.Model, images.Hidden, edited.Edit.Eta = "resnet18", nil, 0.01
	for _, c := range []Config{images, edited} {
		if _, err := made(t.Context(), c,
			work{Schedule: Schedule{Machine: on(t, pcltest.Backend(t, backend.Go), d)}}); err == nil {
			t.Errorf("%s, edit %+v: no error", c.Model, c.Edit)
		}
	}
}

// TestIDsStay: folders of runs and cells of grids are named by these hashes, so what is added to a
// configuration must not change those that do not use it.
func TestIDsStay(t *testing.T) {
	for name, want := range map[string]string{"emnist-byclass": "2632594c09be", "cifar-10": "d986eaa35db8",
		"glyphs": "df636d2aa66c"} {
		t.Run(name, func(t *testing.T) {
			if got := DefaultConfig(name).ID(); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// TestLinear: a linear classifier has no parameters below its outputs, so in task-incremental mode
// none are shared.
func TestLinear(t *testing.T) {
	name := table(t, filepath.Join(t.TempDir(), "t.csv"), 0)
	d := must.Get(datasets.Open(t.Context(), name, datasets.Options{}))(t)
	for increment, least := range map[string]float64{"task": 95, "class": 75} {
		t.Run(increment, func(t *testing.T) {
			c := DefaultConfig(name)
			c.Method, c.Increment, c.Model, c.Hidden, c.Epochs, c.Optimizer.LR = "er", increment, "linear", nil, 20, 0.1
			r, err := made(t.Context(), c, work{Schedule: Schedule{Machine: on(t, pcltest.Backend(t, backend.Go), d)}})
			switch {
			case err != nil:
				t.Errorf("%s-incremental: %v", increment, err)
			case r.A < least:
				t.Errorf("%s-incremental: r.A is %g; want at least %g", increment, r.A, least)
			}
		})
	}
}

// TestSessionOnOwnFiles uses a session as a notebook does. A second session takes the finished run
// from its folder, until the files change.
func TestSessionOnOwnFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.csv")
	name := table(t, path, 0)
	o := Options{Dir: t.TempDir(), Backend: backend.Go}
	run := func() ([]*results.Run, error) {
		s := New(name, o)
		defer s.Close()
		return s.Run(t.Context(), Vary(DefaultConfig(name), []string{"er"}, nil), nil)
	}
	first := must.Get(run())(t)
	again, err := run()
	if err != nil || !again[0].Measured.Started.Equal(first[0].Measured.Started) {
		t.Errorf("the finished run was made again: %v", expect.Text(err))
	}
	table(t, path, 3)
	_, err = run()
	expect.Refusal(t, "on other files", err, ErrForeign)
}

// TestTasksAlone: a number of tasks alone changes the classes that each has, where it must and each
// keeps two.
func TestTasksAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "twelve.csv")
	text := "a,label\n"
	for i := range 24 {
		text += fmt.Sprintf("%d,c%d\n", i%5, i%12)
	}
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
	for _, c := range []struct {
		values     map[string]any
		fewest, to int
	}{
		{map[string]any{}, 2, 3},
		{map[string]any{"tasks": 6}, 2, 3}, // which the default allows
		{map[string]any{"tasks": 3}, 4, 4},
		{map[string]any{"tasks": 7}, 2, 3}, // refused later: some would have one class
		{map[string]any{"tasks": 3, "max_classes": 5}, 2, 5},
	} {
		c.values["dataset"] = "csv:" + path
		switch got, err := NewConfig(Layer{Values: c.values}); {
		case err != nil:
			t.Errorf("%v: %v", c.values, err)
		case got.MinClasses != c.fewest:
			t.Errorf("%v: got.MinClasses is %d; want %d", c.values, got.MinClasses, c.fewest)
		case got.MaxClasses != c.to:
			t.Errorf("%v: got.MaxClasses is %d; want %d", c.values, got.MaxClasses, c.to)
		}
	}
}

// TestDoubtsAreTold: a session says once what is doubtful about a set of the user's own, on one
// line.
func TestDoubtsAreTold(t *testing.T) {
	said := must.Get(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	defer said.Close()
	defer func(before *os.File) { os.Stderr = before }(os.Stderr)
	os.Stderr = said
	for _, name := range []string{table(t, filepath.Join(t.TempDir(), "copies.csv"), 0), "glyphs"} {
		s := New(name, Options{Dir: t.TempDir(), Backend: backend.Go})
		for range 2 {
			must.Get(s.Dataset(t.Context()))(t)
		}
		must.Do(t, s.Close())
	}
	text := string(must.Get(os.ReadFile(said.Name()))(t))
	switch {
	case !strings.HasPrefix(text, "copies.csv: "):
		t.Errorf("text is %q; want %q at its beginning", text, "copies.csv: ")
	case !strings.Contains(text, "test rows are also training rows"):
		t.Errorf("text is %q; want %q in it", text, "test rows are also training rows")
	case strings.Count(text, "\n") != 1:
		t.Errorf("on standard error: %q", text)
	}
}
