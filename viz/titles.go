package viz

import (
	"sort"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// titleShare is how much of a plot's width a title may fill. The rest is for readers with a
// slightly wider font.
const titleShare = 0.96

// wrapTitles breaks titles that are wider than their plot into lines. The titles of a row then have
// the same number of lines, so that its plots remain aligned.
func (f *Figure) wrapTitles(tiles [][]draw.Canvas) {
	for i, row := range f.Rows {
		titles, most := make([][]string, len(row)), 0
		for j, p := range row {
			if p.Title.Text != "" {
				tile := tiles[i][j]
				titles[j] = broken(p.Title.Text, titleShare*(tile.Max.X-tile.Min.X), p.Title.TextStyle.Width)
			}
			most = max(most, len(titles[j]))
		}
		for j, p := range row {
			if n := len(titles[j]); n > 0 {
				p.Title.Text = strings.Repeat("\n", most-n) + strings.Join(titles[j], "\n")
			}
		}
	}
}

// broken puts as many words of each line of a text into a line as limit allows, and at least one.
func broken(text string, limit vg.Length, width func(string) vg.Length) (lines []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if width(line) <= limit {
			lines = append(lines, line)
			continue
		}
		first := len(lines)
		for _, word := range strings.Fields(line) {
			if last := len(lines) - 1; last >= first && width(lines[last]+" "+word) <= limit {
				lines[last] += " " + word
				continue
			}
			lines = append(lines, word)
		}
	}
	return lines
}

// Names are a user's own, of any length. More of a plot's side than this would push the plot away.
const (
	longestName vg.Length = 150
	longestRow  vg.Length = 80 // of a matrix, which may be one of three side by side
)

// cut takes the middle out of a name that is wider than a limit. Its end often tells it from
// others.
func cut(name string, limit vg.Length) string {
	width := TextStyle(Ink).Width
	if width(name) <= limit {
		return name
	}
	letters := []rune(name)
	without := func(n int) string {
		left := len(letters) - n
		return string(letters[:left-left/2]) + "…" + string(letters[len(letters)-left/2:])
	}
	return without(sort.Search(len(letters), func(n int) bool { return width(without(n)) <= limit }))
}
