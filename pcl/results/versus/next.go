package versus

import (
	"fmt"

	"github.com/parallelcl/parallelcl/internal/plural"
)

// Features says what is known of features of a pretrained network for the data of a table. The zero
// value is for those of whom nothing is known, such as a page about runs.
type Features struct {
	Possible bool    // the data are pictures that the methods have as pixels
	Untried  string  // why there is no row on features; empty for none
	Seconds  float64 // that computing the features took, if they were computed now
	Command  string  // makes the comparison on features
}

// Advise says in Next which step is likely to gain most. Each of its numbers was measured; a step
// that was not is named without one.
func (t *Table) Advise(f Features) {
	top, lda := t.find(joint), t.find(onFeatures)
	command := f.Command
	if command == "" {
		command = "the same command with --features efficientnet-lite0"
	}
	switch {
	case gain(lda) > max(0, gain(top)) && t.pixels():
		t.Next = fmt.Sprintf("Next: features of a pretrained network, about %s above %s (%s: %.1f %%, made in %s): %s",
			points(gain(lda)), t.best, lda.Name, lda.A, plural.Time(max(1, lda.Seconds+f.Seconds)), command)
	case gain(lda) > max(0, gain(top)):
		t.Next = fmt.Sprintf("Next: the method lda on these features, about %s above %s (made in %s).",
			points(gain(lda)), t.best, plural.Time(max(1, lda.Seconds)))
	case lda == nil && f.Possible:
		t.Next = fmt.Sprintf("Next: features of a pretrained network, on photos often the largest gain "+
			"(not measured here, since %s): %s", f.Untried, command)
	case gain(top) > 0:
		t.Next = fmt.Sprintf("Next: a method or a memory that forgets less (--memory), for up to about %s: the same "+
			"network on all tasks at once is so far ahead of %s.", points(gain(top)), t.best)
	case top != nil && top.Ahead != nil:
		t.Next = fmt.Sprintf("Next: more data or another network: on all tasks at once the same one is not ahead of %s "+
			"(%s), so that methods have little left to gain.", t.best, signed(gain(top)))
	}
}

// pixels says whether the compared methods had pixels, not features.
func (t *Table) pixels() bool { return !t.onFeatures }

func (t *Table) find(kind bound) *Bound {
	for _, b := range t.Bounds {
		if b.kind == kind {
			return b
		}
	}
	return nil
}

// gain is by how much a row is ahead of the best method; 0 if that is not known.
func gain(b *Bound) float64 {
	if b == nil || b.Ahead == nil {
		return 0
	}
	return *b.Ahead
}

// signed writes a gain or a loss.
func signed(x float64) string { return minus("%+.1f points", x) }
