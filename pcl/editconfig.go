package pcl

import (
	"fmt"
	"math"
	"strings"
)

// Edit describes memory editing (docs/method.md §3): after each step the memory's samples x of the step move
// by a gradient step on φ(x) = ‖∇ℓ(x) − D‖², D = Σ λᵢ∇ℓᵢ the direction of the step, both over the
// backbone. The zero value edits nothing; empty fields stand for the first of the choices.
type Edit struct {
	// Eta is the step size η, in units of the pixels' range, [0,1].
	Eta float64 `json:"eta,omitempty" toml:"eta"`
	// Mode is "batch" (∇ℓ of the batch's mean loss, one for all samples) or "per_sample" (Algorithm 1 read
	// literally: of each sample's own loss, at the cost of a gradient and an edit gradient each).
	Mode string `json:"mode,omitempty" toml:"mode"`
	// Norm of a sample's ∇φ before the step: "rms" (its root mean square becomes 1), "l2" or "raw".
	Norm string `json:"norm,omitempty" toml:"norm"`
	// Aim is "toward" D, "literal" (Eq. 12 as printed, which leads towards −D), or to "ascend" φ.
	Aim string `json:"aim,omitempty" toml:"aim"`
	// Target is "d", or "mean" for D/Σλ.
	Target string `json:"target,omitempty" toml:"target"`
	// At is "pre", the θ that the gradients were taken at, or "post", the updated one.
	At string `json:"at,omitempty" toml:"at"`
	// Every edits in every so-many-th step only; 0 stands for 1.
	Every int `json:"every,omitempty" toml:"every"`
	// MaxDrift bounds ‖x − x_original‖∞; 0: no bound.
	MaxDrift float64 `json:"max_drift,omitempty" toml:"max_drift"`
	// Unclamped lets pixels leave [0,1].
	Unclamped bool `json:"unclamped,omitempty" toml:"unclamped"`
}

func (e Edit) on() bool { return e.Eta > 0 }

func (e Edit) withDefaults() Edit {
	for _, c := range e.choices() {
		if *c.value == "" {
			*c.value = c.choices[0]
		}
	}
	if e.Every == 0 {
		e.Every = 1
	}
	return e
}

type choice struct {
	name    string
	value   *string
	choices []string
}

// choices lists the fields that are one of several words, the default first.
func (e *Edit) choices() []choice {
	return []choice{
		{"mode", &e.Mode, []string{"batch", "per_sample"}},
		{"norm", &e.Norm, []string{"rms", "l2", "raw"}},
		{"aim", &e.Aim, []string{"toward", "literal", "ascend"}},
		{"target", &e.Target, []string{"d", "mean"}},
		{"at", &e.At, []string{"pre", "post"}},
	}
}

func (e Edit) validate() error {
	for _, c := range e.choices() {
		known := *c.value == ""
		for _, x := range c.choices {
			known = known || x == *c.value
		}
		if !known {
			return fmt.Errorf("edit %s %q is none of %q", c.name, *c.value, c.choices)
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

// variant describes what a configuration adds to its method.
func (c Config) variant() string {
	var parts []string
	if e := c.Edit; e.on() {
		parts = append(parts, fmt.Sprintf("edit η=%g", e.Eta))
		if e.MaxDrift > 0 {
			parts = append(parts, fmt.Sprintf("drift≤%g", e.MaxDrift))
		}
		for _, f := range e.choices() {
			if *f.value != "" && *f.value != f.choices[0] {
				parts = append(parts, *f.value)
			}
		}
		if e.Every > 1 {
			parts = append(parts, fmt.Sprintf("every %d", e.Every))
		}
	}
	if c.ExtraUpdate {
		parts = append(parts, "extra update")
	}
	if c.Precision == "bfloat16" {
		parts = append(parts, "bfloat16")
	}
	return strings.Join(parts, " ")
}
