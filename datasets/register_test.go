package datasets

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

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
	for name, spec := range map[string]Spec{
		"no name": {Open: open}, "no Open": {Info: Info{Name: "x"}}, "twice": {Info: Info{Name: "registered-1"}, Open: open},
		"in the catalogue": {Info: Info{Name: "glyphs"}, Open: open}, "colon": {Info: Info{Name: "a:b"}, Open: open},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			Register(spec)
		}()
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
	if d, err := Open(context.Background(), "no-sum", Options{}); err != nil || d.SHA256 != "abc" {
		t.Errorf("a set whose Open leaves the checksum out: %+v, %v", d, err)
	}
}
