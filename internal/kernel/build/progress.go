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
	done, total int
}

// works runs the go command, which compiles the packages of some paths with the flags of modes, and
// reports how far it is.
func (h *Host) works(ctx context.Context, name string, modes, paths []string, args ...string) (out []byte, err error) {
	s := &step{name: name, report: func(string, int, int) {}}
	if h.Progress != nil {
		s.report = h.Progress
		s.report(name, 0, 0)
		list := slices.Concat([]string{"list", "-deps", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}"}, modes, paths)
		out, err := run(ctx, h.Module, h.Go.CGO, s.said, h.Go.Command, list...)
		if err != nil {
			return nil, unreachable(err)
		}
		s.done, s.total = 0, len(strings.Fields(string(out)))
	}
	args = slices.Concat(args[:1], []string{"-v"}, args[1:], modes, paths)
	return run(ctx, h.Module, h.Go.CGO, s.said, h.Go.Command, args...)
}

// unreachable says of an error what it means if modules could not be downloaded: one line for all.
func unreachable(err error) error {
	if !strings.Contains(err.Error(), "dial tcp") && !strings.Contains(err.Error(), "no such host") {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New("modules of Go can't be downloaded (GOPROXY may name a mirror); the same command goes on: " + first)
}

// said hears a line of the go command, and reports whether it tells how far that is: it is the path
// of a package when that begins.
func (s *step) said(line string) bool {
	module, downloads := strings.CutPrefix(line, "go: downloading ")
	switch {
	case downloads:
		s.report("downloading Go module "+module, 0, 0)
	case line == "" || strings.ContainsAny(line, " \t:"):
		return false
	case line == hostPackage+"/main":
		s.report("3 of 3, linking the program of the cells", 0, 0)
	default:
		s.report(s.name, s.done, s.total)
		s.done++
	}
	return true
}
