package results

import (
	"bufio"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/internal/jsonin"
)

// PenaltyID is the id, in records, of the row of a penalty (a part of a rehearsal that adds its own
// gradient).
const PenaltyID = -1 << 30

// Record is one step, as `--record` writes it: one JSON object a line.
type Record struct {
	Step   int       `json:"step"`
	IDs    []int     `json:"ids"` // row order: 0 is the memory, which may also have rows with negative ids
	Losses []float64 `json:"losses"`
	// LossesAfter has the losses of the same batches after the step, if it was observed.
	LossesAfter []float64 `json:"losses_after,omitempty"`
	// Rises are the changes of the losses to first order along the step that was made, Jᵢ·Δθ, if it
	// was observed.
	Rises []float64 `json:"rises,omitempty"`
	Gram  []float64 `json:"gram,omitempty"` // row-major K×K
	// Weights are those applied, after any rescaling; Lambda those of the certificate.
	Weights []float64 `json:"weights"`
	Sigma   []float64 `json:"sigma,omitempty"`
	Lambda  []float64 `json:"lambda,omitempty"`
	Slacks  []float64 `json:"slacks,omitempty"` // Jᵢ·d − σᵢ‖d‖² with d = Σ λᵢJᵢ
	Gap     float64   `json:"gap,omitempty"`
	Status  string    `json:"status,omitempty"`
	// NormD is ‖d‖ of the applied weights over the shared parameters.
	NormD float64 `json:"norm_d"`
	Edit  *Edit   `json:"edit,omitempty"`
}

// Edit is what memory editing did in a step.
type Edit struct {
	Samples int     `json:"samples"`
	Phi     float64 `json:"phi"`    // ‖∇ℓ − D‖² before
	Change  float64 `json:"change"` // mean |Δx| over the samples' pixels
}

// ReadRecords reads the lines of a record file, and checks that each list has a number for each
// row.
func ReadRecords(r io.Reader) ([]Record, error) {
	var out []Record
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<30) // a step of many rows has a large Gram matrix
	for n := 1; lines.Scan(); n++ {
		var rec Record
		if err := jsonin.UnmarshalNewer(lines.Bytes(), &rec); err != nil {
			return nil, fmt.Errorf("record line %d: %w", n, err)
		}
		if err := rec.check(); err != nil {
			return nil, fmt.Errorf("record line %d: %w", n, err)
		}
		out = append(out, rec)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("records: %w", err)
	}
	return out, nil
}

// check returns an error if a list that the record has is not one of its rows.
func (r *Record) check() error {
	k := len(r.IDs)
	for _, list := range []struct {
		name      string
		got, want int
	}{
		{"losses", len(r.Losses), k}, {"losses_after", len(r.LossesAfter), k}, {"weights", len(r.Weights), k},
		{"gram", len(r.Gram), k * k}, {"sigma", len(r.Sigma), k}, {"lambda", len(r.Lambda), k},
		{"slacks", len(r.Slacks), k},
	} {
		if list.got != 0 && list.got != list.want {
			return fmt.Errorf("%s has %d numbers for %d rows; want %d", list.name, list.got, k, list.want)
		}
	}
	return nil
}
