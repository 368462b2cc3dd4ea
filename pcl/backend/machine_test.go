package backend

import (
	"runtime"
	"testing"
)

// TestCPUNamed: processors of other types have other names, also in virtual machines that give them one, and so have
// those of one type with and without some vector instructions.
func TestCPUNamed(t *testing.T) {
	unnamed := runtime.GOOS + "/" + runtime.GOARCH + " CPU"
	epyc := map[string]string{"model name": "AMD EPYC", "cpu family": "25", "model": "17", "stepping": "1"}
	arm := map[string]string{"CPU implementer": "0x41", "CPU part": "0xd40", "CPU variant": "0x1", "CPU revision": "1"}
	for _, c := range []struct {
		want    string
		fields  map[string]string
		vectors string
	}{
		{"AMD EPYC (family 25 model 17 stepping 1, AVX2)", epyc, "AVX2"},
		{"AMD EPYC (family 25 model 17 stepping 1, AVX-512)", epyc, "AVX-512"},
		{"AMD EPYC (family 25 model 17 stepping 1)", epyc, ""},
		{unnamed + " (implementer 0x41 part 0xd40 variant 0x1 revision 1)", arm, ""},
		{unnamed + " (AVX2)", nil, "AVX2"},
		{unnamed, nil, ""},
	} {
		if got := cpuNamed(c.fields, c.vectors); got != c.want {
			t.Errorf("%v with %q: named %q, want %q", c.fields, c.vectors, got, c.want)
		}
	}
	if got := cpuNamed(epyc, "AVX2", cacheNamed("amd64", "L1", "48K"), cacheNamed("amd64", "L2", "1024K")); got != "AMD EPYC (family 25 model 17 stepping 1, AVX2, L1 48 KB, L2 1024 KB)" {
		t.Errorf("other caches: named %q", got)
	}
	for _, c := range []string{cacheNamed("amd64", "L1", "32K"), cacheNamed("amd64", "L2", "512K"), cacheNamed("amd64", "L1", ""), cacheNamed("arm64", "L1", "64K")} {
		if c != "" {
			t.Errorf("a cache that changes nothing is named %q", c)
		}
	}
}
