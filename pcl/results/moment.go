package results

import (
	"fmt"
	"math"
)

// Moment summarises a quantity without keeping its values.
type Moment struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	M2   float64 `json:"m2"` // Σ(x−mean)²
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
}

// Add takes in one observation (Welford).
func (m *Moment) Add(x float64) {
	if m.N == 0 {
		m.Min, m.Max = x, x
	}
	m.N++
	delta := x - m.Mean
	m.Mean += delta / float64(m.N)
	m.M2 += delta * (x - m.Mean)
	m.Min, m.Max = min(m.Min, x), max(m.Max, x)
}

// MomentOf summarises numbers.
func MomentOf(values ...float64) Moment {
	var m Moment
	for _, x := range values {
		m.Add(x)
	}
	return m
}

// String is the mean and the population standard deviation, such as "59.6 ± 0.3"; of nothing it is
// a dash.
func (m Moment) String() string {
	if m.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f ± %.1f", m.Mean, m.Std())
}

// Std is the population standard deviation.
func (m Moment) Std() float64 {
	if m.N == 0 {
		return 0
	}
	return math.Sqrt(m.M2 / float64(m.N))
}
