package report

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
	"github.com/parallelcl/parallelcl/viz"
)

//go:embed *.gohtml page.js page.css
var templateFiles embed.FS

// loader is the script that pages begin with: it unpacks page.js and its style, or says that a browser of before 2023 cannot.
var loader, script = func() (loader, script string) {
	source, _ := templateFiles.ReadFile("page.js") // which is there
	style, _ := templateFiles.ReadFile("page.css")
	script = regexp.MustCompile(`(?m)^(?: *//.*\n| +)`).ReplaceAllString(string(source), "") + // without comments and indentation
		fmt.Sprintf("document.head.append(make(\"style\", { textContent: %q }));\n", style)
	return `const unpack = text => new Response(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
const put = (at, tag, properties) => document.querySelector(at).append(Object.assign(document.createElement(tag), properties));
Promise.resolve().then(() => unpack("` + viz.Pack([]byte(script)) + `").text()).then(textContent => put("body", "script", { textContent }), () => put("header", "p", { className: "note", textContent: "This browser is too old for the page’s tools: figures, sliders and tables stand still." }));`, script
}()

// Their policy tells a browser to run no other script, to load nothing, to send nothing and not even
// to look up the addresses of links. What a page must not have in it at all, since no policy keeps it from going elsewhere,
// [notebookRenderer.sanitise] takes out.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"script": func() template.HTML { return "<script>" + template.HTML(loader) + "</script>" },
	"scripts": func() string {
		hash := func(text string) string {
			sum := sha256.Sum256([]byte(text))
			return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
		return hash(loader) + " " + hash(script)
	},
}).ParseFS(templateFiles, "*.gohtml"))

// Origin says where a page comes from.
type Origin struct {
	Command string    // what to type to make the page again
	Version string    // of this library, with its commit
	Made    time.Time // left out where it is zero
}

// fact is a name and what it stands for; it is left out where that is empty.
type fact = findings.Fact

// made is the box about a page's origin.
type made struct {
	Command      string
	Facts, Files []fact // Files are the checksums of what the page was made from
}

func (o Origin) made() made {
	m := made{Command: o.Command, Facts: []fact{{Name: "parallelcl", Value: o.Version}, {Name: "Go", Value: runtime.Version()}}}
	if !o.Made.IsZero() {
		m.Facts = append(m.Facts, fact{Name: "page made", Value: o.Made.UTC().Format("2006-01-02 15:04 UTC")})
	}
	return m
}

// shared is a file's name as a page has it: where somebody's folders lie is nobody else's affair.
func shared(path string) string {
	if filepath.IsAbs(path) {
		path = filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
	}
	return filepath.ToSlash(path)
}

func checksum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// sumsOf are the checksums of those files that are there.
func sumsOf(paths ...string) (out []fact) {
	for _, path := range paths {
		if sum, err := download.Sum(context.Background(), path); err == nil {
			out = append(out, fact{Name: shared(path), Value: sum})
		}
	}
	return out
}
