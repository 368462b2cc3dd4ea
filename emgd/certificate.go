package emgd

import (
	"fmt"
	"math"
	"slices"
)

// Status says how a solve ended.
type Status int

const (
	// Optimal: d ≠ 0 and the optimality conditions hold.
	Optimal Status = iota
	// Stationary: the optimum is d = 0, the point is Pareto critical.
	Stationary
	// FloorBinding: optimal, with at least one weight at the floor.
	FloorBinding
	// FloorInfeasible: no λ ≥ floor has Σλ_iσ_i = 1; equal weights 1/Σσ were returned.
	FloorInfeasible
	// IllConditioned: some gradients are combinations of others to nearly the precision of M; the
	// conditions hold to Violation and not to 1e-9. It is below 1e-6, and mostly below 1e-7, unless d
	// is itself on the verge of Stationary.
	IllConditioned
	// IterationLimit: the iteration bound was reached; Violation and Gap say how far the weights are
	// from optimal.
	IterationLimit
)

var statusNames = []string{"optimal", "stationary", "floor-binding", "floor-infeasible", "ill-conditioned", "iteration-limit"}

var statusMessages = []string{
	"optimal: the step decreases every loss in proportion to at least its elastic factor",
	"Pareto critical: some weighting of the gradients cancels them, so no direction decreases every loss; the shared parameters stay, private ones may still move; if this lasts although losses are high, try larger batches, or drop converged streams",
	"optimal with some weights at the floor: streams at the floor may lose their guaranteed share; lower the floor to get the guarantee back",
	"the floor is too high: λ ≥ floor and Σλσ = 1 contradict each other, so equal weights were used; choose a floor below 1/Σσ",
	"optimal up to the stated violation: some gradients repeat or cancel each other to nearly the precision of the Gram matrix; harmless unless it lasts; if it does, check for streams that share their data, and accumulate the Gram matrix in float64",
	"the iteration bound was reached before the optimality conditions held to rounding; see the violation; if it is large, check that the Gram matrix was accumulated in float64",
}

// String returns the short name, e.g. "optimal".
func (s Status) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("Status(%d)", int(s))
	}
	return statusNames[s]
}

// Message says in a sentence what the status means and what to try.
func (s Status) Message() string {
	if s < 0 || int(s) >= len(statusMessages) {
		return s.String()
	}
	return statusMessages[s]
}

// MarshalText writes the short name.
func (s Status) MarshalText() ([]byte, error) {
	if s < 0 || int(s) >= len(statusNames) {
		return nil, fmt.Errorf("emgd: unknown status %d", int(s))
	}
	return []byte(statusNames[s]), nil
}

// UnmarshalText reads a short name.
func (s *Status) UnmarshalText(text []byte) error {
	i := slices.Index(statusNames, string(text))
	if i < 0 {
		return fmt.Errorf("emgd: unknown status %q", text)
	}
	*s = Status(i)
	return nil
}

// Certificate holds the weights of one solve and the proof of their optimality (METHODS §5.1). All
// slices have one entry per gradient, in the order of the Gram matrix.
//
// The proof: λ ≥ floor, Σλ_iσ_i = 1, every slack is ≥ 0, and a slack is 0 where λ_i is above the
// floor. Rounding is judged row by row against scale_i = ‖J_i‖‖d‖ + σ_i·max(‖d‖², |Level|).
type Certificate struct {
	// Lambda are the weights λ_i of d = Σ λ_i J_i.
	Lambda []float64 `json:"lambda"`
	// Sigma are the elastic factors as given.
	Sigma []float64 `json:"sigma"`
	// Slacks are J_i·d − σ_i·Level: what stream i gains beyond its guaranteed share.
	Slacks []float64 `json:"slacks"`
	// Norm2 is ‖d‖²; 0 if Stationary.
	Norm2 float64 `json:"norm2"`
	// Level is the common J_i·d/σ_i of the active rows: ‖d‖² unless a floor binds.
	Level float64 `json:"level"`
	// Violation is the worst breach of the conditions: the largest of −slack_i/scale_i, and of
	// |slack_i|/scale_i over active rows. 0 if Stationary.
	Violation float64 `json:"violation"`
	// Gap is the duality gap Σ(λ_i−floor)|slack_i| relative to Σ(λ_i−floor)·scale_i.
	Gap float64 `json:"gap"`
	// Cancellation is ‖d‖/Σλ_i‖J_i‖ as computed: 1 when all active gradients agree. Below about
	// 1e-6 it cannot be told from 0 in float64, and the status is Stationary.
	Cancellation float64 `json:"cancellation"`
	// Floor is the floor on λ.
	Floor float64 `json:"floor"`
	// Active lists the rows with λ_i above the floor.
	Active []int `json:"active"`
	// Dropped lists the rows left out because their gradient is zero next to the others; λ_i = 0.
	Dropped []int `json:"dropped,omitempty"`
	// Iterations counts changes of the active set; 0 for closed forms.
	Iterations int    `json:"iterations"`
	Status     Status `json:"status"`
}

// Clone returns a copy that stays valid after the solver's next call.
func (c *Certificate) Clone() *Certificate {
	d := *c
	d.Lambda, d.Sigma, d.Slacks = slices.Clone(c.Lambda), slices.Clone(c.Sigma), slices.Clone(c.Slacks)
	d.Active, d.Dropped = slices.Clone(c.Active), slices.Clone(c.Dropped)
	return &d
}

// Verify checks the certificate against the Gram matrix it was made from, independently of how it
// was computed, with a tolerance tol relative to scale_i (1e-9 is a good choice). It returns nil if
// the certificate proves what its status says, and otherwise says which condition fails.
func (c *Certificate) Verify(gram []float64, tol float64) error {
	k := len(c.Lambda)
	if len(c.Sigma) != k || len(c.Slacks) != k {
		return fmt.Errorf("emgd: certificate with %d weights, %d factors and %d slacks", k, len(c.Sigma), len(c.Slacks))
	}
	if err := checkGram(gram, k); err != nil {
		return err
	}
	if err := checkSigma(c.Sigma, k); err != nil {
		return err
	}
	if c.Status == FloorInfeasible || c.Status == IterationLimit {
		return fmt.Errorf("emgd: the certificate proves nothing: %s", c.Status.Message())
	}
	sum, size := 0.0, 0.0
	for i, l := range c.Lambda {
		if !(l >= 0) || l < c.Floor*(1-tol) && !slices.Contains(c.Dropped, i) {
			return fmt.Errorf("emgd: weight λ_%d = %v is below the floor %v", i, l, c.Floor)
		}
		sum += l * c.Sigma[i]
		size += l * math.Sqrt(gram[i*k+i])
	}
	if !(math.Abs(sum-1) <= tol) {
		return fmt.Errorf("emgd: Σλ_iσ_i = %v; want 1", sum)
	}
	return c.verifySlacks(gram, tol, size)
}

func (c *Certificate) verifySlacks(gram []float64, tol, size float64) error {
	k := len(c.Lambda)
	norm2 := 0.0
	gain := make([]float64, k)
	for i := range k {
		for j, l := range c.Lambda {
			gain[i] += gram[i*k+j] * l
		}
		norm2 += gain[i] * c.Lambda[i]
	}
	norm := math.Sqrt(max(norm2, 0))
	if c.Status == Stationary {
		if !(norm <= 2*stationary(k)*size) {
			return fmt.Errorf("emgd: ‖d‖ = %v next to Σλ_i‖J_i‖ = %v is not stationary", norm, size)
		}
		return nil
	}
	for i, l := range c.Lambda {
		if slices.Contains(c.Dropped, i) {
			continue
		}
		scale := math.Sqrt(gram[i*k+i])*norm + c.Sigma[i]*max(norm2, math.Abs(c.Level))
		slack := gain[i] - c.Sigma[i]*c.Level
		if slack < -tol*scale {
			return fmt.Errorf("emgd: J_%d·d = %v is less than σ_%d·level = %v", i, gain[i], i, c.Sigma[i]*c.Level)
		}
		if slack > tol*scale && l > c.Floor*(1+tol) && slices.Contains(c.Active, i) {
			return fmt.Errorf("emgd: row %d is active (λ = %v) but its slack %v is not 0", i, l, slack)
		}
	}
	if c.Floor == 0 && !(math.Abs(norm2-c.Level) <= tol*(norm2+size*norm)) {
		return fmt.Errorf("emgd: level %v is not ‖d‖² = %v", c.Level, norm2)
	}
	return nil
}
