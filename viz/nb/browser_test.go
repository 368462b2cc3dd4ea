//go:build unix

package nb

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/must"
)

var chromium = flag.String("chromium", "", "open outputs in this browser")

// does tells what a reader does at a page, and what is seen then.
const does = `<script>
const said = [], look = q => document.querySelector(q), all = q => [...document.querySelectorAll(q)];
const press = (at, key) => at.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const wait = ms => new Promise(done => setTimeout(done, ms));
onload = async () => {
  for (let i = 0; i < 1000 && !look(".tools button,.pcl-controls"); i++) await wait(200); // of time that runs ahead
  try { %STEPS% } catch (e) { said.push(e); }
  document.body.innerHTML = "<pre id=said></pre>";
  look("#said").textContent = said.join("; ");
};
</script>`

// browsed opens a page with an output in it and returns what it says after some steps.
func browsed(t *testing.T, theme, output, steps string) string {
	t.Helper()
	if *chromium == "" {
		t.Skip("it needs a browser; go test ./viz/nb -run InBrowser -chromium PATH")
	}
	page := filepath.Join(t.TempDir(), "page.html")
	text := `<!doctype html><meta charset="utf-8"><body ` + theme + `>` + strings.Replace(does, "%STEPS%", steps, 1) +
		`<div class="output">` + output + `</div></body>`
	must.Do(t, os.WriteFile(page, []byte(text), 0o644))
	cmd := exec.CommandContext(t.Context(), *chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=600000", "--dump-dom", "file://"+page)
	cmd.WaitDelay = 10 * time.Second
	dom, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	_, said, _ := strings.Cut(string(dom), `<pre id="said">`)
	said, _, _ = strings.Cut(said, "</pre>")
	return said
}

// Where a notebook is trusted its figures answer, each once, in the colours of the theme. Where it
// is not, front ends take out style sheets, drawings and scripts, and the picture is seen.
func TestFiguresAnswerInBrowser(t *testing.T) {
	shown, _ := notebook(t, "figures")
	const steps = `
		said.push(all("img").filter(i => i.offsetWidth).length + " pictures, " + all("figure").filter(i => i.offsetWidth).length + " figures");
		said.push(getComputedStyle(look(".output>*")).colorScheme);
		const plot = look(".pcl-plot");
		if (plot && plot.tabIndex === 0) {
			press(plot, "ArrowRight");
			said.push(look("#pcl-tip").textContent.split("\n").length + " lines");
			press(plot, "+");
			said.push(plot.classList.value);
			look(".pcl-entry[role]").click();
			said.push(all(".off").length > 1);
			look(".tools button").click();
			said.push(all(".data tr").length > 3);
			said.push(location.hash);
		}`
	const answers = "; 3 lines; pcl-plot zoomed; true; true; "
	for _, c := range []struct{ name, theme, output, want string }{
		{"light", `data-jp-theme-light="true"`, pageOf(shown[0]), "0 pictures, 1 figures; light" + answers},
		{"dark", `data-jp-theme-light="false"`, pageOf(shown[0]), "0 pictures, 1 figures; dark" + answers},
		{"dark in VS Code", `class="vscode-dark"`, pageOf(shown[0]), "0 pictures, 1 figures; dark" + answers},
		{"not trusted", "", withoutElements(pageOf(shown[0]), "script", "style", "svg"), "1 pictures, 0 figures; normal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := browsed(t, c.theme, c.output, steps); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// withoutElements takes elements out of HTML as a front end does that does not trust it.
func withoutElements(page string, names ...string) string {
	for _, name := range names {
		for {
			before, rest, found := strings.Cut(page, "<"+name)
			_, after, closed := strings.Cut(rest, "</"+name+">")
			if !found || !closed {
				break
			}
			page = before + after
		}
	}
	return page
}

// A control is words until the kernel answers. A hand moves it, by keys too, and the kernel hears
// turns and places; when the kernel has gone, the words are back.
func TestControlsInBrowser(t *testing.T) {
	shown, _ := notebook(t, "controls")
	const steps = `
		said.push(look(".output").innerText.replace(/\s+/g, " ").length > 60);
		const kernel = globalThis.gonb_comm = {
			heard: [], callbacks: [],
			subscribe(a, f) { this.callbacks.push(f); },
			send(a, v) { if (v === 1) this.callbacks.forEach(f => f(a, 0)); else this.heard.push(v % 1048576); },
		};
		await wait(500);
		const input = look("input,select,.pcl-controls button");
		said.push(all("input,select,.pcl-controls button").length, input.labels[0]?.innerText.split("\n")[0].slice(0, 5) ?? input.textContent);
		if (input.type === "range") { input.value = 0.35; input.dispatchEvent(new Event("input")); said.push(look("output").textContent); }
		else if (input.localName === "select") { input.selectedIndex = 1; input.dispatchEvent(new Event("change")); }
		else { input.click(); input.click(); }
		said.push(kernel.heard.join("+"), look("em") === null);
		globalThis.gonb_comm = undefined;
		input.oninput?.(); input.onchange?.(); input.onclick?.();
		said.push(kernel.heard.length, look("em") !== null);`
	wants := []string{"true; 2; a; 0+0; true; 2; true", "true; 1; τ &lt;1&gt;; 0.4; 3; true; 1; true",
		"true; 1; rule ; 1; true; 1; true"}
	i := 0
	for _, d := range shown {
		if pageOf(d) == "" {
			continue
		}
		want := wants[i]
		i++
		t.Run(want, func(t *testing.T) {
			if got := browsed(t, "", pageOf(d), steps); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}
