package pcl

import (
	"fmt"
	"math"
	"slices"
)

// Edit describes memory editing (docs/method.md §3): after each update, the memory's samples that took part in
// the step are changed themselves, by a gradient step on φ(x) = ‖∇ℓ(x) − D‖². Here x are a sample's pixels and
// D = Σ λᵢ∇ℓᵢ is the direction of the update; both gradients are taken over the backbone's parameters. The zero
// value turns editing off. An empty field of Mode, Norm, Aim, Target or At stands for its first choice.
type Edit struct {
	// Eta is the step size η, in units in which pixels lie in [0,1]; 0 turns editing off.
	Eta    float64    `json:"eta,omitempty" toml:"eta"`
	Mode   EditMode   `json:"mode,omitempty" toml:"mode"`
	Norm   EditNorm   `json:"norm,omitempty" toml:"norm"`
	Aim    EditAim    `json:"aim,omitempty" toml:"aim"`
	Target EditTarget `json:"target,omitempty" toml:"target"`
	At     EditAt     `json:"at,omitempty" toml:"at"`
	// Every is how many steps pass from one edit to the next: 1 edits in every step, and so does 0.
	Every int `json:"every,omitempty" toml:"every"`
	// MaxDrift is the most that any pixel may differ from the original, ‖x − x_original‖∞; 0 means no limit.
	MaxDrift float64 `json:"max_drift,omitempty" toml:"max_drift"`
	// Unclamped allows pixels outside [0,1].
	Unclamped bool `json:"unclamped,omitempty" toml:"unclamped"`
}

// EditMode says which loss it is whose gradient ∇ℓ an edit moves towards D.
type EditMode string

const (
	// EditBatch takes the mean loss of the batch: one gradient for all its samples.
	EditBatch EditMode = "batch"
	// EditPerSample takes each sample's own loss (Algorithm 1 read literally). It costs a gradient and an edit
	// gradient for every sample.
	EditPerSample EditMode = "per_sample"
)

// EditNorm says how the gradient ∇φ of a sample is normalised before the sample is moved along it.
type EditNorm string

const (
	EditRMS EditNorm = "rms" // scaled to a root mean square of 1
	EditL2  EditNorm = "l2"  // scaled to a length of 1
	EditRaw EditNorm = "raw" // not normalised
)

// EditAim says in which direction an edit moves a sample's gradient ∇ℓ.
type EditAim string

const (
	EditToward  EditAim = "toward"  // towards D: φ decreases
	EditLiteral EditAim = "literal" // Eq. 12 as printed in the paper, which leads towards −D
	EditAscend  EditAim = "ascend"  // away from D: φ increases
)

// EditTarget says what D is.
type EditTarget string

const (
	EditTowardD    EditTarget = "d"    // the direction of the update, Σ λᵢ∇ℓᵢ
	EditTowardMean EditTarget = "mean" // that direction divided by |Σ λᵢ|, or D where that sum is 0 but for rounding
)

// EditAt says at which parameters θ the gradients of an edit are taken.
type EditAt string

const (
	EditBefore EditAt = "pre"  // those before the update
	EditAfter  EditAt = "post" // those after the update
)

// On reports whether memory editing is turned on.
func (e Edit) On() bool { return e.Eta > 0 }

func (e Edit) withDefaults() Edit {
	e.Mode = orFirst(e.Mode, EditBatch)
	e.Norm = orFirst(e.Norm, EditRMS)
	e.Aim = orFirst(e.Aim, EditToward)
	e.Target = orFirst(e.Target, EditTowardD)
	e.At = orFirst(e.At, EditBefore)
	if e.Every == 0 {
		e.Every = 1
	}
	return e
}

func orFirst[T ~string](x, first T) T {
	if x == "" {
		return first
	}
	return x
}

// Validate returns an error that names the first setting that is not allowed.
func (e Edit) Validate() error {
	for _, err := range []error{
		oneOf("mode", e.Mode, EditBatch, EditPerSample), oneOf("norm", e.Norm, EditRMS, EditL2, EditRaw),
		oneOf("aim", e.Aim, EditToward, EditLiteral, EditAscend), oneOf("target", e.Target, EditTowardD, EditTowardMean),
		oneOf("at", e.At, EditBefore, EditAfter),
	} {
		if err != nil {
			return err
		}
	}
	switch {
	case !(e.Eta >= 0) || math.IsInf(e.Eta, 1):
		return fmt.Errorf("edit eta %g must be a number from 0 on", e.Eta)
	case e.Every < 0:
		return fmt.Errorf("edit every %d steps; want 1 or more", e.Every)
	case !(e.MaxDrift >= 0) || math.IsInf(e.MaxDrift, 1):
		return fmt.Errorf("edit max_drift %g must be a number from 0 on", e.MaxDrift)
	}
	return nil
}

func oneOf[T ~string](name string, x T, choices ...T) error {
	if x == "" || slices.Contains(choices, x) {
		return nil
	}
	return fmt.Errorf("edit %s %q is none of %q", name, x, choices)
}
