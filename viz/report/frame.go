package report

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/stamp"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz"
	"github.com/parallelcl/parallelcl/viz/internal/script"
)

//go:embed *.gohtml page.css script
var templateFiles embed.FS

// pageScripts are the files of the page's own script, which stand after that of figures.
var pageScripts = strings.Fields("scheme view tables scrolling")

// loader is the script that pages begin with: it unpacks the script and its style. In a browser of
// before 2023 it says that it cannot.
var loader, pageScript = func() (loader, source string) {
	source = "\"use strict\";\nconst root = document, outside = document.body;\n" + script.Source()
	for _, name := range pageScripts {
		text, _ := templateFiles.ReadFile("script/" + name + ".js") // which is there
		source += script.Short(string(text))
	}
	style, _ := templateFiles.ReadFile("page.css")
	source += fmt.Sprintf("document.head.append(make(\"style\", { textContent: %q }));\n", script.Answers()+string(style))
	return fmt.Sprintf(loaderText, viz.Pack([]byte(source))), source
}()

const loaderText = script.Unpack +
	`const put = (at, tag, properties) => document.querySelector(at).append(Object.assign(document.createElement(tag), properties));
Promise.resolve().then(() => unpack("%s").text()).then(textContent => put("body", "script", { textContent }), ` +
	`() => put("header", "p", { className: "note", textContent: ` +
	`"This browser is too old for the page’s tools: figures, sliders and tables stand still." }));`

// Their policy tells a browser to run no other script, to load nothing, to send nothing and not
// even to look up the addresses of links. [notebookRenderer.sanitise] takes out what no policy
// keeps from leading elsewhere.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"script": func() template.HTML { return "<script>" + template.HTML(loader) + "</script>" },
	"scripts": func() string {
		hash := func(text string) string {
			sum := sha256.Sum256([]byte(text))
			return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		}
		return hash(loader) + " " + hash(pageScript)
	},
	"colours": func() template.CSS { return template.CSS(script.Colours()) },
	"figures": func() template.CSS { return template.CSS(script.Style()) },
}).ParseFS(templateFiles, "*.gohtml"))

// Origin says where a page comes from.
type Origin struct {
	Command string    // what to type to make the page again
	Version string    // of this library, with its commit
	Made    time.Time // left out where it is zero
}

// fact is a name and what it stands for; it is left out where that is empty.
type fact = rows.Fact

// made is the box about a page's origin.
type made struct {
	Command      string
	Facts, Files []fact // Files are the checksums of what the page was made from
}

func (o Origin) made() made {
	m := made{Command: o.Command, Facts: []fact{{Name: "parallelcl", Value: version(o.Version)},
		{Name: "Go", Value: runtime.Version()}}}
	if !o.Made.IsZero() {
		m.Facts = append(m.Facts, fact{Name: "page made", Value: o.Made.UTC().Format("2006-01-02 15:04 UTC")})
	}
	return m
}

// version returns what is known of a program's version and commit. A build of a working copy may
// know neither.
func version(text string) string {
	return strings.TrimSpace(strings.NewReplacer("(devel)", "", "unknown", "").Replace(text))
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
		if sum, err := stamp.Sum(context.Background(), path); err == nil {
			out = append(out, fact{Name: shared(path), Value: sum})
		}
	}
	return out
}
