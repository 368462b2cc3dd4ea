package datasets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/names"
)

// TestRegister registers, lists and opens from several goroutines, which the race detector watches.
func TestRegister(t *testing.T) {
	open := func(context.Context, Options) (*Dataset, error) {
		s := Split{Values: []float32{1, 2, 3, 4}, Labels: []int32{0, 1}}
		return &Dataset{Vector: 2, Classes: []string{"a", "b"}, Train: s, Test: s, SHA256: "abc"}, nil
	}
	t.Cleanup(func() { registry = names.Registry[*entry]{Kind: registry.Kind} })
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			name := fmt.Sprintf("registered-%d", i)
			Register(Spec{Info: Info{Name: name, Vector: 2}, Open: open, SHA256: func(context.Context, Options) (string, error) {
				return "abc", nil
			}})
			d, err := Open(context.Background(), name, Options{})
			switch {
			case err != nil:
				t.Error(err)
			case d.Name != name:
				t.Errorf("d.Name is %q; want %q", d.Name, name)
			case d.Title != name:
				t.Errorf("d.Title is %q; want %q", d.Title, name)
			case d.Size() != "2":
				t.Errorf("d.Size() is %q; want %q", d.Size(), "2")
			}
			switch info, err := Inspect(context.Background(), name, Options{}); {
			case err != nil:
				t.Error(err)
			case info.SHA256 != "abc":
				t.Errorf("info.SHA256 is %q; want %q", info.SHA256, "abc")
			case info.Image != "2":
				t.Errorf("info.Image is %q; want %q", info.Image, "2")
			}
			if !slices.ContainsFunc(List(), func(i Info) bool { return i.Name == name }) {
				t.Errorf("List lacks %s", name)
			}
		})
	}
	all.Wait()
	for name, spec := range map[string]Spec{
		"no name": {Open: open}, "no Open": {Info: Info{Name: "x"}}, "twice": {Info: Info{Name: "registered-1"}, Open: open},
		"in the catalogue": {Info: Info{Name: "glyphs"}, Open: open}, "colon": {Info: Info{Name: "a:b"}, Open: open},
	} {
		t.Run(name, func(t *testing.T) {
			func() {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				Register(spec)
			}()
		})
	}
	Register(Spec{Info: Info{Name: "other-classes", Classes: 40}, Open: open})
	if _, err := Open(context.Background(), "other-classes", Options{}); err == nil {
		t.Error("another number of classes: no error")
	}
	Register(Spec{Info: Info{Name: "no-sum"}, Open: func(ctx context.Context, o Options) (*Dataset, error) {
		d, err := open(ctx, o)
		d.SHA256 = ""
		return d, err
	}, SHA256: func(context.Context, Options) (string, error) { return "abc", nil }})
	switch d, err := Open(context.Background(), "no-sum", Options{}); {
	case err != nil:
		t.Errorf("a set whose Open leaves the checksum out: %v", err)
	case d.SHA256 != "abc":
		t.Errorf("a set whose Open leaves the checksum out: d.SHA256 is %q; want %q", d.SHA256, "abc")
	}
}

// TestRegisteredIsChecked: the set that Open returns is checked when a registered set is opened.
func TestRegisteredIsChecked(t *testing.T) {
	t.Cleanup(func() { registry = names.Registry[*entry]{Kind: registry.Kind} })
	nan := float32(math.NaN())
	for i, c := range []struct {
		name    string
		classes []string
		values  []float32
		want    string // in the error
	}{
		{"a value that is not finite", []string{"a", "b"}, []float32{1, nan, 3, 4}, "is NaN, which is not finite"},
		{"an infinite value", []string{"a", "b"}, []float32{1, 2, 3, float32(math.Inf(1))}, "is +Inf, which is not finite"},
		{"a class without a name", []string{"a", " "}, []float32{1, 2, 3, 4}, `class " " is empty or not UTF-8 text`},
		{"classes that look alike", []string{"cat", "Cat"}, []float32{1, 2, 3, 4}, `"cat" and "Cat" look alike`},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := fmt.Sprintf("checked-%d", i)
			s := Split{Values: c.values, Labels: []int32{0, 1}}
			Register(Spec{Info: Info{Name: name}, Open: func(context.Context, Options) (*Dataset, error) {
				return &Dataset{Vector: 2, Classes: c.classes, Train: s, Test: s}, nil
			}})
			_, err := Open(t.Context(), name, Options{})
			expect.Refusal(t, "Open", err, c.want)
		})
	}
}

// TestSheetOfNoNumbers: a contact sheet shows from the least to the largest value, so all must be
// finite.
func TestSheetOfNoNumbers(t *testing.T) {
	for name, x := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(-1)} {
		t.Run(name, func(t *testing.T) {
			s := Split{Values: []float32{1, float32(x)}, Labels: []int32{0}}
			_, err := ContactSheet(&Dataset{Name: "v", Vector: 2, Classes: []string{"a"}, Train: s, Test: s}, 1)
			expect.Refusal(t, "ContactSheet", err, "not a finite number")
		})
	}
}
