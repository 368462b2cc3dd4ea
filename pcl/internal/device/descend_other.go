//go:build !amd64

package device

// fused says that there is assembly for this processor. Where it is false, the functions below only
// let the package compile; nothing calls them.
const fused = false

func combine8(n, k int, out, squares *float32, rows **float32, w *float32) {}

func adam8(n int, d, theta, m, v *float32, by *adamScalars) {}
