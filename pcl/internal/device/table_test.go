package device

import (
	"testing"

	"github.com/parallelcl/parallelcl/internal/fp"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/internal/program"
)

// TestResidentRows: rows come as the host has them, to the bit, and padding as zeros.
func TestResidentRows(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		table := make([]uint8, 3*256)
		for i := range table {
			table[i] = uint8(i * i / 3)
		}
		r := NewTables(b.Backend)
		defer r.Close()
		x := must.Get(r.batch(table, 256, []int32{2, 0, -1, 2}))(t)
		defer program.Free(x)
		got := make([]float32, 4*256)
		must.Do(t, program.ToHost(got, x))
		for i, v := range got {
			want := float32(0)
			if row := []int{2, 0, -1, 2}[i/256]; row >= 0 {
				want = fp.Unit[table[row*256+i%256]]
			}
			if v != want {
				t.Fatalf("row %d, pixel %d: %g, want %g", i/256, i%256, v, want)
			}
		}
	})
}

// TestForget: a table that was released is copied again when it is used again.
func TestForget(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		r := NewTables(b.Backend)
		defer r.Close()
		table := []uint8{0, 255}
		for range 2 {
			x := must.Get(r.batch(table, 1, []int32{1}))(t)
			program.Free(x)
			if r.Forget(); r.Len() != 0 {
				t.Errorf("%d tables after they were released", r.Len())
			}
		}
	})
}

// TestTablesOfOneArray: tables that begin at the same byte, such as a data set and its first half, and one whose rows have
// another width, are different ones.
func TestTablesOfOneArray(t *testing.T) {
	pcltest.Both(t, func(t *testing.T, b *backend.Backend) {
		all := make([]uint8, 4*6)
		for i := range all {
			all[i] = uint8(10 * i)
		}
		r := NewTables(b.Backend)
		defer r.Close()
		for _, c := range []struct {
			table []uint8
			width int
		}{{all, 6}, {all[:12], 6}, {all, 3}} {
			x, err := r.batch(c.table, c.width, []int32{1})
			if err != nil {
				t.Errorf("%d bytes in rows of %d: %v", len(c.table), c.width, err)
				continue
			}
			defer program.Free(x)
			got := make([]float32, c.width)
			must.Do(t, program.ToHost(got, x))
			for i, v := range got {
				if want := fp.Unit[c.table[c.width+i]]; v != want {
					t.Errorf("%d bytes in rows of %d: pixel %d is %g, want %g", len(c.table), c.width, i, v, want)
				}
			}
		}
	})
}
