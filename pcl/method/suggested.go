package method

import "fmt"

// suggested asks whether the one name was meant that is closest to a mistyped one: it is empty if several are as close, or
// none is.
func suggested(typed string, names []string) string {
	best, closest, several := len(typed)/3+1, "", false
	for _, name := range names {
		switch d := edits(typed, name); {
		case d < best:
			best, closest, several = d, name, false
		case d == best:
			several = true
		}
	}
	if closest == "" || several {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", closest)
}

// edits counts the letters that have to be put in, taken out, replaced, or swapped with the next one, to make b of a.
func edits(a, b string) int {
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range now {
		now[j] = j
	}
	for i := range len(a) {
		before, last, now = last, now, before
		now[0] = i + 1
		for j := range len(b) {
			now[j+1] = min(last[j+1], now[j]) + 1
			if a[i] == b[j] {
				now[j+1] = min(now[j+1], last[j])
			} else {
				now[j+1] = min(now[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				now[j+1] = min(now[j+1], before[j-1]+1)
			}
		}
	}
	return now[len(b)]
}
