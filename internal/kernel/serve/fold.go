package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
)

// The output of a cell is shown up to a limit: front ends freeze over hundreds of thousands of
// lines. Beyond the limit the newest lines are shown now and then and at the end, with the number
// of lines left out.
const (
	showLines, showBytes = 5000, 1 << 20
	keepLines, keepBytes = 100, 1 << 16
	crashLines           = 25 // of what the runtime says of a process that ends
	foldTime             = 10 * time.Second
)

// fold is the text of one stream of a cell.
type fold struct {
	mu           sync.Mutex
	lines, bytes int         // how many may still be shown at once
	keep         int         // how many of the newest lines beyond these are held
	begun        bool        // the fields above have been set
	held         []byte      // the newest text that has not been shown
	left         int         // how many lines were left out before held
	due          *time.Timer // shows what is held; nil if nothing is
}

// crash begins what the runtime says of a process that ends.
var crash = regexp.MustCompile(`(?m)^(fatal error: |runtime: goroutine stack exceeds)`)

// print shows what a program of the cell has printed.
func (r *request) print(name, text string) {
	found, _ := r.folds.LoadOrStore(name, new(fold))
	f := found.(*fold)
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.begun {
		f.begun, f.lines, f.bytes, f.keep = true, showLines, showBytes, keepLines
	}
	if at := crash.FindStringIndex(text); at != nil {
		f.lines, f.keep = min(f.lines, strings.Count(text[:at[0]], "\n")+crashLines), crashLines/2
	}
	n := 0
	for n < len(text) && f.lines > 0 && f.bytes > 0 && len(f.held) == 0 {
		end := len(text)
		if i := strings.IndexByte(text[n:], '\n'); i >= 0 {
			end, f.lines = n+i+1, f.lines-1
		}
		end = min(end, n+f.bytes)
		f.bytes -= end - n
		n = end
	}
	if n > 0 {
		r.stream(name, strings.ToValidUTF8(text[:n], ""))
	}
	if n == len(text) {
		return
	}
	f.held = append(f.held, text[n:]...)
	if cut := len(f.held) - keepBytes; cut > 0 {
		f.drop(cut)
	}
	if extra := bytes.Count(f.held, []byte("\n")) - f.keep; extra > 0 {
		at := 0
		for range extra {
			at += bytes.IndexByte(f.held[at:], '\n') + 1
		}
		f.drop(at)
	}
	if f.due == nil {
		f.due = time.AfterFunc(foldTime, func() { r.unfold() })
	}
}

// drop leaves out the first n bytes of what is held.
func (f *fold) drop(n int) {
	f.left += max(1, bytes.Count(f.held[:n], []byte("\n")))
	f.held = append([]byte(nil), f.held[n:]...)
}

// unfold shows the text that is held, with the number of lines left out before it.
func (r *request) unfold() {
	r.folds.Range(func(name, found any) bool {
		f := found.(*fold)
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.due != nil {
			f.due.Stop()
			f.due = nil
		}
		if text := strings.ToValidUTF8(string(f.held), ""); text != "" {
			if f.left > 0 {
				text = fmt.Sprintf("\n[... %d lines are left out ...]\n", f.left) + text
			}
			r.stream(name.(string), text)
			f.held, f.left = nil, 0
		}
		return true
	})
}
