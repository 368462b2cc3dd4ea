package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// request is one line of the input: a problem, which holds the Jacobian J, with K rows, or the Gram
// matrix JJᵀ; or one of the other words that docs/weigh.md explains.
type request struct {
	Jacobian [][]float64 `json:"jacobian"`
	Gram     [][]float64 `json:"gram"`
	Losses   []float64   `json:"losses"`
	// LossesAfter are the losses of the same batches after the step, for methods that learn from
	// them (famo). Without a Jacobian or a Gram matrix they belong to the problem before.
	LossesAfter []float64 `json:"losses_after"`
	// Sigma are elastic factors to use instead of those that emgd-gmc and emgd-gs would compute.
	Sigma []float64 `json:"sigma"`
	// IDs are the rows' task ids; 0 is the memory. If they are missing, the rows are tasks 1, 2, …
	IDs       []int           `json:"ids"`
	Direction string          `json:"direction"` // "list" or "none"
	End       []int           `json:"end"`       // the ids of streams that have ended
	Save      bool            `json:"save"`
	Load      json.RawMessage `json:"load"`
}

// refusal is the answer to a request that was refused. The rule is then as it was before.
type refusal struct {
	Error   string `json:"error"`
	Line    int    `json:"line"`    // of the input, counted from 1
	Problem int    `json:"problem"` // the number of the request, counted from 1
}

// serve answers a request on each line until the input ends. An error in one of them is an answer
// too, and the first of them the error that serve returns. Answers are written as soon as no more
// input is waiting.
func (w *weigher) serve(from io.Reader, to io.Writer) (refused error) {
	in, out := bufio.NewReaderSize(from, 1<<16), bufio.NewWriter(to)
	answers := json.NewEncoder(out)
	n := 0
	for line := 1; ; line++ {
		if ready, _ := in.Peek(in.Buffered()); bytes.IndexByte(ready, '\n') < 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		text, ended := in.ReadBytes('\n')
		if len(bytes.TrimSpace(text)) > 0 {
			n++
			a, err := w.request(text)
			if err != nil {
				a, refused = refusal{err.Error(), line, n}, cmp.Or(refused, fmt.Errorf("problem %d: %w", n, err))
			}
			if err := answers.Encode(a); err != nil {
				return err
			}
		}
		switch {
		case ended == nil:
		case ended != io.EOF:
			return ended
		case n == 0:
			return errors.New(`nothing on standard input; give {"jacobian": [[…], …]} or {"gram": [[…], …]}`)
		default:
			return errors.Join(out.Flush(), refused)
		}
	}
}

// request does what a request asks for, and returns the answer.
func (w *weigher) request(text []byte) (any, error) {
	var q request
	if err := jsonin.Unmarshal(text, &q); err != nil {
		return nil, err
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	switch {
	case q.End != nil:
		for _, id := range q.End {
			w.rule.End(id)
		}
		return map[string]any{"ended": q.End}, nil
	case q.Save:
		state, err := w.rule.State()
		if err != nil {
			return nil, err
		}
		return map[string]any{"state": json.RawMessage(state)}, nil
	case q.Load != nil:
		if err := w.rule.SetState(q.Load); err != nil {
			return nil, err
		}
		return map[string]any{"loaded": true}, nil
	case q.LossesAfter != nil && !q.isProblem() && q.Losses == nil && q.Sigma == nil && q.Direction == "":
		if err := w.rule.Follow(q.IDs, q.LossesAfter); err != nil {
			return nil, err
		}
		return map[string]any{"followed": w.rule.Follows()}, nil
	}
	return w.answer(&q)
}

func (q *request) isProblem() bool { return q.Jacobian != nil || q.Gram != nil }

// check refuses requests that ask for two things.
func (q *request) check() error {
	words := 0
	for _, asked := range []bool{q.End != nil, q.Save, q.Load != nil} {
		if asked {
			words++
		}
	}
	others := q.isProblem() || q.Losses != nil || q.LossesAfter != nil || q.Sigma != nil || q.IDs != nil ||
		q.Direction != ""
	if words > 1 || words == 1 && others {
		return errors.New(`"end", "save" and "load" stand alone in their line`)
	}
	if q.Direction != "" && q.Direction != "list" && q.Direction != "none" {
		return fmt.Errorf(`direction %q: want "list" or "none"`, q.Direction)
	}
	return nil
}

// problem converts a request to the form that rules take.
func (q *request) problem() (*weigh.Problem, error) {
	in := &weigh.Problem{Rows: q.Jacobian, Losses: q.Losses, After: q.LossesAfter, Sigma: q.Sigma, IDs: q.IDs,
		NoDirection: q.Direction == "none"}
	for i, row := range q.Gram {
		if len(row) != len(q.Gram) {
			return nil, fmt.Errorf("gram row %d has %d entries for %d rows", i+1, len(row), len(q.Gram))
		}
		in.Gram = append(in.Gram, row...)
	}
	return in, nil
}
