//go:build !linux

package serve

import (
	"testing"
	"time"
)

func processorTime() time.Duration { return 0 }

func smallDisk(*testing.T, string) bool { return false }
