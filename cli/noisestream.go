package cli

import (
	"io"
	"math/rand/v2"
	"os"

	"github.com/parallelcl/parallelcl/pcl/data"
)

// noiseStream delivers random images of two classes in turn.
type noiseStream struct {
	pixels []float32 // noise, of which batches are parts
	rng    *rand.Rand
	class  int
	left   int // how many batches are left; if negative, the stream never ends
}

// Next fills a batch with a part of the noise that begins at a random place.
func (s *noiseStream) Next(b *data.Batch) error {
	if s.left == 0 {
		return io.EOF
	}
	s.left--
	copy(b.X, s.pixels[s.rng.IntN(len(s.pixels)-len(b.X)):])
	for i := range b.Class {
		b.Class[i] = s.class + i%classesPerTask
	}
	b.N = len(b.Class)
	return nil
}

func newRand(i int) *rand.Rand { return rand.New(rand.NewPCG(2, uint64(i))) }

// noise returns n random pixels in [0,1), the same each time.
func noise(n int) []float32 {
	rng := rand.New(rand.NewPCG(1, 1))
	pixels := make([]float32, n)
	for i := range pixels {
		pixels[i] = rng.Float32()
	}
	return pixels
}

// forgetPeakRSS makes [experiment.PeakRSS] measure from now on, if the system supports this.
func forgetPeakRSS() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
