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
	"strings"
	"time"

	"github.com/parallelcl/parallelcl/internal/stamp"
	"github.com/parallelcl/parallelcl/pcl/results/rows"
	"github.com/parallelcl/parallelcl/viz"
)

//go:embed *.gohtml page.css script
var templateFiles embed.FS

// scripts are the files of the page's script, each of which may use what stands in those before.
var scripts = strings.Fields(`basics scheme view save tables frames light values path axes zoom plot key
	svgfile figure scrolling`)

// loader is the script that pages begin with: it unpacks the script and its style. In a browser of
// before 2023 it says that it cannot.
var loader, script = func() (loader, script string) {
	var source strings.Builder
	for _, name := range scripts {
		text, _ := templateFiles.ReadFile("script/" + name + ".js") // which is there
		source.Write(text)
	}
	style, _ := templateFiles.ReadFile("page.css")
	commentsAndIndentation := regexp.MustCompile(`(?m)^(?: *//.*\n| +|\n)`)
	script = commentsAndIndentation.ReplaceAllString(source.String(), "") +
		fmt.Sprintf("document.head.append(make(\"style\", { textContent: %q }));\n", style)
	return fmt.Sprintf(loaderText, viz.Pack([]byte(script))), script
}()

const loaderText = `const unpack = text => new Response(new Blob([Uint8Array.from(atob(text), c => c.charCodeAt(0))]).stream()` +
	`.pipeThrough(new DecompressionStream("deflate-raw")));
const put = (at, tag, properties) => document.querySelector(at).append(Object.assign(document.createElement(tag), properties));
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
