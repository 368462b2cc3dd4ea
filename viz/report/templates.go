package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

//go:embed *.gohtml
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"policy": func() template.HTML { return policyElements },
	"script": func() template.HTML { return "<script>" + template.HTML(script) + "</script>" },
}).ParseFS(templateFiles, "*.gohtml"))

// script is the one that pages run.
//
//go:embed page.js
var script string

// policyElements tell a browser to run that script and no other, to load nothing, to send nothing and
// not even to look up the addresses of links. What a page must not have in it at all, since no policy
// keeps it from going elsewhere, [notebookRenderer.sanitise] takes out.
var policyElements = func() template.HTML {
	sum := sha256.Sum256([]byte(script))
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-` +
		base64.StdEncoding.EncodeToString(sum[:]) + `'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta http-equiv="x-dns-prefetch-control" content="off">`)
}()

// writePage fills a template; nothing is written if that fails.
func writePage(w io.Writer, name string, page any) error {
	var buf bytes.Buffer
	if err := templates.ExecuteTemplate(&buf, name, page); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
