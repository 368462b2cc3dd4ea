package results

import (
	"slices"
	"strings"
)

// Words of [Run.Variant] that say what a run did, and whether it stands beside those that are
// compared. Tables that were exported have them too.
const (
	VariantJoint  = "joint"  // it trained on all tasks as one stream
	VariantBeside = "beside" // its configuration says so
	// VariantFeatures stands before the pretrained network whose features it had, not pixels.
	VariantFeatures = "features"
)

// Joint says whether the run trained on the samples of all tasks as one stream (docs/protocol.md
// §3.6).
func (r *Run) Joint() bool { return r.varies(VariantJoint) }

// Beside says whether the run stands beside those of methods that are compared, and shows what is
// possible: no test is about it, and it has no rank. Joint runs always do.
func (r *Run) Beside() bool { return r.Joint() || r.varies(VariantBeside) }

// OnFeatures says whether the run had features of a pretrained network in place of pixels.
func (r *Run) OnFeatures() bool { return r.varies(VariantFeatures) }

func (r *Run) varies(word string) bool { return slices.Contains(strings.Fields(r.Variant), word) }
