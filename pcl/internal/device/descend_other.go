//go:build !amd64

package device

const fused = false

func combine8(n, k int, out, squares *float32, rows **float32, w *float32) {}

func adam8(n int, d, theta, m, v *float32, by *adamScalars) {}
