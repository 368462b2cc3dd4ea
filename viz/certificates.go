package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Certificates draws the certificates of an EMGD run's steps. Above: how far the worst slack falls below 0, and
// how far complementary slackness is from holding (docs/method.md §2.5), on a logarithmic axis whose lower end
// stands for 0. Below: each stream's elastic factor σ and its weight λ. Steps are grouped so that at most some 250 points remain; above, a point is the
// worst of its group, below the mean.
func Certificates(t *Theme, records []results.Record) (*Figure, error) {
	kept, err := withCertificate(records)
	if err != nil {
		return nil, err
	}
	bucket := bucketOf(kept)
	proof, err := proofPlot(t, kept, bucket)
	if err != nil {
		return nil, err
	}
	sigma, err := streamPlot(t, kept, bucket, "elastic factor σ", func(r *results.Record) []float64 { return r.Sigma })
	if err != nil {
		return nil, err
	}
	lambda, err := streamPlot(t, kept, bucket, "weight λ", func(r *results.Record) []float64 { return r.Lambda })
	if err != nil {
		return nil, err
	}
	alt := fmt.Sprintf("Optimality certificates of %d steps, with the elastic factors and weights of each stream.", len(kept))
	f := overSteps(t, kept, 430, alt, proof, sigma, lambda)
	f.key = append(append(proofKey(t), bucketKey(bucket)...), streamsOf(kept...).key(t)...)
	return f.holding("certificates", recordTable(kept)), nil
}

func withCertificate(records []results.Record) ([]results.Record, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	var kept []results.Record
	for i := range records {
		if certified(&records[i]) {
			kept = append(kept, records[i])
		}
	}
	if len(kept) == 0 {
		return nil, errors.New("viz: no record holds a certificate (λ, σ and slacks); record a run of an EMGD method")
	}
	return kept, nil
}

// bucketOf is the number of steps gathered into a point.
func bucketOf(records []results.Record) int { return (len(records) + 249) / 250 }

func bucketKey(bucket int) []keyEntry {
	if bucket < 2 {
		return nil
	}
	return []keyEntry{{label: fmt.Sprintf("(%d steps a point)", bucket)}}
}

// overSteps puts plots over the steps of the records below each other; the last one names the steps.
func overSteps(t *Theme, records []results.Record, height vg.Length, alt string, plots ...*plot.Plot) *Figure {
	f := newFigure(t, height, alt)
	last := len(plots) - 1
	for i, p := range plots {
		p.X.Min, p.X.Max = float64(records[0].Step), float64(records[len(records)-1].Step)
		if i < last {
			p.X.Label.Text = ""
			p.X.Tick.Marker = withoutLabels{p.X.Tick.Marker}
		}
		f.Rows = append(f.Rows, []*plot.Plot{p})
		f.Share = append(f.Share, 1)
	}
	f.Share[last] = 1.15
	return f
}

const exactFloor = -18 // the exponent under which a breach is drawn as 0

func proofStyles(t *Theme) [2]draw.GlyphStyle {
	return [2]draw.GlyphStyle{
		{Color: t.Ink, Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}},
		{Color: t.Muted, Radius: vg.Points(1.8), Shape: draw.RingGlyph{}},
	}
}

func proofKey(t *Theme) []keyEntry {
	s := proofStyles(t)
	return []keyEntry{
		{label: "worst slack below 0, relative", glyph: s[0]},
		{label: "Σλ|slack|, relative", glyph: s[1]},
		{label: "tolerance 1e-9", line: t.line(t.Hues[0], 1, 4, 2)},
	}
}

// proofPlot draws the worst breach and gap of each bucket by their exponents.
func proofPlot(t *Theme, records []results.Record, bucket int) (*plot.Plot, error) {
	var breach, gap plotter.XYs
	high := math.Log10(Tolerance) + 1
	for lo := 0; lo < len(records); lo += bucket {
		hi := min(lo+bucket, len(records))
		b, g := 0.0, 0.0
		for i := lo; i < hi; i++ {
			b = math.Max(b, -relativeSlack(&records[i]))
			g = math.Max(g, records[i].Gap)
		}
		x := float64(records[lo].Step+records[hi-1].Step) / 2
		breach = append(breach, plotter.XY{X: x, Y: exponent(b)})
		gap = append(gap, plotter.XY{X: x, Y: exponent(g)})
		high = max(high, exponent(b)+1, exponent(g)+1)
	}
	p := t.newPlot("optimiser step", "breach, relative")
	p.Add(t.horizontals())
	limit := math.Log10(Tolerance)
	line, err := plotter.NewLine(plotter.XYs{{X: breach[0].X, Y: limit}, {X: breach[len(breach)-1].X, Y: limit}})
	if err != nil {
		return nil, err
	}
	line.LineStyle = t.line(t.Hues[0], 1, 4, 2)
	p.Add(line)
	for i, xys := range []plotter.XYs{gap, breach} {
		points, err := plotter.NewScatter(xys)
		if err != nil {
			return nil, err
		}
		points.GlyphStyle = proofStyles(t)[1-i]
		p.Add(points)
	}
	p.Y.Min, p.Y.Max = exactFloor-0.5, high
	p.Y.Tick.Marker = powerTicks{floor: exactFloor}
	return p, nil
}

func exponent(x float64) float64 {
	if !(x > 0) {
		return exactFloor
	}
	return math.Max(exactFloor, math.Log10(x))
}

// streamPlot draws a quantity of each stream over the steps, named at the lines' ends.
func streamPlot(t *Theme, records []results.Record, bucket int, label string, values func(*results.Record) []float64) (*plot.Plot, error) {
	p := t.newPlot("optimiser step", label)
	p.Add(t.horizontals())
	lines := map[int]*streamLine{}
	rows := streamsOf(records...)
	for i := range records {
		r := &records[i]
		vs := values(r)
		for j, id := range r.IDs {
			if math.IsNaN(vs[j]) {
				continue
			}
			if lines[id] == nil {
				lines[id] = &streamLine{id: id}
			}
			lines[id].add(i/bucket, float64(r.Step), vs[j])
		}
	}
	for _, id := range rows.ids {
		l := lines[id]
		if l == nil {
			continue
		}
		line, err := plotter.NewLine(l.points())
		if err != nil {
			return nil, err
		}
		line.LineStyle = rows.style(t, id)
		p.Add(line)
	}
	p.Y.Min = min(0, 1.05*p.Y.Min)
	p.Y.Max = max(0, 1.05*p.Y.Max)
	return p, nil
}

// streamLine gathers one stream's values into buckets of steps.
type streamLine struct {
	id      int
	buckets []int
	sums    []plotter.XY
	counts  []float64
}

func (l *streamLine) add(bucket int, x, y float64) {
	n, found := slices.BinarySearch(l.buckets, bucket)
	if !found {
		l.buckets = slices.Insert(l.buckets, n, bucket)
		l.sums = slices.Insert(l.sums, n, plotter.XY{})
		l.counts = slices.Insert(l.counts, n, 0)
	}
	l.sums[n].X += x
	l.sums[n].Y += y
	l.counts[n]++
}

func (l *streamLine) points() plotter.XYs {
	var xys plotter.XYs
	for i, s := range l.sums {
		xys = append(xys, plotter.XY{X: s.X / l.counts[i], Y: s.Y / l.counts[i]})
	}
	return xys
}
