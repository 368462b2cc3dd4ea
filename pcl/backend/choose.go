package backend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parallelcl/parallelcl/internal/printable"
)

// driver is one kind of backend.
type driver struct {
	name string
	// ready says cheaply, and without a download, whether open may work: a note on what would be
	// used, or the reason why not.
	ready func(ctx context.Context, o Options) (note string, err error)
	open  func(ctx context.Context, o Options) (*Backend, error)
}

// drivers lists the kinds in the order of preference.
func drivers() []driver {
	return []driver{
		{XLACUDA, cudaReady, openCUDA},
		{XLACPU, cpuReady, openCPU},
		{Go, goReady, openGo},
	}
}

// open tries the drivers that o.Name allows until one works.
func open(ctx context.Context, o Options, all []driver) (*Backend, error) {
	var opened *Backend
	var failures []error
	choices := make([]Choice, len(all))
	for i, d := range all {
		choices[i].Name = d.name
		switch {
		case opened != nil, o.Name != Auto && o.Name != d.name:
			choices[i] = passedOver(ctx, o, d, opened)
			continue
		}
		b, err := openOne(ctx, o, d)
		if err == nil {
			opened = b
			choices[i].Available, choices[i].Used = true, true
			continue
		}
		// A cancelled installation must not look like a backend that does not exist.
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		choices[i].Reason = oneLine(err)
		failures = append(failures, fmt.Errorf("backend %s: %w", d.name, err))
	}
	if opened == nil {
		return nil, errors.Join(failures...)
	}
	opened.Info.Choices = choices
	opened.Info.Reason = reason(o, opened.Info, choices)
	for i := range choices {
		if choices[i].Used {
			choices[i].Reason = opened.Info.Reason
		}
	}
	announceFallback(o.Progress, o, opened.Info)
	return opened, nil
}

// openOne opens with a driver; panics of the library become errors.
func openOne(ctx context.Context, o Options, d driver) (b *Backend, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer recoverTo(&err, "open")
	return d.open(ctx, o)
}

// passedOver returns the description of a driver that was not tried.
func passedOver(ctx context.Context, o Options, d driver, opened *Backend) Choice {
	c := Choice{Name: d.name}
	o.Plugin = "" // it was meant for another driver
	note, err := d.ready(ctx, o)
	if err != nil {
		c.Reason = oneLine(err)
		return c
	}
	c.Available = true
	if opened != nil && o.Name == Auto {
		c.Reason = fmt.Sprintf("not needed, %s comes first", opened.Info.Name)
	} else {
		c.Reason = "not asked for"
	}
	if note != "" {
		c.Reason += "; " + note
	}
	return c
}

// reason says in one sentence why info's backend is the one.
func reason(o Options, info Info, choices []Choice) string {
	if o.Name != Auto {
		return "asked for by name"
	}
	var failed []string
	for _, c := range choices {
		if c.Used {
			break
		}
		failed = append(failed, fmt.Sprintf("%s: %s", c.Name, c.Reason))
	}
	if len(failed) == 0 {
		return "first choice"
	}
	return "best available; " + strings.Join(failed, "; ")
}

// announceFallback tells a user in one line that the slow backend is used although it was not asked for.
func announceFallback(w io.Writer, o Options, info Info) {
	if w != nil && o.Name == Auto && info.Name == Go {
		fmt.Fprintf(w, "Using the pure-Go backend (slow): %s\n", info.Reason)
	}
}

// oneLine is an error's text without line breaks.
func oneLine(err error) string { return printable.Line(err.Error()) }
