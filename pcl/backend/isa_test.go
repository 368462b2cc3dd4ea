package backend

import (
	"os"
	"testing"
)

// TestVectors: AVX2 limits what XLA and oneDNN read and leaves the user's other options; otherwise
// the environment decides, and only with both limits have results the bits of AVX2.
func TestVectors(t *testing.T) {
	t.Cleanup(func() { wide = false })
	const both, wider = "--xla_cpu_max_isa=AVX2", "--xla_cpu_max_isa=AVX512"
	for _, c := range []struct {
		name, vectors, found, flags, one, old string
		want, wantFlags, wantOne, given       string
	}{
		{"native", native, "AVX-512", "--xla_a=b", "", "", "AVX-512", "--xla_a=b", "", "--xla_a=b"},
		{"default", "", "AVX-512", "", "", "", "AVX-512", "", "", ""},
		{"limited by the environment", native, "AVX-512", both, "avx2", "", "AVX2", both, "avx2", ""},
		{"one limit", native, "AVX-512", "", "AVX2", "", "AVX-512", "", "AVX2", ""},
		{"the other", native, "AVX-512", both, "", "ALL", "AVX-512", both, "", ""},
		{"former name", native, "AVX-512", both, "", "AVX2", "AVX2", both, "", ""},
		{"AVX2", AVX2, "AVX-512", "--xla_a=b", "", "", "AVX2", "--xla_a=b " + both, "AVX2", "--xla_a=b"},
		{"AVX2 again", AVX2, "AVX-512", both, "AVX2", "", "AVX2", both, "AVX2", ""},
		{"AVX2 against the environment", AVX2, "AVX-512", wider, "ALL", "ALL", "AVX2", both, "AVX2", ""},
		{"a processor without", AVX2, "AVX2", "", "", "", "AVX2", "", "", ""},
		{"another architecture", AVX2, "", "--xla_a=b", "", "", "", "--xla_a=b", "", "--xla_a=b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wide = false
			t.Setenv("XLA_FLAGS", c.flags)
			t.Setenv(isaEnv, c.one)
			t.Setenv(isaOld, c.old)
			got, err := setVectors(c.vectors, c.found)
			switch flags, one := os.Getenv("XLA_FLAGS"), os.Getenv(isaEnv); {
			case err != nil:
				t.Error(err)
			case got != c.want:
				t.Errorf("got is %q; want %q", got, c.want)
			case flags != c.wantFlags:
				t.Errorf("flags is %q; want %q", flags, c.wantFlags)
			case one != c.wantOne:
				t.Errorf("one is %q; want %q", one, c.wantOne)
			}
			if XLAFlags() != c.given {
				t.Errorf("the user's options are %q, want %q", XLAFlags(), c.given)
			}
			if wide != (c.want == "AVX-512") {
				t.Errorf("wide is %t", wide)
			}
		})
	}
	wide = true
	if _, err := setVectors(AVX2, "AVX-512"); err == nil {
		t.Error("AVX2 after AVX-512 in one process")
	}
}
