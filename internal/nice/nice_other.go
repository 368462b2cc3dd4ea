//go:build !linux

package nice

func lowerThread(int) {}
