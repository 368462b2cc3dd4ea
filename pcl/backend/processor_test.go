package backend

import "testing"

func TestOtherProcessor(t *testing.T) {
	const epyc, xeon = "AMD EPYC (family 25 model 17 stepping 1, AVX2)",
		"Intel(R) Xeon(R) Processor (family 6 model 106 stepping 6, AVX2"
	for _, c := range []struct{ then, now, want string }{
		{epyc, epyc, ""},
		{"AMD EPYC (family 25 model 1 stepping 1, AVX2)", epyc, "type of processor"},
		{xeon + ")", xeon + ", L1 48 KB)", "L1 data cache (then 32 KB, now 48 KB)"},
		{epyc, xeon + ", L1 48 KB)", "vendor (then AMD, now Intel), L1 data cache (then 32 KB, now 48 KB)"},
		{"AMD EPYC", epyc,
			"vector instructions (then unknown, now AVX2), L1 data cache (then unknown, now 32 KB), L2 cache (then unknown, now 512 KB)"},
		{epyc, "AMD EPYC (family 25 model 17 stepping 1, AVX2, L2 1024 KB)", "L2 cache (then 512 KB, now 1024 KB)"},
	} {
		if got := OtherProcessor(c.then, c.now); got != c.want {
			t.Errorf("%s, then %s: %q, want %q", c.then, c.now, got, c.want)
		}
	}
}

func TestVectorsOf(t *testing.T) {
	for device, want := range map[string]string{
		"AMD EPYC (family 25 model 17 stepping 1, AVX-512)":                  native,
		"Intel(R) Xeon(R) Processor (family 6 model 106, AVX-512, L1 48 KB)": native,
		"AMD EPYC (family 25 model 17 stepping 1, AVX2)":                     AVX2,
		"AMD EPYC": AVX2, "": AVX2,
	} {
		t.Run(device, func(t *testing.T) {
			if got := VectorsOf(device); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
