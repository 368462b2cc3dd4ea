//go:build !amd64

package device

const blocked, fused = false, false

func dots2(int, *float32, *float32, *float32, *float32, *[4]lanes) {}

func combine8(n, k int, out, squares *float32, rows **float32, w *float32) {}

func adam8(n int, d, theta, m, v *float32, by *adamScalars) {}
