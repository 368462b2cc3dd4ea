package cli

import (
	"strings"
	"testing"
)

// TestSameSeedSameBits repeats runs on each backend, down to the last bit of model, memory and
// records. Another backend, or another number of threads, may round differently.
func TestSameSeedSameBits(t *testing.T) {
	for _, machine := range []string{"go", "xla-cpu --threads 2"} {
		t.Run(machine, func(t *testing.T) {
			if machine != "go" {
				needXLA(t)
			}
			args := append([]string{"--backend"}, strings.Fields(machine)...)
			again := train(t, args...)
			again.same(t, baseline(t, args...))
			t.Logf("model %s", again.Model)
		})
	}
}
