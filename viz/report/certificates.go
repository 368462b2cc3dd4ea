package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
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

// newCertificates makes a section for each method of the table whose records hold certificates.
func newCertificates(in *DemoInput, table *resultTable) (out []certificateSection, err error) {
	left := maps.Clone(in.Records)
	for _, row := range table.Rows {
		records := left[row.Method]
		delete(left, row.Method) // of several rows of a method the first has them
		stats := viz.CheckCertificates(records)
		if stats.Steps == 0 {
			continue
		}
		fig, err := picture(viz.Certificates(records))
		if err != nil {
			return nil, err
		}
		out = append(out, certificateSection{
			Label: row.Label, Figure: fig, Steps: stats.Steps,
			Share:      share(stats.Holding, stats.Steps),
			Slack:      scientific(min(0, stats.WorstSlack)),
			Gap:        scientific(stats.WorstGap),
			Stationary: stats.Stationary,
			All:        stats.Holding == stats.Steps,
		})
	}
	return out, nil
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
