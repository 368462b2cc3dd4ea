package device

import "golang.org/x/sys/cpu"

// blocked says that the processor has the instructions of [dots2].
var blocked = cpu.X86.HasAVX2

// dots2 adds to four sums, each of four lanes, the products of the first n > 0 entries of x₀y₀, x₀y₁, x₁y₀ and x₁y₁. n is a
// multiple of 4.
//
//go:noescape
func dots2(n int, x0, x1, y0, y1 *float32, sums *[4]lanes)

// fused says that the processor has the instructions of [combine8] and [adam8].
var fused = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// combine8 sets out to Σ wᵢ·rowsᵢ of k rows, in which each product is added without being rounded, and squares to its entries'
// squares. n > 0 is a multiple of 8.
//
//go:noescape
func combine8(n, k int, out, squares *float32, rows **float32, w *float32)

// adam8 makes a step along d. n > 0 is a multiple of 8.
//
//go:noescape
func adam8(n int, d, theta, m, v *float32, by *adamScalars)
