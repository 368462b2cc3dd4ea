package device

import (
	"errors"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/pcl/backend"
	"github.com/parallelcl/parallelcl/pcl/internal/pcltest"
	"github.com/parallelcl/parallelcl/pcl/memory"
)

// full is a device without room for more than a few rows.
type full struct {
	compute.Backend
	refused int
}

func (f *full) BufferFromFlatData(device compute.DeviceNum, flat any, shape shapes.Shape) (compute.Buffer, error) {
	if shape.Dimensions[0] >= 64 {
		f.refused++
		return nil, errors.New("out of memory")
	}
	return f.Backend.BufferFromFlatData(device, flat, shape)
}

// TestMirrorWithoutRoom: where the memory does not fit on the device, its batches are copied instead, and this is tried once.
func TestMirrorWithoutRoom(t *testing.T) {
	device := &full{Backend: pcltest.Backend(t, backend.Go).Backend}
	r := NewTables(device)
	defer r.Close()
	store := must.Get(memory.NewStore(memory.Config{Policy: memory.PerClass, Budget: 4}, 1))(t)
	store.Add([]memory.Item{{Task: 1, Pixels: []float32{0, 1}}})
	b := must.Get(NewBatch(device, 4, 2))(t)
	defer b.Free()
	var m Mirror
	defer m.Free()
	b.device[0] = nil // as on a device that does not share memory with the host
	for range 4 {
		must.Do(t, m.Send(r, store, b, []int{0}))
	}
	if m.Held() || device.refused != 1 {
		t.Errorf("held: %v; tried %d times, want once", m.Held(), device.refused)
	}
}
