package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// Certificates draws the certificates of an EMGD run's steps (docs/method.md §2.5). Above: by how much each stream gains beyond its
// guaranteed share, (Jᵢ·d − σᵢ‖d‖²)/(‖Jᵢ‖‖d‖ + σᵢ‖d‖²): 0 for streams whose guarantee is tight, more for those that descend without
// any weight, λᵢ = 0. Below: how far the worst slack falls below 0, and how far complementary slackness is from holding, on a
// logarithmic axis whose lower end stands for 0. At most some 250 points remain: above the mean of their steps, below the worst.
func Certificates(records []results.Record) (*Figure, error) {
	kept, err := withCertificate(records)
	if err != nil {
		return nil, err
	}
	bucket := bucketOf(kept)
	slack := streamPlot(kept, bucket, "slack, relative", relativeSlacks)
	slack.Y.Max = max(slack.Y.Max, 0.01) // rounding is not to fill the plot
	return overSteps(kept, layout{name: "certificates", data: recordTable(kept), height: 320,
		key: slices.Concat(streamsOf(kept...).key(), proofKey(), bucketKey(bucket)),
		alt: fmt.Sprintf("Slack of each stream over %d steps, and its worst breach.", len(kept)),
	}, slack, proofPlot(kept, bucket))
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

// overSteps puts panels over the same steps below each other; the last one names the steps.
func overSteps(records []results.Record, l layout, plots ...*Plot) (*Figure, error) {
	var rows [][]*Plot
	share := slices.Repeat([]float64{1}, len(plots))
	for i, p := range plots {
		p.X.Min, p.X.Max = float64(records[0].Step), float64(records[len(records)-1].Step)
		if i < len(plots)-1 {
			p.X.Label.Text = ""
			p.X.Tick.Marker = withoutLabels{p.X.Tick.Marker}
		} else {
			share[i] = 1.15
		}
		rows = append(rows, []*Plot{p})
	}
	l.share = share
	return figureOf(l, rows...)
}

const exactFloor = -18 // the exponent under which a breach is drawn as 0

// proofKey explains the worst slack, the gap and the tolerance.
func proofKey() []keyEntry {
	return []keyEntry{
		{label: "worst slack below 0, relative", glyph: draw.GlyphStyle{Color: ink, Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}},
		{label: "Σλ|slack|, relative", glyph: draw.GlyphStyle{Color: muted, Radius: vg.Points(1.8), Shape: draw.RingGlyph{}}},
		{label: "tolerance 1e-9", line: lineStyle(hues[0], 1, 4, 2)},
	}
}

// proofPlot draws the worst breach and gap of each bucket by their exponents.
func proofPlot(records []results.Record, bucket int) *Plot {
	var breach, gap plotter.XYs
	limit := math.Log10(tolerance)
	high := limit + 1
	for chunk := range slices.Chunk(records, bucket) {
		b, g := 0.0, 0.0
		for i := range chunk {
			b = max(b, -relativeSlack(&chunk[i]))
			g = max(g, chunk[i].Gap)
		}
		x := float64(chunk[0].Step+chunk[len(chunk)-1].Step) / 2
		breach = append(breach, plotter.XY{X: x, Y: exponent(b)})
		gap = append(gap, plotter.XY{X: x, Y: exponent(g)})
		high = max(high, exponent(b)+1, exponent(g)+1)
	}
	p, key := NewPlot("", "optimiser step", "breach, relative"), proofKey()
	p.level(key[2].label, key[2].line, breach[0].X, breach[len(breach)-1].X, limit)
	p.scatter(key[1].label, key[1].glyph, gap)
	p.scatter(key[0].label, key[0].glyph, breach)
	p.Y.Min, p.Y.Max = exactFloor-0.5, high
	p.Y.Tick.Marker = powerTicks{floor: exactFloor}
	return p
}

func exponent(x float64) float64 {
	if !(x > 0) {
		return exactFloor
	}
	return math.Max(exactFloor, math.Log10(x))
}

// streamPlot draws a quantity of each stream over the steps.
func streamPlot(records []results.Record, bucket int, label string, values func(*results.Record) []float64) *Plot {
	p := NewPlot("", "optimiser step", label)
	lines, rows := map[int]streamLine{}, streamsOf(records...)
	for i := range records {
		vs := values(&records[i])
		for j, id := range records[i].IDs {
			if lines[id] == nil {
				lines[id] = streamLine{}
			}
			if !math.IsNaN(vs[j]) {
				lines[id].add(i/bucket, float64(records[i].Step), vs[j])
			}
		}
	}
	for _, id := range rows.ids {
		if len(lines[id]) > 0 {
			xys := lines[id].points()
			p.line(rows.name(id), rows.style(id), xys)
			p.ends = append(p.ends, keyEntry{label: rows.name(id), end: xys[len(xys)-1]})
		}
	}
	p.Y.Min, p.Y.Max = min(0, 1.05*p.Y.Min), max(0, 1.05*p.Y.Max)
	return p
}

// streamLine gathers values into buckets of steps: in each the sums of x and y, and their number.
type streamLine map[int]*[3]float64

func (l streamLine) add(bucket int, x, y float64) {
	if l[bucket] == nil {
		l[bucket] = new([3]float64)
	}
	s := l[bucket]
	s[0], s[1], s[2] = s[0]+x, s[1]+y, s[2]+1
}

// points are the means of the buckets.
func (l streamLine) points() (xys plotter.XYs) {
	for _, bucket := range sortedKeys(l) {
		s := l[bucket]
		xys = append(xys, plotter.XY{X: s[0] / s[2], Y: s[1] / s[2]})
	}
	return xys
}

// StreamWeights draws each stream's weight over the steps: for EMGD methods its elastic factor σ, the share that it is
// guaranteed, and the weight λ that this took; for all methods the applied weight w, if it is not λ itself. At most some 250
// points remain, the means of their steps. tasks names the tasks, from 1; those without a name go by their number.
func StreamWeights(records []results.Record, tasks ...string) (*Figure, error) {
	if err := checkRecords(records); err != nil {
		return nil, err
	}
	certificates, rescaled := true, false
	for i := range records {
		r := &records[i]
		if len(r.Weights) != len(r.IDs) {
			return nil, fmt.Errorf("viz: the record of step %d has %d weights for %d streams", r.Step, len(r.Weights), len(r.IDs))
		}
		certificates = certificates && len(r.Lambda) == len(r.IDs) && len(r.Sigma) == len(r.IDs)
		rescaled = rescaled || !slices.Equal(r.Weights, r.Lambda)
	}
	bucket := bucketOf(records)
	var plots []*Plot
	if certificates {
		plots = append(plots,
			streamPlot(records, bucket, "elastic factor σ", func(r *results.Record) []float64 { return r.Sigma }),
			streamPlot(records, bucket, "weight λ", func(r *results.Record) []float64 { return r.Lambda }))
	}
	if rescaled || !certificates {
		plots = append(plots, streamPlot(records, bucket, "applied weight w", func(r *results.Record) []float64 { return r.Weights }))
	}
	for _, p := range plots {
		if len(p.ends) <= 12 { // colours alone would not tell streams apart
			p.namesBeside(p.ends)
		}
	}
	rows := streamsOf(records...)
	rows.named = tasks
	return overSteps(records, layout{name: "stream-weights", data: recordTable(records), height: vg.Length(40 + 140*len(plots)),
		key: append(rows.key(), bucketKey(bucket)...),
		alt: fmt.Sprintf("Weights of each stream over %d steps.", len(records)),
	}, plots...)
}
