package npz

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// FuzzRead reads arbitrary archives; what is read has as many entries as its shape says.
func FuzzRead(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.npz")
	if err := Write(path, map[string]Array{"x": {[]int{1, 2}, []float32{1, -2}}, "n": {nil, []int32{7}}}); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.npz")
		must.Do(t, os.WriteFile(path, data, 0o666))
		file, err := Open(path, 1<<20)
		if err != nil {
			return
		}
		defer file.Close()
		for _, name := range file.Names() {
			a, err := file.Read(name)
			if err != nil {
				continue
			}
			n := 1
			for _, d := range a.Shape {
				n *= d
			}
			if got := reflect.ValueOf(a.Data).Len(); got != n {
				t.Errorf("%s has %d entries for the shape %v", name, got, a.Shape)
			}
		}
	})
}
