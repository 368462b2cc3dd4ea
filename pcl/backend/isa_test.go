package backend

import (
	"os"
	"testing"
)

// TestLimitVectors: a processor with AVX-512 computes with AVX2, unless the environment says otherwise; what is set is what
// XLA and oneDNN read, and no option of the user's.
func TestLimitVectors(t *testing.T) {
	for _, c := range []struct {
		name, found, flags, one, old    string
		want, wantFlags, wantOne, given string
	}{
		{"AVX-512", "AVX-512", "", "", "", "AVX2", "--xla_cpu_max_isa=AVX2", "AVX2", ""},
		{"other options stay", "AVX-512", "--xla_a=b", "", "", "AVX2", "--xla_a=b --xla_cpu_max_isa=AVX2", "AVX2", "--xla_a=b"},
		{"second opening", "AVX-512", "--xla_cpu_max_isa=AVX2", "AVX2", "", "AVX2", "--xla_cpu_max_isa=AVX2", "AVX2", ""},
		{"AVX2", "AVX2", "", "", "", "AVX2", "", "", ""},
		{"no amd64", "", "--xla_a=b", "", "", "", "--xla_a=b", "", "--xla_a=b"},
		{"all of it", "AVX-512", "--xla_cpu_max_isa=AVX512", "ALL", "", "AVX-512", "--xla_cpu_max_isa=AVX512", "ALL", "--xla_cpu_max_isa=AVX512"},
		{"one of them", "AVX-512", "", "ALL", "", "AVX-512", "--xla_cpu_max_isa=AVX2", "ALL", ""},
		{"former name", "AVX-512", "", "", "ALL", "AVX-512", "--xla_cpu_max_isa=AVX2", "", ""},
		{"other limit of XLA", "AVX-512", "--xla_cpu_max_isa=SSE4_2", "", "", "AVX-512", "--xla_cpu_max_isa=SSE4_2", "AVX2", "--xla_cpu_max_isa=SSE4_2"},
	} {
		t.Setenv("XLA_FLAGS", c.flags)
		t.Setenv(isaEnv, c.one)
		t.Setenv(isaOld, c.old)
		got := limitVectors(c.found)
		if flags, one := os.Getenv("XLA_FLAGS"), os.Getenv(isaEnv); got != c.want || flags != c.wantFlags || one != c.wantOne {
			t.Errorf("%s: %q with XLA_FLAGS=%q and %s=%q, want %q, %q, %q", c.name, got, flags, isaEnv, one, c.want, c.wantFlags, c.wantOne)
		}
		if XLAFlags() != c.given {
			t.Errorf("%s: the user's options are %q, want %q", c.name, XLAFlags(), c.given)
		}
	}
}
