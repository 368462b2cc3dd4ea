//go:build unix

package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
	"github.com/parallelcl/parallelcl/viz"
)

var chromium = flag.String("chromium", "", "open pages in this browser, and those of hostile notebooks (minutes)")

// TestZooInBrowser opens the pages in Chromium, with a server that tells what is asked for, and
// clicks on everything: go test ./viz/report -run ZooInBrowser -chromium chromium -v
func TestZooInBrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("it needs a browser and minutes; go test ./viz/report -run ZooInBrowser -chromium PATH")
	}
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
	}))
	defer server.Close()
	b := startBrowser(t, *chromium)
	total := map[string]int{}
	all := specimens()
	slices.SortFunc(all, func(a, b specimen) int { return strings.Compare(a.name, b.name) })
	for _, s := range all {
		page := filepath.Join(t.TempDir(), "page.html")
		text := notebookPage(t, readNotebook(t, writeSpecimen(t, s, server.URL)))
		must.Do(t, os.WriteFile(page, []byte(text), 0o644))
		seen := b.visit(page)
		mu.Lock()
		found := seen.mischief()
		if len(asked) > 0 {
			found = append(found, fmt.Sprintf("%d requests: %s", len(asked), asked[0]))
		}
		asked = nil
		mu.Unlock()
		for _, f := range found {
			kind, _, _ := strings.Cut(strings.TrimLeft(f, "0123456789 "), ":")
			total["with "+kind]++
		}
		if len(found) > 0 {
			total["fired"]++
			t.Errorf("%-50s %s", s.name, strings.Join(found, ", "))
		} else {
			total["quiet"]++
		}
	}
	t.Logf("of %d notebooks: %v", len(all), total)
}

// browser is a Chromium that is told what to do over its debugging pipe.
type browser struct {
	t      *testing.T
	in     io.Writer
	events chan message
	id     int
	target string    // the tab
	seen   []message // since the last visit began
}

// message is a message of the DevTools protocol.
type message struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
}

func startBrowser(t *testing.T, program string) *browser {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--disable-background-networking",
		"--disable-component-update", "--disable-extensions", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe",
		"about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.Stderr, cmd.WaitDelay = io.Discard, 10*time.Second // Wait waits for its children too, which have the same pipe
	must.Do(t, cmd.Start())
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, in: ourIn, events: make(chan message, 1000)}
	go func() {
		defer close(b.events)
		var rest []byte
		chunk := make([]byte, 1<<16)
		for {
			n, err := ourOut.Read(chunk)
			rest = append(rest, chunk[:n]...)
			for {
				line, after, ok := bytes.Cut(rest, []byte{0})
				if !ok {
					break
				}
				var m message
				if json.Unmarshal(line, &m) == nil {
					b.events <- m
				}
				rest = after
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		b.send("", "Browser.close", nil)
		ourIn.Close()
		go func() {
			for range b.events { // it may still be talking
			}
		}()
		slow := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		defer slow.Stop()
		cmd.Wait() // then its profile can go
	})
	return b
}

func (b *browser) send(session, method string, params any) int {
	b.id++
	raw, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	m := message{ID: b.id, Method: method, SessionID: session}
	if params != nil {
		m.Params = raw
	}
	data, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	b.in.Write(append(data, 0))
	return b.id
}

// call sends a command and reads its answer into result.
func (b *browser) call(session, method string, params, result any) error {
	id := b.send(session, method, params)
	deadline := time.After(time.Minute)
	for {
		select {
		case m, ok := <-b.events:
			switch {
			case !ok:
				return errors.New("the browser is gone")
			case m.ID == id && result != nil:
				return json.Unmarshal(m.Result, result)
			case m.ID == id:
				return nil
			}
			b.seen = append(b.seen, m)
		case <-deadline:
			return errors.New("the browser does not answer")
		}
	}
}

// wait gathers events for a while, or until one of the kind comes.
func (b *browser) wait(kind string, d time.Duration) {
	deadline := time.After(d)
	for {
		select {
		case m, ok := <-b.events:
			if !ok {
				return
			}
			b.seen = append(b.seen, m)
			if m.Method == kind {
				return
			}
		case <-deadline:
			return
		}
	}
}

// visited is what a page did.
type visited struct {
	state struct {
		Title, Address string
		Sorts          int
		Ours           bool
	}
	navigations []string
	messages    []string
	err         error
}

// probe tells how the page is, once all in it has been clicked at; a link that a person may follow
// is not followed.
const probe = `(() => {
  for (const a of document.querySelectorAll('a[href^="http"], a[href^="mailto"]')) a.removeAttribute("href");
  for (const e of document.querySelectorAll("main *")) {
    for (const kind of ["mouseover", "pointerenter", "focus", "click"]) e.dispatchEvent(new Event(kind, {bubbles: true}));
    e.click?.();
  }
  return JSON.stringify({Title: document.title, Address: location.href, Sorts: document.querySelectorAll("th[aria-sort] > button").length, Ours: !!document.getElementById("cite")});
})()`

// open opens a page in a tab of its own, in the place of the last, and returns its session.
func (b *browser) open(page string) string {
	b.t.Helper()
	if b.target != "" {
		b.must(b.call("", "Target.closeTarget", map[string]any{"targetId": b.target}, nil))
	}
	b.seen = nil
	var target struct{ TargetID string }
	b.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target))
	b.target = target.TargetID
	var attached struct{ SessionID string }
	b.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": b.target, "flatten": true}, &attached))
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.must(b.call(attached.SessionID, domain+".enable", nil, nil))
	}
	b.must(b.call(attached.SessionID, "Page.navigate", map[string]any{"url": fileAddress(page)}, nil))
	b.wait("Page.loadEventFired", 10*time.Second)
	for ours := false; !ours; b.wait("", 50*time.Millisecond) { // unpacked
		b.must(b.evaluate(attached.SessionID, `JSON.stringify(!!document.querySelector(".switch"))`, &ours))
	}
	return attached.SessionID
}

func (b *browser) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func fileAddress(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

// visit opens a page, waits, and clicks on everything.
func (b *browser) visit(page string) visited {
	var v, after visited
	session := b.open(page)
	b.wait("", 300*time.Millisecond)
	v.err = b.evaluate(session, probe, &v.state)
	b.wait("", 300*time.Millisecond)
	v.err = errors.Join(v.err, b.evaluate(session, strings.ReplaceAll(probe, "main *", "main none"), &after.state))
	v.state.Title, v.state.Address = after.state.Title, after.state.Address
	address := fileAddress(page)
	for _, m := range b.seen {
		switch m.Method {
		case "Page.frameNavigated", "Page.frameScheduledNavigation", "Page.frameRequestedNavigation", "Page.windowOpen",
			"Page.javascriptDialogOpening":
			var p struct {
				URL   string
				Frame struct{ URL string }
			}
			json.Unmarshal(m.Params, &p)
			if to := p.URL + p.Frame.URL; to != "about:blank" && !strings.HasPrefix(to, address) {
				v.navigations = append(v.navigations, to)
			}
		case "Log.entryAdded", "Runtime.exceptionThrown":
			v.messages = append(v.messages, string(m.Params))
		}
	}
	return v
}

func (b *browser) evaluate(session, expression string, result any) error {
	var answer struct{ Result struct{ Value string } }
	if err := b.call(session, "Runtime.evaluate", map[string]any{"expression": expression, "userGesture": true},
		&answer); err != nil {
		return err
	}
	return json.Unmarshal([]byte(answer.Result.Value), result)
}

// mischief tells what the page did that it must not do.
func (v *visited) mischief() []string {
	var found []string
	if v.err != nil {
		found = append(found, "no answer: "+v.err.Error())
	}
	if v.state.Title == "FIRED" {
		found = append(found, "script")
	}
	if len(v.navigations) > 0 {
		found = append(found, "navigation: "+v.navigations[0])
	}
	if !v.state.Ours {
		found = append(found, "other page: "+v.state.Address)
	} else if v.state.Sorts < 2 {
		found = append(found, "our script did not run")
	}
	for _, m := range v.messages {
		found = append(found, "message: "+m)
	}
	return found
}

// answers has the page do things one after the other, and compares what they give: a text without
// spaces around its lines.
func (b *browser) answers(session string, steps [][2]string) {
	b.t.Helper()
	for _, step := range steps {
		var got string
		b.must(b.evaluate(session, `JSON.stringify((`+step[0]+`).replace(/\s*\n\s*/g, "\n").trim())`, &got))
		if got != step[1] {
			b.t.Errorf("%s: %q, want %q", step[0], got, step[1])
		}
	}
}

// complaints are errors of the pages since the last was opened.
func (b *browser) complaints() {
	b.t.Helper()
	for _, m := range b.seen {
		if m.Method == "Log.entryAdded" || m.Method == "Runtime.exceptionThrown" {
			b.t.Errorf("the browser says: %s", m.Params)
		}
	}
}

// TestPagesWorkInBrowser sorts a table, of a notebook and of runs.
func TestPagesWorkInBrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("it needs a browser; go test ./viz/report -run InBrowser -chromium PATH")
	}
	b := startBrowser(t, *chromium)
	page := filepath.Join(t.TempDir(), "page.html")
	text := notebookPage(t, notebookOf(t,
		htmlCell(
			`<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr><tr><td>10</td></tr><tr><td>9</td></tr></tbody></table>`)))
	must.Do(t, os.WriteFile(page, []byte(text), 0o644))
	session := b.open(page)
	const column = `[...document.querySelectorAll(".out td")].map(td => td.textContent).join()`
	b.answers(session, [][2]string{
		{column, "1,10,9"},
		{`(document.querySelector("th button").click(), ` + column + `)`, "10,9,1"},
		{`(document.querySelector("th button").click(), ` + column + `)`, "1,9,10"},
	})
	text = runsPage(t, runsFolder(t, sampleRuns()))
	must.Do(t, os.WriteFile(page, []byte(text), 0o644))
	session = b.open(page)
	const first = `[...document.querySelectorAll("#tg0-0 tbody tr")].map(tr => parseFloat(tr.children[1].textContent)).join(" ")`
	var down, up string
	for _, to := range []*string{&down, &up} {
		must.Do(t, b.evaluate(session, `JSON.stringify((document.querySelectorAll("#tg0-0 th button")[1].click(), `+
			first+`))`, to))
	}
	values := strings.Fields(up)
	slices.Reverse(values)
	if len(values) < 3 || strings.Join(values, " ") != down {
		t.Errorf("sorted down %q and up %q", down, up)
	}
	b.complaints()
}

// TestFiguresAnswerInBrowser: keys tell values, a series is switched off and stays so in the
// address, it lights up in tables, a drag zooms and Escape goes back, and the data are saved
// without formulas. A drawing with hostile names only draws.
func TestFiguresAnswerInBrowser(t *testing.T) {
	if *chromium == "" {
		t.Skip("it needs a browser; go test ./viz/report -run InBrowser -chromium PATH")
	}
	p := viz.NewPlot("", "step", "A, %")
	for i, name := range []string{"EMGD", `"><img src=x onerror="document.title='FIRED'">`, "=cmd()"} {
		p.Line(name, viz.MethodStyle(fmt.Sprint(i)), []float64{1, 2, 3}, []float64{10, 20 + float64(i), 40})
	}
	fig := must.Get(viz.Plots("own", "Three lines.", p))(t)
	frames := viz.DrawFrames(0, []string{"one", "two"}, fig)
	p.LabelEnds() // a key is the page's affair then
	frames.Drawings = append(frames.Drawings, viz.DrawFrames(0, nil, must.Get(viz.Plots("own", "Three lines.", p))(t)).
		Drawings...)
	data := must.Get(json.Marshal(frames))(t)
	page := filepath.Join(t.TempDir(), "page.html")
	text := notebookPage(t, notebookOf(t,
		outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{viz.MediaType: string(data)}})))
	must.Do(t, os.WriteFile(page, []byte(text), 0o644))
	b := startBrowser(t, *chromium)
	session := b.open(page)
	b.wait("", 200*time.Millisecond) // for the values
	const drag = `(kind, x, y) => { const s = document.querySelector(".pcl-plot"), r = s.getBoundingClientRect();
		s.setPointerCapture = () => {};
		s.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: r.left + x * r.width, clientY: r.top + y * r.height})); }`
	const key = `k => document.querySelector(".pcl-plot").dispatchEvent(new KeyboardEvent("keydown", {key: k, bubbles: true}))`
	b.answers(session, [][2]string{
		{`((` + key + `)("ArrowRight"), (` + key + `)("ArrowRight"), tip.textContent)`, "EMGD\nstep: 2\nA, %: 20"},
		{`((` + key + `)("ArrowUp"), tip.textContent.slice(-8))`, "A, %: 21"},
		{`String(document.querySelectorAll(".lit").length > 1)`, "true"},
		{`(document.querySelector(".pcl-entry").click(), location.hash)`, "#?off0=EMGD"},
		{`getComputedStyle(document.querySelector('.pcl-plot [data-series="EMGD"]')).display`, "none"},
		{`(document.querySelector(".pcl-entry").click(), location.hash)`, ""},
		{`((` + drag + `)("pointerdown", .3, .3), (` + drag + `)("pointermove", .6, .6), (` + drag +
			`)("pointerup", .6, .6), document.querySelector(".pcl-plot").classList.value)`, "pcl-plot zoomed"},
		{`String(document.querySelectorAll(".pcl-plot .pcl-axes text").length > 3)`, "true"},
		{`((` + key + `)("Escape"), document.querySelector(".pcl-plot").classList.value)`, "pcl-plot"},
		{
			`(document.querySelector(".pcl-frames input").value = 1, document.querySelector(".pcl-frames input").dispatchEvent(new Event("input")), document.querySelector(".pcl-frames output").textContent)`, "two"},
		{`String(document.querySelectorAll(".pcl-frames > div:not([hidden])").length)`, "1"},
		{`[...document.querySelectorAll(".pcl-swatch")].map(s => s.style.background.slice(0, 4)).join()`, "var(,var(,var("},
		{`(document.querySelector(".switch").click(), document.documentElement.style.colorScheme)`, "dark"},
		{`getComputedStyle(document.body.appendChild(make("div", {className: "code"}, make("b", {}))).firstChild).color`,
			"rgb(194, 151, 255)"},
		{`(window.saved = [], URL.createObjectURL = file => { file.text().then(text => saved.push(file.type + " " + text)); return "blob:none"; },
			HTMLAnchorElement.prototype.click = function () { saved.push(this.download); }, document.querySelectorAll(".pcl-figure .tools button").forEach(e => e.click()), document.title)`, "one"},
	})
	b.wait("", 500*time.Millisecond)
	var got string
	b.must(b.evaluate(session, `JSON.stringify(saved.sort().join("\n") + document.querySelectorAll(".data td").length)`,
		&got))
	for want, n := range map[string]int{"own.csv": 2, "own.svg": 2, "image/svg+xml <svg": 2, "var(": 0,
		"text/csv plot,series,x,y,low,high": 2, ",'=cmd(),1,10": 2, "\n,=cmd": 0, "FIRED'\">": 0} {
		t.Run(want, func(t *testing.T) {
			if c := strings.Count(got, want); c != n {
				t.Errorf("%q %d times among what was saved, want %d: %s", want, c, n, got)
			}
		})
	}
	_, loader, _ := strings.Cut(text, "<script>")
	loader, _, _ = strings.Cut(loader, "</script>")
	b.answers(session, [][2]string{ // in an older browser
		{`(() => { delete self.DecompressionStream; ` + loader + `; return ""; })()`, ""},
		{`document.querySelector("header").lastChild.textContent.slice(0, 31)`, "This browser is too old for the"},
	})
	b.complaints()
}
