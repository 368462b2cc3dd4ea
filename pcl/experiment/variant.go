package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/pcl"
)

// variant describes what a configuration adds to its method.
func (c Config) variant() string {
	var parts []string
	if e := c.Edit; e.On() {
		parts = append(parts, fmt.Sprintf("edit η=%g", e.Eta))
		if e.MaxDrift > 0 {
			parts = append(parts, fmt.Sprintf("drift≤%g", e.MaxDrift))
		}
		parts = append(parts, unlessFirst(e.Mode, pcl.EditBatch), unlessFirst(e.Norm, pcl.EditRMS), unlessFirst(e.Aim, pcl.EditToward),
			unlessFirst(e.Target, pcl.EditTowardD), unlessFirst(e.At, pcl.EditBefore))
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
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// unlessFirst is a choice as text, empty if it is the default.
func unlessFirst[T ~string](x, first T) string {
	if x == first {
		return ""
	}
	return string(x)
}
