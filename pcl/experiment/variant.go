package experiment

import (
	"fmt"
	"strings"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// variant describes in a few words what a configuration adds to its method, such as memory editing.
func (c Config) variant() string {
	var parts []string
	if c.joint() {
		parts = append(parts, results.VariantJoint)
	}
	if c.Beside {
		parts = append(parts, results.VariantBeside)
	}
	if e := c.Edit; e.Eta > 0 {
		parts = append(parts, fmt.Sprintf("edit η=%g", e.Eta))
		if e.MaxDrift > 0 {
			parts = append(parts, fmt.Sprintf("drift≤%g", e.MaxDrift))
		}
		for _, choice := range [][2]string{{e.Mode, "batch"}, {e.Norm, "rms"}, {e.Direction, "toward"}, {e.Target, "d"},
			{e.At, "pre"}} {
			if choice[0] != "" && choice[0] != choice[1] { // the default
				parts = append(parts, choice[0])
			}
		}
		if e.Unclamped {
			parts = append(parts, "unclamped")
		}
		if e.Every > 1 {
			parts = append(parts, fmt.Sprintf("every %d", e.Every))
		}
	}
	if c.ExtraUpdate {
		parts = append(parts, "extra update")
	}
	if c.Init != "" {
		parts = append(parts, "init "+c.Init[:min(8, len(c.Init))])
	}
	if c.Features != "" {
		parts = append(parts, results.VariantFeatures+" "+c.spec().String())
	}
	if all, err := ways(c.Augment); err == nil && len(all) > 0 {
		parts = append(parts, "augment "+strings.Join(all, ","))
	}
	if c.Precision == "bfloat16" {
		parts = append(parts, "bfloat16")
	}
	return strings.Join(parts, " ")
}
