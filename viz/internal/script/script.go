// Package script has what makes figures answer a reader: they tell values, zoom, and switch series
// off. Pages and outputs of notebooks carry it.
package script

import (
	"embed"
	"regexp"
	"strings"
)

//go:embed *.js *.css
var files embed.FS

// parts are the files of the script, each of which may use what stands in those before.
var parts = strings.Fields("basics save frames light values path axes zoom plot key svgfile figure")

// Source is the script of figures, to be run in a function or a page that has root, outside, view,
// remember and unpack, as basics.js tells.
func Source() string {
	var b strings.Builder
	for _, name := range parts {
		b.WriteString(Short(read(name + ".js")))
	}
	return b.String()
}

// Unpack declares a function of the page's script that reads what viz.Pack has made.
const Unpack = `const unpack = text => new Response(new Blob([Uint8Array.from(atob(text), ` +
	`c => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw")));
`

// Keys declares a function that has JupyterLab leave keys to what has the focus within an element,
// but for those with Ctrl or Command, such as that which saves.
const Keys = `const leaveKeys = at => {
for (const kind of ["focusin", "keydown", "keyup"]) at.addEventListener(kind, e => {
e.target.toggleAttribute("data-lm-suppress-shortcuts", !(e.ctrlKey || e.metaKey));
});
};
`

// Colours are the colours of a page or an output, as variables of CSS.
func Colours() string { return strings.TrimSpace(read("colours.css")) }

// Style is how figures look.
func Style() string { return read("figure.css") }

// Answers is the style of what the script adds.
func Answers() string { return read("answers.css") }

func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it is a part of this package
	}
	return string(text)
}

var commentsAndIndentation = regexp.MustCompile(`(?m)^(?: *//.*\n| +|\n)`)

// Short is a script without comments and indentation.
func Short(source string) string { return commentsAndIndentation.ReplaceAllString(source, "") }
