package method

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
)

// several is a step with memory rows 0, −1, … and its tasks; cross products are those of two halves
// of each row.
type several struct {
	memory int
	rows   [][]float64
	halves [2][][]float64
	losses []float64
}

func drawSeveral(r *rand.Rand, memory, tasks, n int) several {
	s := several{memory: memory, halves: [2][][]float64{gaussian(r, memory+tasks, n), gaussian(r, memory+tasks, n)}}
	for i := range memory + tasks {
		row := make([]float64, n)
		add(row, 0.5, s.halves[0][i])
		add(row, 0.5, s.halves[1][i])
		s.rows = append(s.rows, row)
		s.losses = append(s.losses, 0.1+3*r.Float64())
	}
	return s
}

func (s several) step(seed uint64) *Step {
	out := sample{rows: s.rows, losses: s.losses}.step(seed)
	out.Cross = products(s.halves[0], s.halves[1])
	for i := range out.IDs {
		if out.IDs[i] = i - s.memory + 1; i < s.memory {
			out.IDs[i] = -i
		}
	}
	return out
}

// summed adds the memory's rows up.
func (s several) summed() several {
	return several{
		memory: 1, rows: s.joined(s.rows), halves: [2][][]float64{s.joined(s.halves[0]), s.joined(s.halves[1])},
		losses: append([]float64{total(s.losses[:s.memory])}, s.losses[s.memory:]...),
	}
}

func (s several) joined(rows [][]float64) [][]float64 {
	sum := make([]float64, len(rows[0]))
	for _, row := range rows[:s.memory] {
		add(sum, 1, row)
	}
	return append([][]float64{sum}, rows[s.memory:]...)
}

func products(a, b [][]float64) (out []float64) {
	for _, x := range a {
		for _, y := range b {
			out = append(out, inner(x, y))
		}
	}
	return out
}

// joining is the rule in a composition that shows it the memory's rows as one.
func joining(t *testing.T, name string) *Composition {
	t.Helper()
	rule := build(t, name, nil)
	if c, ok := rule.(*Composition); ok {
		rule = c.rule
	}
	return &Composition{rule: rule, setup: setup{begun: true}, sum: summed{rows: true, penalty: true}}
}

// watched copies the rows that a rule sees.
type watched struct {
	Method
	rows []float64
}

func (m *watched) Weights(s *Step, w []float64) (Outcome, error) {
	m.rows = slices.Concat(s.Rows...)
	return m.Method.Weights(s, w)
}

// TestSummed: in three steps of every rule, with one to three memory rows, the step that the rule
// sees and the direction that comes of it are those of the rule on rows that were added up
// beforehand.
func TestSummed(t *testing.T) {
	eachMethod(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(21, 4))
		for range 12 {
			memory, tasks := 1+r.IntN(3), r.IntN(5)
			c := joining(t, name)
			plain := joining(t, name).rule
			rule := &watched{Method: c.rule}
			c.rule = rule
			seen := c.Needs()
			for round := range uint64(3) {
				given := drawSeveral(r, memory, tasks, memory+tasks+2)
				want := given.summed()
				in, sum := given.step(round), want.step(round)
				w, own := make([]float64, in.k()), make([]float64, sum.k())
				out := must.Get(c.Weights(in, w))(t)
				ref := must.Get(plain.Weights(sum, own))(t)
				if memory == 1 {
					switch {
					case out.Summed != nil:
						t.Fatalf("one memory row: out.Summed is %v; want nil", out.Summed)
					case !slices.Equal(w, own):
						t.Fatalf("one memory row: w is %v; want %v", w, own)
					case !slices.Equal(out.Direction, ref.Direction):
						t.Fatalf("one memory row: out.Direction is %v; want %v", out.Direction, ref.Direction)
					}
					continue
				}
				got := c.sum.step
				for what, pair := range map[string]struct {
					needs     bool
					got, want []float64
				}{
					"Gram":   {seen.Gram, got.Gram, gramOf(want.rows)},
					"Cross":  {seen.Cross, got.Cross, sum.Cross},
					"losses": {seen.Losses, got.Losses, want.losses},
					"rows":   {seen.Rows, rule.rows, slices.Concat(want.rows...)},
				} {
					if !pair.needs {
						pair.want = nil
					}
					if len(pair.got) != len(pair.want) || !near(pair.got, pair.want, 1e-12) {
						t.Fatalf("%d memory rows: the rule sees the %s %v, want %v", memory, what, pair.got, pair.want)
					}
				}
				switch j := out.Summed; {
				case !slices.Equal(j.IDs, sum.IDs):
					t.Fatalf("j.IDs is %v; want %v", j.IDs, sum.IDs)
				case !slices.Equal(j.Losses, got.Losses):
					t.Fatalf("j.Losses is %v; want %v", j.Losses, got.Losses)
				case !slices.Equal(j.Gram, got.Gram):
					t.Fatalf("j.Gram is %v; want %v", j.Gram, got.Gram)
				}
				if slices.ContainsFunc(got.Rows, func(row []float64) bool { return row != nil }) {
					t.Fatal("it keeps the caller's rows")
				}
				if !near(out.Summed.Weights, own, 1e-8) {
					t.Fatalf("w′ = %v, want %v", out.Summed.Weights, own)
				}
				for i := range w {
					if to := max(i-memory+1, 0); w[i] != out.Summed.Weights[to] {
						t.Fatalf("w = %v is not Sᵀw′ for w′ = %v", w, out.Summed.Weights)
					}
				}
				d, e := out.Direction, ref.Direction
				if d == nil {
					d, e = direction(given.rows, w), direction(want.rows, own)
				}
				if !near(d, e, 1e-8) {
					t.Fatalf("%d memory rows and %d tasks: d = %v, want %v", memory, tasks, d, e)
				}
			}
		}
	})
}

// TestSummedDrops: where the memory's rows cancel, all of them are left out; a task that is left
// out is named alone.
func TestSummedDrops(t *testing.T) {
	for _, c := range []struct {
		rows    [][]float64
		dropped []int
	}{
		{[][]float64{{0, 0}, {0, 0}, {1, 2}, {2, 1}}, []int{0, -1}},
		{[][]float64{{3, .1}, {-3, -.1}, {1, 2}, {2, 1}}, []int{0, -1}},
		{[][]float64{{3, .1}, {0, 0}, {1, 2}, {2, 1}}, nil},
		{[][]float64{{3, .1}, {1, 0}, {0, 0}, {2, 1}}, []int{1}},
		{[][]float64{{3, .1}, {-3, -.1}, {0, 0}, {2, 1}}, []int{1, 0, -1}},
	} {
		for _, name := range []string{"mgda", "emgd-gmc", "emgd-gs", "upgrad", "aligned-mtl"} {
			s := several{memory: 2, rows: c.rows, halves: [2][][]float64{c.rows, c.rows}, losses: []float64{1, 1, 1, 1}}.step(1)
			w, out := outcome(t, joining(t, name), s)
			if !slices.Equal(slices.Sorted(slices.Values(out.Dropped)), slices.Sorted(slices.Values(c.dropped))) {
				t.Errorf("%s on %v drops %v, want %v", name, c.rows, out.Dropped, c.dropped)
			}
			for i, id := range s.IDs {
				if slices.Contains(c.dropped, id) && w[i] != 0 {
					t.Errorf("%s on %v: row %d was dropped and has weight %g", name, c.rows, id, w[i])
				}
			}
		}
	}
}

// TestSummedCancels: memory rows that nearly cancel leave a Gram matrix of rounding errors, on
// which no rule fails.
func TestSummedCancels(t *testing.T) {
	eachMethod(t, func(t *testing.T, name string) {
		r := rand.New(rand.NewPCG(22, 4))
		negative := 0
		for i := range 100 {
			given := drawSeveral(r, 3, 2, 6)
			scaled(given.rows[:3], math.Pow(10, float64(i%7)))
			rest := math.Pow(10, -float64(4+i%13))
			for p := range given.rows[2] {
				given.rows[2][p] = -given.rows[0][p] - given.rows[1][p] + rest*given.rows[2][p]
			}
			given.halves = [2][][]float64{given.rows, given.rows}
			s := given.step(1)
			if own := s.Gram; total(own[:3])+total(own[5:8])+total(own[10:13]) < 0 {
				negative++
			}
			w := make([]float64, s.k())
			out, err := joining(t, name).Weights(s, w)
			if err != nil {
				t.Fatalf("what is left is %g: %v", rest, err)
			}
			for _, x := range slices.Concat(w, out.Direction) {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("what is left is %g: weights %v, direction %v", rest, w, out.Direction)
				}
			}
		}
		if negative < 10 {
			t.Errorf("only %d squared lengths came out negative, so that little was tested", negative)
		}
	})
}

// TestSummedRefuses sums that no gradients have.
func TestSummedRefuses(t *testing.T) {
	good := several{memory: 2, rows: [][]float64{{1, 0}, {0, 1}, {1, 1}}, losses: []float64{1, 1, 1}}
	good.halves = [2][][]float64{good.rows, good.rows}
	for what, spoil := range map[string]func(s *Step){
		"a negative sum":    func(s *Step) { s.Gram[1], s.Gram[3] = -2, -2 },
		"a long projection": func(s *Step) { s.Gram[2], s.Gram[6] = 5, 5 },
	} {
		t.Run(what, func(t *testing.T) {
			s := good.step(1)
			spoil(s)
			if _, err := try(joining(t, "emgd-gmc"), s); err == nil {
				t.Error("no error")
			}
		})
	}
	s := good.step(1)
	s.Gram, s.Rows, s.Cross = s.Gram[:2], s.Rows[:1], nil
	if w, err := try(joining(t, "avggrad"), s); err != nil || !slices.Equal(w, []float64{.5, .5, .5}) {
		t.Errorf("fields that the rule does not read: %v (%v)", w, expect.Text(err))
	}
}
