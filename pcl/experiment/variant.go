package experiment

import (
	"fmt"
	"slices"
	"strings"
)

// variant describes in a few words what a configuration adds to its method, such as memory editing.
func (c Config) variant() string {
	var parts []string
	if e := c.Edit; e.On() {
		parts = append(parts, fmt.Sprintf("edit η=%g", e.Eta))
		if e.MaxDrift > 0 {
			parts = append(parts, fmt.Sprintf("drift≤%g", e.MaxDrift))
		}
		parts = append(parts, unlessFirst(e.Mode, "batch"), unlessFirst(e.Norm, "rms"), unlessFirst(e.Aim, "toward"),
			unlessFirst(e.Target, "d"), unlessFirst(e.At, "pre"))
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
	if c.Precision == "bfloat16" {
		parts = append(parts, "bfloat16")
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " ")
}

// unlessFirst returns a choice as text, or an empty text if it is the default.
func unlessFirst(x, first string) string {
	if x == first {
		return ""
	}
	return x
}
