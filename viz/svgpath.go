package viz

import (
	"errors"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// svgPath is a path as SVG writes it, in few characters: whole units, steps from point to point,
// and no letter for a command that repeats the one before.
type svgPath struct {
	text      []byte
	command   byte
	at, start [2]int // where the pen is, and where its line began
}

// IsZero says whether the path is empty, for encoding/json.
func (w svgPath) IsZero() bool { return len(w.text) == 0 }

// MarshalText returns the path as SVG has it.
func (w svgPath) MarshalText() ([]byte, error) { return w.text, nil }

// UnmarshalText takes nothing but a path that add can have written.
func (w *svgPath) UnmarshalText(text []byte) error {
	if !aPath.Match(text) {
		return errors.New("a path is not one of a figure")
	}
	*w = svgPath{text: append([]byte(nil), text...)}
	return nil
}

// aPath matches what [svgPath.add] writes.
var aPath = func() *regexp.Regexp {
	const first, next = `-?\d{1,8}`, `(?: |-| -)\d{1,8}`
	numbers := func(n string) string { return first + `(?:` + next + `){` + n + `}` }
	more := func(n string) string { return `(?:(?:` + next + `){` + n + `})*` }
	command := `[Mm]` + numbers("1") + `|l` + numbers("1") + more("2") + `|[hv]` + first + more("1") +
		`|c` + numbers("5") + more("6") + `|q` + numbers("3") + more("4") + `|Z`
	return regexp.MustCompile(`^(?:M` + numbers("1") + `(?:` + command + `)*)?$`)
}()

// add adds a path whose points lie at places of the page. Points at the same place as the one
// before, or on a straight line between others, are left out.
func (w *svgPath) add(p vg.Path, place func(vg.Point) [2]int) {
	p = simplified(p)
	put := func(command byte, points ...vg.Point) {
		var places [][2]int
		for _, at := range points {
			places = append(places, place(at))
		}
		w.step(command, places)
	}
	for _, c := range p {
		switch c.Type {
		case vg.MoveComp:
			put('m', c.Pos)
			w.start = w.at
		case vg.LineComp:
			if place(c.Pos) != w.at || len(p) == 2 { // a dot is a line of no length
				put('l', c.Pos)
			}
		case vg.ArcComp:
			for _, cubic := range cubics(c) {
				put('c', cubic[:]...)
			}
		case vg.CurveComp:
			if len(c.Control) == 1 { // a parabola
				put('q', c.Control[0], c.Pos)
			} else {
				put('c', c.Control[0], c.Control[1], c.Pos)
			}
		case vg.CloseComp:
			w.text, w.command, w.at = append(w.text, 'Z'), 'Z', w.start
		}
	}
}

// step adds a command whose numbers are the distances of its places from the pen.
func (w *svgPath) step(command byte, places [][2]int) {
	var by []int
	for _, to := range places {
		by = append(by, to[0]-w.at[0], to[1]-w.at[1])
	}
	switch {
	case len(w.text) == 0: // a path begins at a place; the pen lies at 0, 0
		command = 'M'
	case command == 'l' && by[1] == 0:
		command, by = 'h', by[:1]
	case command == 'l' && by[0] == 0:
		command, by = 'v', by[1:]
	}
	w.at = places[len(places)-1]
	follows := command == w.command && command != 'm' // then its letter can be left out
	if !follows {
		w.text, w.command = append(w.text, command), command
	}
	for _, x := range by {
		if follows && x >= 0 {
			w.text = append(w.text, ' ')
		}
		w.text, follows = strconv.AppendInt(w.text, int64(x), 10), true
	}
}

// simplified returns a path without the points of lines that nobody would miss.
func simplified(p vg.Path) (out vg.Path) {
	from := 0 // the last point that stays
	for i, c := range p {
		within := i > 0 && i+1 < len(p) && c.Type == vg.LineComp && p[i+1].Type == vg.LineComp
		if within && i-from < 100 && straight(p[from:i+2]) {
			continue
		}
		out, from = append(out, c), i
	}
	return out
}

// straight says whether points lie between the first and the last of them, to a tenth of a point.
func straight(p vg.Path) bool {
	first, last := p[0].Pos, p[len(p)-1].Pos
	along := last.Sub(first)
	for _, c := range p[1 : len(p)-1] {
		at := c.Pos.Sub(first)
		share := at.Dot(along) / along.Dot(along) // NaN where the two are one
		if off := at.Sub(along.Scale(share)); !(share >= 0 && share <= 1 && off.Dot(off) < 0.01) {
			return false
		}
	}
	return true
}

// cubics returns an arc as Bézier curves of at most a right angle each.
func cubics(c vg.PathComp) (out [][3]vg.Point) {
	n := int(math.Ceil(math.Abs(c.Angle)/(math.Pi/2) - 1e-9))
	step := c.Angle / float64(n)
	k := vg.Length(4 / 3. * math.Tan(step/4))
	on := func(angle float64) (at, along vg.Point) {
		sin, cos := math.Sincos(angle)
		r := vg.Point{X: c.Radius * vg.Length(cos), Y: c.Radius * vg.Length(sin)}
		return c.Pos.Add(r), vg.Point{X: -k * r.Y, Y: k * r.X}
	}
	for i := range n {
		a, from := on(c.Start + float64(i)*step)
		b, to := on(c.Start + float64(i+1)*step)
		out = append(out, [3]vg.Point{a.Add(from), b.Sub(to), b})
	}
	return out
}

// dotOf returns the circle that a path is, if it is one.
func dotOf(p vg.Path) (vg.PathComp, bool) {
	circle := len(p) == 3 && p[0].Type == vg.MoveComp && p[1].Type == vg.ArcComp && p[2].Type == vg.CloseComp
	if circle && p[1].Angle >= 2*math.Pi-1e-9 {
		return p[1], true
	}
	return vg.PathComp{}, false
}
