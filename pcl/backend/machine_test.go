package backend

import (
	"runtime"
	"testing"
)

// TestCPUNamed: processors of other types have other names, also in virtual machines that give them one.
func TestCPUNamed(t *testing.T) {
	unnamed := runtime.GOOS + "/" + runtime.GOARCH + " CPU"
	for want, fields := range map[string]map[string]string{
		"AMD EPYC (family 25 model 17 stepping 1)":                        {"model name": "AMD EPYC", "cpu family": "25", "model": "17", "stepping": "1"},
		"AMD EPYC (family 26 model 2 stepping 0)":                         {"model name": "AMD EPYC", "cpu family": "26", "model": "2", "stepping": "0"},
		unnamed + " (implementer 0x41 part 0xd40 variant 0x1 revision 1)": {"CPU implementer": "0x41", "CPU part": "0xd40", "CPU variant": "0x1", "CPU revision": "1"},
		unnamed: nil,
	} {
		if got := cpuNamed(fields); got != want {
			t.Errorf("%v: named %q, want %q", fields, got, want)
		}
	}
}
