package pyrule

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

//go:embed driver.py
var driver string

// request is what the process is asked. One of the fields is set, or those of a step.
type request struct {
	Path   string          `json:"path,omitempty"`
	Name   string          `json:"name,omitempty"`
	Source string          `json:"source,omitempty"`
	Gram   [][]float64     `json:"gram,omitempty"`
	Losses []float64       `json:"losses,omitempty"`
	IDs    []int           `json:"ids,omitempty"`
	End    *int            `json:"end,omitempty"`
	Save   bool            `json:"save,omitempty"`
	Load   json.RawMessage `json:"load,omitempty"`
}

type answer struct {
	Weights []float64       `json:"weights"`
	State   json.RawMessage `json:"state"`
	Error   string          `json:"error"`
}

// process is a Python process that runs driver.py.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// ask starts the process if there is none, and returns its answer.
func (r *Rule) ask(q request) (a answer, err error) {
	if err, r.failed = r.failed, nil; err != nil {
		return a, err
	}
	if r.process == nil {
		if err := r.start(); err != nil {
			return a, err
		}
	}
	return r.process.ask(q)
}

func (r *Rule) start() error {
	if err := Allowed(r.full()); err != nil {
		return err
	}
	python := cmp.Or(os.Getenv("PARALLELCL_PYTHON"), "python3")
	p := &process{command: exec.Command(python, "-u", "-c", driver)}
	p.command.Stderr = os.Stderr
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("starting Python: %w; want python3, or the program that $PARALLELCL_PYTHON names", err)
	}
	_, err = p.ask(request{Path: r.path, Name: r.name, Source: string(r.source) + "\n"})
	if err == nil && r.saved != nil {
		_, err = p.ask(request{Load: r.saved})
	}
	if err != nil {
		return errors.Join(err, p.close())
	}
	r.process = p
	return nil
}

func (p *process) ask(q request) (a answer, err error) {
	text, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	if _, err = p.in.Write(append(text, '\n')); err == nil {
		text, err = p.out.ReadBytes('\n')
	}
	if err != nil {
		return a, fmt.Errorf("the Python process has ended: %w", errors.Join(err, p.close()))
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("the Python process answered %.80q: %w", text, err)
	}
	if a.Error != "" {
		return a, errors.New(a.Error)
	}
	return a, nil
}

// close ends the input, after which the process ends.
func (p *process) close() error {
	return errors.Join(p.in.Close(), p.command.Wait())
}
