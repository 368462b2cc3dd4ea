package device

import "golang.org/x/sys/cpu"

// fused says that the processor has the instructions of [combine8] and [adam8].
var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// combine8 sets out to Σ wᵢ·rowsᵢ of k rows, in which each product is added without being rounded,
// and squares to its entries' squares. n > 0 is a multiple of 8.
//
//go:noescape
func combine8(n, k int, out, squares *float32, rows **float32, w *float32)

// adam8 makes a step along d. n > 0 is a multiple of 8.
//
//go:noescape
func adam8(n int, d, theta, m, v *float32, by *adamScalars)
