package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/viz"
)

// certificateSection shows the proofs of one method's steps.
type certificateSection struct {
	Label      string
	Figure     template.HTML
	Steps      int
	Share      string // %, all conditions hold
	Slack, Gap string
	Stationary int
	All        bool
}

// newCertificates makes a section for each method whose records hold certificates: the table's
// methods in their order, then others by name.
func newCertificates(in *DemoInput, table *resultTable) ([]certificateSection, error) {
	var out []certificateSection
	for _, m := range recordedMethods(in, table) {
		records := in.Records[m.method]
		stats := viz.CheckCertificates(records)
		if stats.Steps == 0 {
			continue
		}
		fig, err := picture(viz.Certificates(viz.Light, records))
		if err != nil {
			return nil, err
		}
		out = append(out, certificateSection{
			Label: m.label, Figure: fig, Steps: stats.Steps,
			Share:      share(stats.Holding, stats.Steps),
			Slack:      scientific(math.Min(0, stats.WorstSlack)),
			Gap:        scientific(stats.WorstGap),
			Stationary: stats.Stationary,
			All:        stats.Holding == stats.Steps,
		})
	}
	return out, nil
}

type recorded struct{ method, label string }

func recordedMethods(in *DemoInput, table *resultTable) []recorded {
	var out []recorded
	seen := map[string]bool{}
	for _, row := range table.Rows {
		if !seen[row.Method] {
			out = append(out, recorded{row.Method, row.Label})
		}
		seen[row.Method] = true
	}
	var others []string
	for m := range in.Records {
		if !seen[m] {
			others = append(others, m)
		}
	}
	slices.Sort(others)
	for _, m := range others {
		out = append(out, recorded{m, m})
	}
	return out
}

// share never rounds up to 100 %.
func share(part, all int) string {
	if part == all {
		return "100 %"
	}
	return fmt.Sprintf("%.2f %%", math.Min(99.99, 100*float64(part)/float64(all)))
}

// scientific writes x as in print, e.g. "−3·10⁻¹⁶".
func scientific(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.IsNaN(x):
		return "–"
	case math.IsInf(x, -1):
		return "−∞"
	case math.IsInf(x, 1):
		return "∞"
	}
	mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.0e", x), "e")
	sup := strings.NewReplacer("+", "", "-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	sign := exponent[:1]
	digits := strings.TrimLeft(exponent[1:], "0")
	if digits == "" {
		return strings.Replace(mantissa, "-", "−", 1)
	}
	return strings.Replace(mantissa, "-", "−", 1) + "·10" + sup.Replace(sign+digits)
}
