//go:build unix

package report

import (
	"flag"
	"maps"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

var scaling = flag.Bool("scaling", false, "measure how the time to render hostile texts grows with their length (minutes)")

// TestScaling measures the processor's time for texts of 120, 240 and 480 kB:
// go test ./viz/report -run Scaling -scaling -v -timeout 1h
func TestScaling(t *testing.T) {
	if !*scaling {
		t.Skip("minutes of measuring; go test ./viz/report -run Scaling -scaling -v -timeout 1h")
	}
	const n = 120_000
	for _, name := range slices.Sorted(maps.Keys(hostileTexts)) {
		var took [3]float64
		for i := range took {
			text := hostileTexts[name](n << i)
			runtime.GC()
			begin := cpuSeconds(t)
			render(text)
			took[i] = cpuSeconds(t) - begin
		}
		t.Logf("%-24s %6.0f %6.0f %6.0f ms", name, 1e3*took[0], 1e3*took[1], 1e3*took[2])
		if took[2] > 1 && took[2]/took[0] > 10 { // four times the text; 16 would be quadratic
			t.Errorf("%s: %.2f s for %d kB, %.2f s for %d kB", name, took[0], n/1000, took[2], 4*n/1000)
		}
	}
}

func cpuSeconds(t *testing.T) float64 {
	t.Helper()
	var use syscall.Rusage
	must.Do(t, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return float64(use.Utime.Sec+use.Stime.Sec) + float64(use.Utime.Usec+use.Stime.Usec)/1e6
}
