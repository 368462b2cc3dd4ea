package viz

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/parallelcl/parallelcl/internal/plural"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// Certificates draws the certificates of the steps of an EMGD run (docs/method.md §2.5). The upper
// plot has each stream's slack, its gain beyond the guaranteed share, (Jᵢ·d − σᵢ‖d‖²)/(‖Jᵢ‖‖d‖ +
// σᵢ‖d‖²): it is 0 where the guarantee is tight, and positive for streams that descend without a
// weight (λᵢ = 0). The lower plot has the worst violation of the guarantee and of complementary
// slackness, on a logarithmic axis whose lower end stands for 0. At most about 250 points are
// drawn: the means of their steps above, the worst below. tasks has the names of the tasks, as for
// [StreamWeights].
func Certificates(records []results.Record, tasks ...string) (*Figure, error) {
	kept := slices.DeleteFunc(slices.Clone(records), func(r results.Record) bool { return !certified(&r) })
	if len(kept) == 0 {
		return nil,
			errors.New("viz: no record holds a certificate (λ, σ, slacks and the Gram matrix); record a run of an EMGD method")
	}
	s, err := streamsOf(kept, tasks...)
	if err != nil {
		return nil, err
	}
	slack, _ := s.plot("slack, relative", relativeSlacks)
	slack.Y.Max = max(slack.Y.Max, 0.01) // rounding is not to fill the plot
	return s.overSteps(Figure{Name: "certificates", Height: 320, Key: append(s.key(), proofKey()...),
		Alt: fmt.Sprintf("Slack of each stream over %s, and its worst breach.", plural.Of(len(kept), "step")),
	}, slack, s.proof())
}

// StreamWeights draws the weight of each stream over the steps. For EMGD methods these are its
// elastic factor σ, the share that the stream is guaranteed, and the weight λ that achieves it; for
// all methods the applied weight w, unless it equals λ. Weights of very different sizes stand on an
// axis of powers of ten. At most about 250 points are drawn, each the mean of its steps. tasks has
// the names of the tasks, from task 1 on; a task without a name is shown by its number.
func StreamWeights(records []results.Record, tasks ...string) (*Figure, error) {
	s, err := streamsOf(records, tasks...)
	if err != nil {
		return nil, err
	}
	certificates, rescaled := true, false
	for _, r := range records {
		if len(r.Weights) != len(r.IDs) {
			return nil, fmt.Errorf("viz: the record of step %d has %d weights for %d streams", r.Step, len(r.Weights),
				len(r.IDs))
		}
		certificates = certificates && len(r.Lambda) == len(r.IDs) && len(r.Sigma) == len(r.IDs)
		rescaled = rescaled || !slices.Equal(r.Weights, r.Lambda)
	}
	var plots []*Plot
	add := func(label string, values func(*results.Record) []float64) {
		p, few := s.plot(label, values)
		if few {
			p.LabelPoints() // colours alone would not tell streams apart
		}
		plots = append(plots, p)
	}
	if certificates {
		add("elastic factor σ", func(r *results.Record) []float64 { return r.Sigma })
		add("weight λ", func(r *results.Record) []float64 { return r.Lambda })
	}
	if rescaled || !certificates {
		add("applied weight w", func(r *results.Record) []float64 { return r.Weights })
	}
	return s.overSteps(Figure{Name: "stream-weights", Height: vg.Length(40 + 140*len(plots)), Key: s.key(),
		Alt: fmt.Sprintf("Weights of each stream over %s.", plural.Of(len(records), "step")),
	}, plots...)
}

// bucket is the number of steps gathered into a point.
func (s *streams) bucket() int { return (len(s.records) + 249) / 250 }

// plot draws a quantity of each stream over the steps, the mean of those gathered into a point, and
// says whether there are few lines.
func (s *streams) plot(label string, values func(*results.Record) []float64) (p *Plot, few bool) {
	p = NewPlot("", "optimiser step", label)
	p.HideLabels()
	lines := map[int]plotter.XYs{}
	for chunk := range slices.Chunk(s.records, s.bucket()) {
		x, y := map[int][]float64{}, map[int][]float64{}
		for i := range chunk {
			for j, v := range values(&chunk[i]) {
				if id := chunk[i].IDs[j]; !math.IsNaN(v) {
					x[id], y[id] = append(x[id], float64(chunk[i].Step)), append(y[id], v)
				}
			}
		}
		for id := range x {
			lines[id] = append(lines[id], plotter.XY{X: stat.Mean(x[id], nil), Y: stat.Mean(y[id], nil)})
		}
	}
	floor, wide := powersOf(lines)
	for _, id := range s.ids {
		if len(lines[id]) > 0 {
			for i := range lines[id] {
				if y := &lines[id][i].Y; wide {
					*y = max(floor, math.Log10(max(*y, 0)))
				}
			}
			p.Add(&Curve{Label: s.name(id), Style: s.style(id), XY: lines[id]})
		}
	}
	if wide {
		p.Y.Min, p.Y.Max, p.Y.Tick.Marker = floor-0.1, p.Y.Max+0.2, PowerTicks{Zero: floor}
		return p, len(lines) <= 12
	}
	p.Y.Min, p.Y.Max = min(0, 1.05*p.Y.Min), max(0, 1.05*p.Y.Max)
	return p, len(lines) <= 12
}

// powersOf says whether lines need an axis of powers of ten, since most values would lie at the
// foot of another, and returns the exponent that stands for 0 there.
func powersOf(lines map[int]plotter.XYs) (floor float64, wide bool) {
	var values []float64
	for _, line := range lines {
		for _, at := range line {
			if at.Y < 0 {
				return 0, false
			}
			if at.Y > 0 {
				values = append(values, at.Y)
			}
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	most := *last(values)
	floor = math.Floor(math.Log10(max(values[len(values)/20], most/1e6))) - 1
	return floor, most > 100*values[len(values)/2]
}

// overSteps puts panels over the same steps below each other; the last one names the steps.
func (s *streams) overSteps(f Figure, plots ...*Plot) (*Figure, error) {
	f.Data, f.HeightRatios = s.table(), slices.Repeat([]float64{1}, len(plots))
	if n := s.bucket(); n > 1 {
		f.Key = append(f.Key, KeyEntry{Label: fmt.Sprintf("(%d steps a point)", n)})
	}
	var rows [][]*Plot
	for i, p := range plots {
		p.X.Min, p.X.Max = float64(s.records[0].Step), float64(s.records[len(s.records)-1].Step)
		if i < len(plots)-1 {
			p.X.Label.Text = ""
			p.X.Tick.Marker = withoutLabels{p.X.Tick.Marker}
		} else {
			f.HeightRatios[i] = 1.15
		}
		rows = append(rows, []*Plot{p})
	}
	return NewFigure(f, rows...)
}

const exactFloor = -18 // the exponent under which a breach is drawn as 0

// proofKey explains the worst slack, the gap and the tolerance.
func proofKey() []KeyEntry {
	return []KeyEntry{
		{Label: "worst slack below 0, relative",
			Glyph: draw.GlyphStyle{Color: Ink, Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}},
		{Label: "Σλ|slack|, relative",
			Glyph: draw.GlyphStyle{Color: Muted, Radius: vg.Points(1.8), Shape: draw.RingGlyph{}}},
		{Label: "tolerance 1e-9", Line: lineStyle(SeriesColor(0), 1, 4, 2)},
	}
}

// proof draws the worst breach and gap of each point by their exponents.
func (s *streams) proof() *Plot {
	var breach, gap plotter.XYs
	limit := math.Log10(tolerance)
	high := limit + 1
	for chunk := range slices.Chunk(s.records, s.bucket()) {
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
	p.HideLabels()
	ends := plotter.XYs{{X: breach[0].X, Y: limit}, {X: last(breach).X, Y: limit}}
	p.Add(Named(Series{KeyEntry: KeyEntry{Label: key[2].Label}, Values: ends},
		&plotter.Line{XYs: ends, LineStyle: key[2].Line}))
	p.Add(scattered(key[1], gap), scattered(key[0], breach))
	p.Y.Min, p.Y.Max = exactFloor-0.5, high
	p.Y.Tick.Marker = PowerTicks{Zero: exactFloor}
	return p
}

// scattered is a series of the marker that a key entry explains.
func scattered(key KeyEntry, xys plotter.XYs) Plotter {
	return Named(Series{KeyEntry: key, Values: xys}, &plotter.Scatter{XYs: xys, GlyphStyle: key.Glyph})
}

func exponent(x float64) float64 {
	if !(x > 0) {
		return exactFloor
	}
	return math.Max(exactFloor, math.Log10(x))
}
