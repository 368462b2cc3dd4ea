//go:build !amd64

package fp

// inEights says that there is assembly for this processor. Where it is false, units8 only lets the
// package compile; nothing calls it.
const inEights = false

func units8(int, *float32, *uint8) {}
