package deploy

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxCount bounds numbers of shards, processors and the like: more are typing errors.
const maxCount = 1_000_000

// checks are errors of single values; the first one counts.
func checks(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("deploy: %w", err)
		}
	}
	return nil
}

// between returns an error unless min ≤ n ≤ max.
func between(what string, n, min, max int) error {
	if n < min || n > max {
		return fmt.Errorf("%s: %d is not between %d and %d", what, n, min, max)
	}
	return nil
}

// matching returns an error unless a text has a form. An empty text stands for what the scheduler does by default.
func matching(what, text string, form *regexp.Regexp, say string) error {
	if text == "" || form.MatchString(text) {
		return nil
	}
	return fmt.Errorf("%s: %q is not %s", what, text, say)
}

// printable returns an error for a text that a reader of the rendered file could not check by eye.
func printable(what, text string) error {
	switch {
	case text == "":
		return fmt.Errorf("%s is missing", what)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s: %q is not valid UTF-8", what, text)
	case strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%s: %q has characters that cannot be printed", what, text)
	}
	return nil
}

// printables returns an error for one of several texts that could not be checked by eye.
func printables(what string, texts []string) error {
	for _, text := range texts {
		if err := printable(what, text); err != nil {
			return err
		}
	}
	return nil
}

// gridName returns an error unless a text can be the name of a grid, or the path of its file.
func gridName(text string) error {
	if strings.HasSuffix(text, ".toml") {
		return absolute("the grid's file", text)
	}
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, `/\`) {
		return fmt.Errorf("the grid's name: %q would be read as a flag or a path", text)
	}
	return printable("the grid's name", text)
}

// absolute returns an error unless a text is a path that means the same on every node.
func absolute(what, text string) error {
	if err := printable(what, text); err != nil {
		return err
	}
	if !path.IsAbs(text) {
		return fmt.Errorf("%s: %q is not an absolute path", what, text)
	}
	return nil
}

// ownFile returns an error unless a text is a path of the user's own that means the same on every node.
func ownFile(text string) error {
	err := absolute("a file of the grid", text)
	if err != nil && !path.IsAbs(text) {
		return fmt.Errorf("%w, so that nodes would look for it elsewhere: write the whole path in the grid's file", err)
	}
	return err
}

// optional returns an error for a text that could not be checked by eye; it may be empty.
func optional(what, text string) error {
	if text == "" {
		return nil
	}
	return printable(what, text)
}

// whole returns an error unless a duration is a whole number of units.
func whole(what string, d, unit time.Duration, units string) error {
	if d%unit != 0 {
		return fmt.Errorf("%s: %v is not a whole number of %s", what, d, units)
	}
	return nil
}

// jobName makes a name from that of a grid, of which schedulers accept every character.
func jobName(grid string) string {
	grid = strings.TrimSuffix(path.Base(grid), ".toml")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower("pcl-"+grid))
	return strings.Trim(name, "-")
}
