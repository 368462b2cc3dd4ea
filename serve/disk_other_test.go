//go:build !linux

package serve

import "testing"

func smallDisk(*testing.T, string) bool { return false }
