package report

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	"github.com/parallelcl/parallelcl/internal/download"
	"github.com/parallelcl/parallelcl/pcl/results/findings"
)

//go:embed *.gohtml page.js
var templateFiles embed.FS

// script is the one that pages run. Their policy tells a browser to run no other, to load nothing, to send nothing and not even
// to look up the addresses of links. What a page must not have in it at all, since no policy keeps it from going elsewhere,
// [notebookRenderer.sanitise] takes out.
var script = func() string {
	source, _ := templateFiles.ReadFile("page.js")                                         // which is there
	return regexp.MustCompile(`(?m)^(?: *//.*\n| +)`).ReplaceAllString(string(source), "") // without comments and indentation
}()

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"script": func() template.HTML { return "<script>" + template.HTML(script) + "</script>" },
	"hash": func() string {
		sum := sha256.Sum256([]byte(script))
		return base64.StdEncoding.EncodeToString(sum[:])
	},
}).ParseFS(templateFiles, "*.gohtml"))

// writePage fills a template.
func writePage(w io.Writer, name string, page any) error {
	if err := templates.ExecuteTemplate(w, name, page); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

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
