package datasets

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestRegister registers, lists and opens from several goroutines, which the race detector watches.
func TestRegister(t *testing.T) {
	open := func(context.Context, Options) (*Dataset, error) {
		s := Split{Values: []float32{1, 2, 3, 4}, Labels: []int32{0, 1}}
		return &Dataset{Vector: 2, Classes: []string{"a", "b"}, Train: s, Test: s, SHA256: "abc"}, nil
	}
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		clear(registry.sets)
	})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprintf("registered-%d", i)
			Register(Spec{Info: Info{Name: name, Vector: 2}, Open: open, SHA256: func(context.Context, Options) (string, error) { return "abc", nil }})
			d, err := Open(context.Background(), name, Options{})
			if err != nil || d.Name != name || d.Title != name || d.Size() != "2" {
				t.Errorf("%+v, %v", d, err)
			}
			if info, err := Inspect(context.Background(), name, Options{}); err != nil || info.SHA256 != "abc" || info.Image != "2" {
				t.Errorf("%+v, %v", info, err)
			}
			if !slices.ContainsFunc(List(), func(i Info) bool { return i.Name == name }) {
				t.Errorf("List lacks %s", name)
			}
		})
	}
	all.Wait()
	for want, spec := range map[string]Spec{
		"needs a name":     {Open: open},
		"opens the set":    {Info: Info{Name: "x"}},
		"registered twice": {Info: Info{Name: "registered-1"}, Open: open},
		`"glyphs" is`:      {Info: Info{Name: "glyphs"}, Open: open},
		"other characters": {Info: Info{Name: "a:b"}, Open: open},
	} {
		if got := panicOf(func() { Register(spec) }); !strings.Contains(got, want) {
			t.Errorf("Register panics with %q; want %q", got, want)
		}
	}
	Register(Spec{Info: Info{Name: "other-classes", Classes: 40}, Open: open})
	if _, err := Open(context.Background(), "other-classes", Options{}); err == nil || !strings.Contains(err.Error(), "40 classes") {
		t.Errorf("another number of classes: %v", err)
	}
	Register(Spec{Info: Info{Name: "no-sum"}, Open: func(ctx context.Context, o Options) (*Dataset, error) {
		d, err := open(ctx, o)
		d.SHA256 = ""
		return d, err
	}, SHA256: func(context.Context, Options) (string, error) { return "abc", nil }})
	if d, err := Open(context.Background(), "no-sum", Options{}); err != nil || d.SHA256 != "abc" {
		t.Errorf("a set whose Open leaves the checksum out: %+v, %v", d, err)
	}
	if _, err := Open(context.Background(), "unregistered", Options{}); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "registered-1") {
		t.Error(err)
	}
}

func panicOf(f func()) (said string) {
	defer func() { said = fmt.Sprint(recover()) }()
	f()
	return ""
}

// TestValues checks what Validate says of sets of numbers, and that a selection hands them on without a byte table.
func TestValues(t *testing.T) {
	valid := func() *Dataset {
		s := Split{Values: []float32{1, -2, 3, 4.5}, Labels: []int32{0, 1}}
		return &Dataset{Name: "v", Vector: 2, Classes: []string{"a", "b"}, Train: s, Test: s}
	}
	d := valid()
	if err := d.Validate(); err != nil {
		t.Fatal(err)
	}
	x := make([]float32, 2)
	s := d.Select(&d.Train, 0, 1)
	if class := s.Sample(0, x); class != 1 || x[0] != 3 || x[1] != 4.5 || s.Table() != nil {
		t.Errorf("class %d, %v, table %v", class, x, s.Table())
	}
	nan := float32(0)
	for want, change := range map[string]func(d *Dataset){
		"both bytes and numbers": func(d *Dataset) { d.Train.Pixels = []byte{1} },
		"one split has bytes":    func(d *Dataset) { d.Test = Split{Pixels: make([]byte, 4), Labels: d.Test.Labels} },
		"3 numbers for 2 labels": func(d *Dataset) { d.Train.Values = d.Train.Values[:3] },
		"want one of them":       func(d *Dataset) { d.Height = 1 },
		"value 1 of train sample 0 is NaN": func(d *Dataset) {
			d.Train.Values = []float32{0, nan / nan, 0, 0}
		},
	} {
		d := valid()
		if change(d); d.Validate() == nil || !strings.Contains(d.Validate().Error(), want) {
			t.Errorf("%v; want %q", d.Validate(), want)
		}
	}
}
