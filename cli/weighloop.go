package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/parallelcl/parallelcl/internal/jsonin"
	"github.com/parallelcl/parallelcl/pcl/weigh"
)

// request is one line of the input: a problem, which holds the Jacobian J, with K rows, or the Gram matrix JJᵀ; or one of the other words that docs/python.md explains.
type request struct {
	Jacobian [][]float64 `json:"jacobian"`
	Gram     [][]float64 `json:"gram"`
	Losses   []float64   `json:"losses"`
	// LossesAfter are the losses of the same batches after the step, for methods that learn from them (famo). Without
	// a Jacobian or a Gram matrix they belong to the problem before.
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

// fatal is an error after which no request can be read or answered.
type fatal struct{ error }

func (f fatal) Unwrap() error { return f.error }

// serve answers requests until the input ends. An error in one of them is an answer too, and at the end the error that
// serve returns. Answers are written as soon as no more input is waiting.
func (w *weigher) serve(r io.Reader, to io.Writer) error {
	out := bufio.NewWriter(to)
	in := &lines{r: bufio.NewReaderSize(r, 1<<16), wait: out.Flush}
	err := w.answerAll(in, out)
	if flushed := out.Flush(); err == io.EOF {
		err = flushed
	}
	switch {
	case err != nil:
		return err
	case w.errors > 1:
		return fmt.Errorf("%w; %d requests were refused, and this was the first", w.first, w.errors)
	case in.count == 0:
		return errors.New(`nothing on standard input; give {"jacobian": [[…], …]} or {"gram": [[…], …]}`)
	}
	return w.first
}

func (w *weigher) answerAll(in *lines, out *bufio.Writer) error {
	for {
		text, err := in.next()
		if err != nil {
			return err
		}
		if err := w.line(text, in.first, out); err != nil {
			return err
		}
	}
}

// line answers the requests of a line, which is mostly one. The first one that is refused ends the line.
func (w *weigher) line(text []byte, number int, out *bufio.Writer) error {
	requests := jsonin.NewDecoder(text)
	for {
		var q request
		err := requests.Decode(&q)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = w.request(&q, out)
		}
		if errors.As(err, new(fatal)) {
			return err
		}
		if err != nil {
			return w.refuse(err, number, out)
		}
		w.answers++
	}
}

// refuse answers a request with the error in it.
func (w *weigher) refuse(err error, line int, out *bufio.Writer) error {
	w.errors++
	n := w.answers + w.errors
	if w.first == nil {
		w.first = fmt.Errorf("problem %d: %w", n, err)
	}
	return write(out, refusal{err.Error(), line, n})
}

// request does what a request asks for, and answers it.
func (w *weigher) request(q *request, out *bufio.Writer) error {
	if err := q.check(); err != nil {
		return err
	}
	switch {
	case q.End != nil:
		for _, id := range q.End {
			w.rule.End(id)
		}
		return write(out, map[string]any{"ended": q.End})
	case q.Save:
		state, err := w.rule.State()
		if err != nil {
			return err
		}
		return write(out, map[string]any{"state": json.RawMessage(state)})
	case q.Load != nil:
		if err := w.rule.SetState(q.Load); err != nil {
			return err
		}
		return write(out, map[string]any{"loaded": true})
	case q.isProblem():
		a, err := w.answer(q)
		if err != nil {
			return err
		}
		return write(out, a)
	}
	if err := w.rule.Follow(q.IDs, q.LossesAfter); err != nil {
		return err
	}
	w.unlearnt = false
	return write(out, map[string]any{"followed": w.rule.Follows()})
}

func (q *request) isProblem() bool { return q.Jacobian != nil || q.Gram != nil }

// check refuses requests that ask for two things, or for none.
func (q *request) check() error {
	words := 0
	for _, asked := range []bool{q.End != nil, q.Save, q.Load != nil} {
		if asked {
			words++
		}
	}
	others := q.isProblem() || q.Losses != nil || q.LossesAfter != nil || q.Sigma != nil || q.IDs != nil || q.Direction != ""
	switch {
	case words > 1 || words == 1 && others:
		return errors.New(`"end", "save" and "load" stand alone in their line`)
	case words == 0 && !q.isProblem() && (q.LossesAfter == nil || q.Losses != nil || q.Sigma != nil || q.Direction != ""):
		return errors.New(`give either "jacobian" or "gram"`)
	case q.Direction != "" && q.Direction != "list" && q.Direction != "none":
		return fmt.Errorf(`direction %q: want "list" or "none"`, q.Direction)
	}
	return nil
}

// problem converts a request to the form that rules take.
func (q *request) problem() (*weigh.Problem, error) {
	in := &weigh.Problem{Rows: q.Jacobian, Losses: q.Losses, After: q.LossesAfter, Sigma: q.Sigma, IDs: q.IDs}
	switch {
	case q.Jacobian != nil && len(q.Jacobian) == 0:
		return nil, errors.New("the jacobian is empty")
	case q.Gram != nil && len(q.Gram) == 0:
		return nil, errors.New("the gram matrix is empty")
	}
	for i, row := range q.Gram {
		if len(row) != len(q.Gram) {
			return nil, fmt.Errorf("gram row %d has %d entries for %d rows", i+1, len(row), len(q.Gram))
		}
		in.Gram = append(in.Gram, row...)
	}
	return in, nil
}

// write writes a line. An error of it is fatal.
func write(out *bufio.Writer, line any) error {
	if err := json.NewEncoder(out).Encode(line); err != nil {
		return fatal{err}
	}
	return nil
}
