package device

import "golang.org/x/sys/cpu"

// fused says that the processor has the instructions of the functions below.
var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// combine8 sets out to Σ wᵢ·rowsᵢ of k rows, in which each product is added without being rounded. n > 0 is a multiple of 8.
//
//go:noescape
func combine8(n, k int, out *float32, rows **float32, w *float32)

// squares64 adds to 64 sums the squares of every 64th entry each. n > 0 is a multiple of 64.
//
//go:noescape
func squares64(n int, x *float32, sums *[64]float32)

// adam8 makes a step along d. n > 0 is a multiple of 8.
//
//go:noescape
func adam8(n int, d, theta, m, v *float32, by *adamScalars)
