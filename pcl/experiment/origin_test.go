package experiment

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/internal/expect"
	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/internal/origin"
	"github.com/parallelcl/parallelcl/pcl/results"
)

// as has this program be taken for another one until the test ends.
func as(t *testing.T, program string) {
	was := origin.Program
	t.Cleanup(func() { origin.Program = was })
	origin.Program = func() (string, error) { return program, nil }
}

// refusedFor has a run refused because the program old began or made it.
func (p *played) refusedFor(old, now string, change func(*work)) {
	p.t.Helper()
	before := p.files()
	_, err := p.run(0, change)
	if !errors.Is(err, ErrForeign) || !strings.Contains(err.Error(), old) || !strings.Contains(err.Error(), now) ||
		p.steps > 0 {
		p.t.Errorf("%v after %d steps, want an error that names %s and %s before the first", err, p.steps, old, now)
	}
	p.unchanged(before)
}

// TestOtherProgram: a result, finished or saved, is shown to the program that made it, and to
// others only that it is there.
func TestOtherProgram(t *testing.T) {
	p := newPlayed(t)
	as(t, "commit-old")
	p.stop(4, nil)
	as(t, "commit-new")
	p.refusedFor("commit-old", "commit-new", nil)
	as(t, "commit-old")
	first := p.end(nil)
	if first.Measured.Program != "commit-old" {
		t.Errorf("the result says %q of its program", first.Measured.Program)
	}
	as(t, "commit-new")
	p.refusedFor("commit-old", "commit-new", nil)
	p.refusedFor("commit-old", "commit-new", recorded)

	p.stop(4, replacing)
	as(t, "commit-newer")
	r := p.end(replacing)
	switch {
	case r.Measured.Program != "commit-newer":
		t.Errorf("%d of %d steps by %q, parts %v: r.Measured.Program is %q; want %q", p.steps, r.Steps, r.Measured.Program,
			r.Measured.Parts, r.Measured.Program, "commit-newer")
	case r.Measured.Parts != nil:
		t.Errorf("%d of %d steps by %q, parts %v: r.Measured.Parts is %v; want nil", p.steps, r.Steps, r.Measured.Program,
			r.Measured.Parts, r.Measured.Parts)
	case p.steps != r.Steps:
		t.Errorf("%d of %d steps by %q, parts %v: p.steps is %d; want %d", p.steps, r.Steps, r.Measured.Program,
			r.Measured.Parts, p.steps, r.Steps)
	}
	if again := p.end(nil); p.steps != 0 || again.ModelSHA256 != r.ModelSHA256 {
		t.Errorf("the program that made it makes %d steps again", p.steps)
	}
}

// TestResultWithoutProgram: a result of a program that did not say which it was is not taken for
// this one's.
func TestResultWithoutProgram(t *testing.T) {
	p := newPlayed(t)
	p.end(nil)
	path := filepath.Join(p.dir(), results.ResultFile)
	text := p.files()[results.ResultFile]
	program := must.Get(origin.Program())(t)
	old := strings.ReplaceAll(text, `"program": "`+program+`"`, `"other": ""`)
	if old == text {
		t.Fatalf("the result does not name %s:\n%s", program, text)
	}
	write(t, path, old)
	p.refusedFor("version", program, nil)
}

// TestOwnPartsCount: parts that a notebook registers count for the runs that may use them, and for
// no others.
func TestOwnPartsCount(t *testing.T) {
	as(t, "source-1+cells-2")
	for change, own := range map[*Config]bool{
		{Method: "emgd-gmc+der-pp", Dataset: "glyphs"}:          false,
		{Method: "er", Dataset: "csv:a.csv", Model: "resnet18"}: false,
		{Method: "mine", Dataset: "glyphs"}:                     true,
		{Method: "er+mine", Dataset: "glyphs"}:                  true,
		{Method: "er", Dataset: "mine"}:                         true,
		{Method: "er", Dataset: "glyphs", Model: "mine"}:        true,
	} {
		if program, err := change.program(); err != nil || (program == "source-1+cells-2") != own ||
			!own && program != "source-1" {
			t.Errorf("%s on %s with %q is by %q (%v)", change.Method, change.Dataset, change.Model, program, expect.Text(err))
		}
	}
}

// TestSessionReplaces: in a session, the results of other code are an error, or are made again.
func TestSessionReplaces(t *testing.T) {
	as(t, "cells-1")
	g := open(t, Options{Record: true})
	configs := []Config{small()}
	if _, err := g.Run(t.Context(), configs, nil); err != nil {
		t.Fatal(err)
	}
	as(t, "cells-2")
	_, err := g.Run(t.Context(), configs, nil)
	expect.Refusal(t, "the results of other code are shown", err, ErrForeign, "Options.Replace")
	_, err = g.Records(configs[0])
	expect.Refusal(t, "the records of other code are shown", err, ErrForeign)
	g.options.Replace = true
	for range 2 {
		runs, err := g.Run(t.Context(), configs, nil)
		switch {
		case err != nil:
			t.Fatalf("made again: %v", err)
		case runs[0].Measured.Program != "cells-2":
			t.Fatalf("made again: runs[0].Measured.Program is %q; want %q", runs[0].Measured.Program, "cells-2")
		case runs[0].Measured.Resumed != 0:
			t.Fatalf("made again: runs[0].Measured.Resumed is %d; want 0", runs[0].Measured.Resumed)
		}
	}
	if _, err := g.Records(configs[0]); err != nil {
		t.Error(err)
	}
}

// TestGoesOnHere: what XLA began on one kind of processor goes on with another only where both use
// AVX2.
func TestGoesOnHere(t *testing.T) {
	const (
		zen4, zen4Narrow = "AMD EPYC (family 25 model 17 stepping 1, AVX-512)",
			"AMD EPYC (family 25 model 17 stepping 1, AVX2)"
		zen3, xeon = "AMD EPYC (family 25 model 1 stepping 1, AVX2)",
			"Intel(R) Xeon(R) (family 6 model 106 stepping 6, AVX-512, L1 48 KB)"
	)
	for _, c := range []struct {
		then, now, backend string
		refused            bool
	}{
		{zen4, zen4, "xla-cpu", false}, {zen4, zen4Narrow, "xla-cpu", true}, {zen4Narrow, zen4, "xla-cpu", true},
		{zen4, xeon, "xla-cpu", true},
		{zen4Narrow, zen3, "xla-cpu", false}, {zen4, xeon, "go", false}, {"AMD EPYC", zen3, "xla-cpu", false},
	} {
		err := goesOnHere(results.Maker{Backend: c.backend, Device: c.then}, results.Maker{Backend: c.backend, Device: c.now})
		if (err != nil) != c.refused {
			t.Errorf("%s: %s, then %s: error %v", c.backend, c.then, c.now, expect.Text(err))
		}
	}
}
