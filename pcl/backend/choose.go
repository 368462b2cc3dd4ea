package backend

import (
	"context"
	"errors"
	"fmt"

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
		{XLACUDA, thisMachine.cudaReady, thisMachine.openCUDA},
		{XLACPU, cpuReady, openCPU},
		{Go, goReady, openGo},
	}
}

// open tries the drivers that o.Name allows until one works.
func open(ctx context.Context, o Options, all []driver) (*Backend, error) {
	var opened *Backend
	var used int
	var failures []error
	choices := make([]Choice, len(all))
	for i, d := range all {
		if opened != nil || o.Name != Auto && o.Name != d.name {
			choices[i] = passedOver(ctx, o, d, opened)
			continue
		}
		b, err := openOne(ctx, o, d)
		if ctx.Err() != nil { // a cancelled installation must not look like a backend that does not exist
			b.Close()
			return nil, ctx.Err()
		}
		choices[i] = choice(d, err)
		if err != nil {
			failures = append(failures, fmt.Errorf("backend %s: %w", d.name, err))
			continue
		}
		opened, used = b, i
	}
	if opened == nil {
		return nil, errors.Join(failures...)
	}
	opened.Info.Reason = reason(o, choices[:used])
	choices[used].Used, choices[used].Reason = true, opened.Info.Reason
	opened.Info.Choices = choices
	if o.Progress != nil && o.Name == Auto && opened.Info.Name == Go {
		fmt.Fprintf(o.Progress, "Using the pure-Go backend (slow): %s\n", opened.Info.Reason)
	}
	return opened, nil
}

// choice is a driver that was tried.
func choice(d driver, err error) Choice {
	if err != nil {
		return Choice{Name: d.name, Reason: printable.Line(err.Error())}
	}
	return Choice{Name: d.name, Available: true}
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
	o.Plugin = "" // it was meant for another driver
	note, err := d.ready(ctx, o)
	c := choice(d, err)
	if err != nil {
		return c
	}
	c.Reason = "not asked for"
	if opened != nil && o.Name == Auto {
		c.Reason = fmt.Sprintf("not needed, %s comes first", opened.Info.Name)
	}
	if note != "" {
		c.Reason += "; " + note
	}
	return c
}

// reason says in one sentence why a backend is the one. before are those that were tried before it and failed.
func reason(o Options, before []Choice) string {
	switch {
	case o.Name != Auto:
		return "asked for by name"
	case len(before) == 0:
		return "first choice"
	}
	text := "best available"
	for _, c := range before {
		text += "; " + c.Name + ": " + c.Reason
	}
	return text
}
