package fp

import "golang.org/x/sys/cpu"

// inEights says that the processor has the instructions of [units8].
var inEights = cpu.X86.HasAVX2

// units8 sets the first n > 0 entries of x to bytes divided by 255. n is a multiple of 8.
//
//go:noescape
func units8(n int, x *float32, bytes *uint8)
