package grid

import (
	"math"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl/results"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
)

func TestCompare(t *testing.T) {
	r := filled(t, expanded(t, small(t, 1)), nil)
	then, run := r.Table()[0], finishedRuns(r)[0]
	if list, text, same := Compare(then, run); !same || len(list) != 6 || text != "Equal to the bit." {
		t.Errorf("the same run: %v, %s", list, text)
	}
	other := *run
	other.A += 1e-14 * run.A
	other.Measured.Device, other.Measured.Program = "another processor", "v9.9.9"
	list, text, same := Compare(then, &other)
	if same || list[0].Then == list[0].Now || list[1].Then != list[1].Now {
		t.Errorf("another A: %v", list)
	}
	if strings.Count(text, "\n") != 2 || !strings.Contains(text, "is v9.9.9 now") ||
		!strings.Contains(text, "another processor") {
		t.Errorf("reasons: %q", text)
	}
	other = *run
	other.ModelSHA256 = "0"
	if _, _, same := Compare(then, &other); same {
		t.Error("another model counts as equal")
	}
}

func TestOnOtherProcessor(t *testing.T) {
	const epyc, xeon = "AMD EPYC (family 25 model 17 stepping 1, AVX2)",
		"Intel Xeon (family 6 model 106 stepping 6, AVX2, L1 48 KB)"
	for _, c := range []struct {
		backend, device string
		moved           float64
		within, said    bool
	}{
		{"xla-cpu", xeon, 2.9, true, true},
		{"xla-cpu", xeon, 3.1, false, true},
		{"xla-cpu", xeon, math.NaN(), false, true},
		{"xla-cpu", epyc, 0, false, false},
		{"xla-cuda", "NVIDIA H100", 0, false, false},
	} {
		run := &results.Run{A: 50 + c.moved}
		run.Measured.Backend, run.Measured.Device = c.backend, c.device
		old := &results.Run{A: 50}
		old.Measured.Backend, old.Measured.Device = "xla-cpu", epyc
		then := &rows.Row{Run: old}
		text, within := onOtherProcessor(then, run)
		if within != c.within || (text != "") != c.said {
			t.Errorf("%+v: %v, %q", c, within, text)
		}
	}
}
