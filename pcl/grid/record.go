package grid

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parallelcl/parallelcl/pcl/results"
)

// event says what a record is about.
type event string

const (
	hired   event = "worker"  // a worker begins; the first record of each file
	started event = "started" // it begins a cell
	stopped event = "stopped" // it left the cell, saved, to be continued
	failed  event = "failed"  // the cell cannot be made
	done    event = "done"    // the cell is finished
)

// record is one line of a worker's file.
type record struct {
	Event   event   `json:"event"`
	Worker  *Worker `json:"worker,omitempty"`
	Cell    string  `json:"cell,omitempty"`
	Attempt int     `json:"attempt,omitempty"` // counts how often the cell was begun, from 1
	Kind    string  `json:"kind,omitempty"`    // of the cell; see kinds
	Wider   string  `json:"wider,omitempty"`
	// Step is how many of the cell's Steps were saved when it was started or stopped.
	Step     int             `json:"step,omitempty"`
	Steps    int             `json:"steps,omitempty"`
	Seconds  float64         `json:"seconds,omitempty"` // that a finished cell took
	Reason   string          `json:"reason,omitempty"`
	Diverged bool            `json:"diverged,omitempty"`
	Run      json.RawMessage `json:"run,omitempty"` // the result of a finished cell
}

// Worker says who makes cells.
type Worker struct {
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Build   string    `json:"build"`
	Started time.Time `json:"started"`
	Grid    string    `json:"grid"`
	Shard   string    `json:"shard,omitempty"`
}

// line is the form in which a record is written: with a checksum, by which a damaged or torn one is known.
type line struct {
	Sum    string          `json:"sum"` // of the record's text
	Record json.RawMessage `json:"record"`
}

// encode returns a record as a line.
func (r record) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("grid: record of cell %s: %w", r.Cell, err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "{\"sum\":%q,\"record\":%s}\n", sumOf(text), text)
	return out.Bytes(), nil
}

var errDamaged = errors.New("damaged")

// decode reads a line without its end.
func decode(text []byte) (record, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return record{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if sum := sumOf(l.Record); sum != l.Sum {
		return record{}, fmt.Errorf("%w: its checksum is %s, that of its content %s", errDamaged, l.Sum, sum)
	}
	var r record
	if err := json.Unmarshal(l.Record, &r); err != nil {
		return record{}, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return r, nil
}

// result returns the result of a finished cell, after checking that it is the cell's.
func (r record) result(c Cell) (*results.Run, error) {
	run, err := results.Parse(r.Run)
	if err != nil {
		return nil, fmt.Errorf("the result of cell %s: %w", c.ID, err)
	}
	config, err := json.Marshal(c.Config)
	if err != nil {
		return nil, err
	}
	if err := run.Of(c.Config.ID(), config); err != nil {
		return nil, fmt.Errorf("the result of cell %s is not its own: %w", c.ID, err)
	}
	return run, nil
}
