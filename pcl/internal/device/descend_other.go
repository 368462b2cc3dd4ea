//go:build !amd64

package device

const fused = false

func combine8(n, k int, out *float32, rows **float32, w *float32) {}

func squares64(n int, x *float32, sums *[64]float32) {}

func adam8(n int, d, theta, m, v *float32, by *adamScalars) {}
