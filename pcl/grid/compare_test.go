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
	switch list, text, same := Compare(then, run); {
	case !same:
		t.Errorf("the same run: %v, %s", list, text)
	case len(list) != 6:
		t.Errorf("the same run: len(list) is %d; want 6", len(list))
	case text != "Equal to the bit.":
		t.Errorf("the same run: text is %q; want %q", text, "Equal to the bit.")
	}
	other := *run
	other.A += 1e-14 * run.A
	other.Measured.Device, other.Measured.Program = "another processor", "v9.9.9"
	list, text, same := Compare(then, &other)
	switch {
	case same:
		t.Errorf("another A: %v", list)
	case list[0].Then == list[0].Now:
		t.Errorf("another A: list[0].Then is %q", list[0].Now)
	case list[1].Then != list[1].Now:
		t.Errorf("another A: list[1].Then is %q; want %q", list[1].Then, list[1].Now)
	}
	switch {
	case strings.Count(text, "\n") != 2:
		t.Errorf("reasons: %q", text)
	case !strings.Contains(text, "is v9.9.9 now"):
		t.Errorf("reasons: text is %q; want %q in it", text, "is v9.9.9 now")
	case !strings.Contains(text, "another processor"):
		t.Errorf("reasons: text is %q; want %q in it", text, "another processor")
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
		t.Run(c.backend, func(t *testing.T) {
			run := &results.Run{A: 50 + c.moved}
			run.Measured.Backend, run.Measured.Device = c.backend, c.device
			old := &results.Run{A: 50}
			old.Measured.Backend, old.Measured.Device = "xla-cpu", epyc
			then := &rows.Row{Run: old}
			text, within := onOtherProcessor(then, run)
			switch {
			case within != c.within:
				t.Errorf("%+v: within is %t; want %t", c, within, c.within)
			case (text != "") != c.said:
				t.Errorf("%+v: %v, %q", c, within, text)
			}
		})
	}
}
