//go:build !amd64

package device

const blocked = false

func dots2(int, *float32, *float32, *float32, *float32, *[4]lanes) {}
