package pcl

import (
	"fmt"
	"math"
	"slices"
)

// Edit describes memory editing (docs/method.md §3): after each step the memory's samples x of the step move
// by a gradient step on φ(x) = ‖∇ℓ(x) − D‖², D = Σ λᵢ∇ℓᵢ the direction of the step, both over the
// backbone. The zero value edits nothing; empty fields stand for the first of the choices.
type Edit struct {
	// Eta is the step size η, in units of the pixels' range, [0,1].
	Eta    float64    `json:"eta,omitempty" toml:"eta"`
	Mode   EditMode   `json:"mode,omitempty" toml:"mode"`
	Norm   EditNorm   `json:"norm,omitempty" toml:"norm"`
	Aim    EditAim    `json:"aim,omitempty" toml:"aim"`
	Target EditTarget `json:"target,omitempty" toml:"target"`
	At     EditAt     `json:"at,omitempty" toml:"at"`
	// Every edits in every so-many-th step only; 0 stands for 1.
	Every int `json:"every,omitempty" toml:"every"`
	// MaxDrift bounds ‖x − x_original‖∞; 0: no bound.
	MaxDrift float64 `json:"max_drift,omitempty" toml:"max_drift"`
	// Unclamped lets pixels leave [0,1].
	Unclamped bool `json:"unclamped,omitempty" toml:"unclamped"`
}

// EditMode says of which loss the gradient is moved towards D.
type EditMode string

const (
	// EditBatch: of the batch's mean loss, one gradient for all samples.
	EditBatch EditMode = "batch"
	// EditPerSample: of each sample's own loss (Algorithm 1 read literally), at the cost of a gradient and an
	// edit gradient each.
	EditPerSample EditMode = "per_sample"
)

// EditNorm says how a sample's ∇φ is normalised before the step.
type EditNorm string

const (
	EditRMS EditNorm = "rms" // its root mean square becomes 1
	EditL2  EditNorm = "l2"  // its length becomes 1
	EditRaw EditNorm = "raw" // not at all
)

// EditAim says where the step leads.
type EditAim string

const (
	EditToward  EditAim = "toward"  // D
	EditLiteral EditAim = "literal" // Eq. 12 as printed, which leads towards −D
	EditAscend  EditAim = "ascend"  // away from D: φ grows
)

// EditTarget says what D is.
type EditTarget string

const (
	EditTowardD    EditTarget = "d"    // the step's direction
	EditTowardMean EditTarget = "mean" // D/Σλ
)

// EditAt says at which θ the gradients are taken.
type EditAt string

const (
	EditBefore EditAt = "pre"  // that before the update
	EditAfter  EditAt = "post" // that after it
)

// On says whether anything is edited.
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

// Validate names the first thing that is wrong.
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
