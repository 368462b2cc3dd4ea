package build

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
)

// Progress is told how much of a step of an installation is done. A total of 0 stands for an
// unknown one.
type Progress func(step string, done, total int)

// lines tells a function what a program writes, line by line, and keeps the lines that it doesn't
// want.
type lines struct {
	said func(line string) bool
	rest *bytes.Buffer
	part []byte // of a line
}

func (l *lines) Write(p []byte) (int, error) {
	l.part = append(l.part, p...)
	for {
		line, rest, ended := bytes.Cut(l.part, []byte("\n"))
		if !ended {
			return len(p), nil
		}
		if l.part = rest; !l.said(string(line)) {
			l.rest.WriteString(string(line) + "\n")
		}
	}
}

// step is what the go command does: it downloads modules and compiles packages.
type step struct {
	name        string
	report      Progress
	stale       map[string]bool // packages that are to be compiled
	done, total int
}

// begin finds out which packages the go command has to compile with the flags of modes, and returns
// what hears its lines when it does so. It is nil if nobody is to be told.
func (h *Host) begin(ctx context.Context, name string, modes []string, paths ...string) (said func(line string) bool,
	err error) {
	if h.Progress == nil {
		return nil, nil
	}
	s := &step{name: name, report: h.Progress}
	s.report(name, 0, 0)
	out, err := run(ctx, h.Module, h.Go.CGO, s.said, h.Go.Command, slices.Concat([]string{"list", "-deps"}, modes,
		[]string{"-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, paths)...)
	s.stale = map[string]bool{}
	for _, p := range strings.Fields(string(out)) {
		s.stale[p] = true
	}
	s.total = len(s.stale)
	return s.said, unreachable(err)
}

// unreachable says of an error what it means if modules could not be downloaded: one line for all.
func unreachable(err error) error {
	if err == nil || !strings.Contains(err.Error(), "dial tcp") && !strings.Contains(err.Error(), "no such host") {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New("modules of Go can't be downloaded (GOPROXY may name a mirror); the same command goes on: " + first)
}

// said hears a line of the go command, and reports whether it tells how far that is.
func (s *step) said(line string) bool {
	if module, ok := strings.CutPrefix(line, "go: downloading "); ok {
		s.report("downloading Go module "+module, 0, 0)
		return true
	}
	if line == hostPackage+"/main" {
		s.report("3 of 3, linking the program of the cells", 0, 0)
		return true
	}
	if !s.stale[line] {
		return false
	}
	s.done++
	s.report(s.name, s.done-1, s.total) // the line tells that it begins
	return true
}

// verbose is the flag with which the go command names the packages that it compiles.
func verbose(said func(string) bool) string {
	if said == nil {
		return "-v=false"
	}
	return "-v"
}
