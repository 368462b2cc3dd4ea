package viz

import "strconv"

// pathWriter writes a path in the language of SVG, in few bytes: each of its parts begins at a place, and goes on by steps from one
// point to the next. Places are in tenths.
type pathWriter struct {
	text      []byte
	at, begin [2]int // where the pen is, and where the part began
	command   byte
	point     bool // the last number has a decimal point
}

func (w *pathWriter) move(to [2]int) {
	w.at, w.begin, w.command = [2]int{}, to, 0 // a second pair after M would be a line's end
	w.steps('M', to)
}

func (w *pathWriter) close() { // the pen goes back
	w.text, w.command, w.at = append(w.text, 'z'), 'z', w.begin
}

func (w *pathWriter) line(to [2]int) {
	switch {
	case to[1] == w.at[1]:
		w.put('h', to[0]-w.at[0])
	case to[0] == w.at[0]:
		w.put('v', to[1]-w.at[1])
	default:
		w.steps('l', to)
		return
	}
	w.at = to
}

// steps writes how far points are from where the pen is, which goes to the last of them.
func (w *pathWriter) steps(command byte, points ...[2]int) {
	var numbers []int
	for _, p := range points {
		numbers = append(numbers, p[0]-w.at[0], p[1]-w.at[1])
	}
	w.put(command, numbers...)
	w.at = points[len(points)-1]
}

// put writes a command, unless it is that before, and its numbers, which stand apart only where they would be read as one.
func (w *pathWriter) put(command byte, tenths ...int) {
	apart := command == w.command
	if !apart {
		w.text, w.command = append(w.text, command), command
	}
	for _, n := range tenths {
		text := decimal(n)
		if apart && text[0] != '-' && !(text[0] == '.' && w.point) {
			w.text = append(w.text, ' ')
		}
		w.text, apart, w.point = append(w.text, text...), true, n%10 != 0
	}
}

// decimal writes a number of tenths without a zero that can be left out.
func decimal(tenths int) string {
	sign := ""
	if tenths < 0 {
		sign, tenths = "-", -tenths
	}
	whole := ""
	if tenths >= 10 || tenths == 0 {
		whole = strconv.Itoa(tenths / 10)
	}
	if tenths%10 == 0 {
		return sign + whole
	}
	return sign + whole + "." + strconv.Itoa(tenths%10)
}
