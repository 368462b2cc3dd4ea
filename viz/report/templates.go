package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
)

//go:embed *.gohtml
var templateFiles embed.FS

var templates = template.Must(template.ParseFS(templateFiles, "*.gohtml"))

// writePage fills a template; nothing is written if that fails.
func writePage(w io.Writer, name string, page any) error {
	var buf bytes.Buffer
	if err := templates.ExecuteTemplate(&buf, name, page); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(buf.Bytes())
	return err
}
