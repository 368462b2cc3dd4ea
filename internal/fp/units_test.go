package fp

import "testing"

// TestUnits: every byte has its value to the bit, wherever it lies.
func TestUnits(t *testing.T) {
	for shift := range 9 {
		for n := 256 - 9; n <= 256-shift; n++ {
			bytes, x := make([]uint8, 256), make([]float32, 257)
			for i := range bytes {
				bytes[i] = uint8(i)
			}
			Units(x[1:], bytes[shift:shift+n])
			for i := range n {
				if x[1+i] != float32(shift+i)/255 {
					t.Fatalf("%d bytes from %d: byte %d is %g", n, shift, shift+i, x[1+i])
				}
			}
			if x[0] != 0 || n < 256 && x[1+n] != 0 {
				t.Fatalf("%d bytes from %d: another entry was set", n, shift)
			}
		}
	}
}

func BenchmarkUnits(b *testing.B) {
	x, bytes := make([]float32, 128*784), make([]uint8, 128*784)
	b.Run("in-eights", func(b *testing.B) {
		for b.Loop() {
			Units(x, bytes)
		}
	})
	b.Run("one-by-one", func(b *testing.B) {
		for b.Loop() {
			for i, v := range bytes {
				x[i] = unit[v]
			}
		}
	})
}
