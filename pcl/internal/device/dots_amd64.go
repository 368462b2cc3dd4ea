package device

import "golang.org/x/sys/cpu"

// blocked says that the processor has the instructions of [dots2].
var blocked = cpu.X86.HasAVX2

// dots2 adds to four sums, each of four lanes, the products of the first n > 0 entries of x₀y₀, x₀y₁, x₁y₀ and x₁y₁. n is a
// multiple of 4.
//
//go:noescape
func dots2(n int, x0, x1, y0, y1 *float32, sums *[4]lanes)
