package report_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/parallelcl/parallelcl/internal/must"
)

// writeSpecimen writes the notebook, with its metadata and its file's name hostile too.
func writeSpecimen(t *testing.T, s specimen, address string) string {
	t.Helper()
	fill := func(text string) string {
		return strings.NewReplacer("JS", strings.ReplaceAll(js, "URL", address), "URL", address, "GIF", gif).Replace(text)
	}
	// our script marks it
	table := htmlCell(`<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>`)
	markup := `</title></script>"><img src="data:," onerror="JS">`
	data, err := json.Marshal(map[string]any{"nbformat": 4, "cells": []any{table, filled(s.cell, fill), table},
		"metadata": map[string]any{
			"title":         fill(markup),
			"kernelspec":    map[string]any{"name": "x", "display_name": fill(markup)},
			"language_info": map[string]any{"name": "go", "version": fill(markup)},
		}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "<img src=x onerror=alert(1)>.ipynb")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		path = filepath.Join(t.TempDir(), "a.ipynb") // not all systems have such names
		must.Do(t, os.WriteFile(path, data, 0o644))
	}
	return path
}

// filled is a value with its texts, and the names of maps, filled in.
func filled(v any, fill func(string) string) any {
	switch v := v.(type) {
	case string:
		return fill(v)
	case []any:
		var out []any
		for _, x := range v {
			out = append(out, filled(x, fill))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, x := range v {
			out[fill(name)] = filled(x, fill)
		}
		return out
	}
	return v
}

// TestZoo checks the pages of hostile notebooks element by element: what may be in them, and that
// nothing else is.
func TestZoo(t *testing.T) {
	for _, s := range specimens() {
		t.Run(s.name, func(t *testing.T) {
			harmlessPage(t, []byte(notebookPage(t, readNotebook(t, writeSpecimen(t, s, "http://zoo.invalid")))))
		})
	}
}

// Elements and attributes that a page may have.
var (
	pageElements = fieldSet(`html head meta link title style body header footer main nav section article aside div span p pre code details summary
		dl dt dd ol ul li a abbr address b bdi bdo blockquote br caption center cite col colgroup del dfn em figcaption figure h1 h2 h3 h4 h5 h6 hr
		i img input ins kbd mark meter output picture progress q rp rt ruby s samp script small source strike strong sub sup table tbody td tfoot
		th thead time tr tt u var wbr math mi mo mn ms mtext mspace mrow mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd mstyle mpadded menclose mphantom`)
	pageAttributes = fieldSet(`accent accentunder align alt alttext aria-label aria-valuetext charset checked class colspan content dir disabled display displaystyle
		fence form height hidden href http-equiv id lang linethickness loading lspace mathvariant max maxsize media min minsize movablelimits mathcolor mathbackground mathsize
		largeop linebreak depth voffset notation separator scriptlevel name
		abbr cite datetime headers high low nowrap optimum scope span summary usemap
		data-as data-picture open rel reversed role rowspan rspace src srcset start step stretchy style symmetric title type valign value width`)
)

func fieldSet(list string) map[string]bool {
	m := map[string]bool{}
	for _, f := range strings.Fields(list) {
		m[f] = true
	}
	return m
}

// harmlessPage fails where a page holds what could run, load or lead anywhere by itself.
func harmlessPage(t *testing.T, page []byte) {
	t.Helper()
	doc := must.Get(html.Parse(bytes.NewReader(page)))(t)
	count := map[string]int{}
	var metas []string
	for n := range doc.Descendants() {
		switch n.Type {
		case html.CommentNode:
			t.Errorf("a comment: %q", n.Data)
		case html.ElementNode:
			count[n.Data]++
			if !pageElements[n.Data] {
				t.Errorf("an element <%s>", n.Data)
			}
			harmlessAttributes(t, n)
			switch n.Data {
			case "script":
				ours := fmt.Sprintf("script-src '%s' '%s';", hashOf(textIn(n)), hashOf(unpacked(t, textIn(n))))
				if len(n.Attr) > 0 || !strings.Contains(unpacked(t, textIn(n)), "\nclass Plot extends ZoomedAxes {\n") ||
					!strings.Contains(html.UnescapeString(string(page)), ours) {
					t.Errorf("a script that is not ours")
				}
			case "style":
				if text := strings.ToLower(textIn(n)); strings.Contains(text, "url(") || strings.Contains(text, "@import") {
					t.Errorf("a style that loads: %s", text)
				}
			case "meta":
				metas = append(metas, attr(n, "http-equiv")+attr(n, "name")+attr(n, "charset"))
			case "section":
				if attr(n, "id") == "cite" && n.Parent.Data != "footer" && n.Parent.Parent.Data != "body" {
					t.Errorf("the page's last section lies within <%s>", n.Parent.Data)
				}
			}
		}
	}
	for name, want := range map[string]int{"script": 1, "style": 2, "title": 1, "link": 1, "main": 1, "html": 1,
		"body": 1} {
		if count[name] != want {
			t.Errorf("%d elements <%s>, want %d", count[name], name, want)
		}
	}
	if want := []string{"utf-8", "Content-Security-Policy", "referrer", "x-dns-prefetch-control", "viewport",
		"color-scheme"}; !slices.Equal(metas, want) {
		t.Errorf("the page says %q about itself, want %q", metas, want)
	}
}

func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// unpacked is the script that the one of a page unpacks.
func unpacked(t *testing.T, loader string) string {
	t.Helper()
	_, text, _ := strings.Cut(loader, `unpack("`)
	text, _, _ = strings.Cut(text, `"`)
	data := must.Get(base64.StdEncoding.DecodeString(text))(t)
	return string(must.Get(io.ReadAll(flate.NewReader(bytes.NewReader(data))))(t))
}

func textIn(n *html.Node) string {
	if n.FirstChild == nil {
		return ""
	}
	return n.FirstChild.Data
}

func attr(n *html.Node, name string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func harmlessAttributes(t *testing.T, n *html.Node) {
	t.Helper()
	for _, a := range n.Attr {
		value := strings.ToLower(a.Val)
		switch {
		case !pageAttributes[a.Key] || a.Namespace != "":
			t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
		case a.Key == "style" && strings.ContainsAny(value, `\@(`):
			t.Errorf("<%s style=%q>", n.Data, a.Val)
		case a.Key == "src" || a.Key == "srcset":
			harmlessPicture(t, n.Data, a.Val)
		case a.Key == "href" && n.Data == "link":
			if a.Val != "data:," {
				t.Errorf("a link element to %q", a.Val)
			}
		case a.Key == "href":
			u, err := url.Parse(a.Val)
			switch {
			case n.Data != "a":
				t.Errorf("n.Data is %q; want %q", n.Data, "a")
			case err != nil:
				t.Error(err)
			case !slices.Contains([]string{"http", "https", "mailto", ""}, u.Scheme), u.Scheme == "" && u.Host != "":
				t.Errorf("<%s> leads to %q", n.Data, a.Val)
			}
			if u != nil && u.Host != "" && attr(n.Parent.Parent, "id") != "cite" &&
				!strings.Contains(attr(n, "rel"), "noreferrer") {
				t.Errorf("a link to %q tells where it comes from", a.Val)
			}
		}
	}
}

// harmlessPicture reads a data URI. A drawing may hold what it likes: within an <img> nothing of it
// runs or loads, as TestZooInBrowser sees.
func harmlessPicture(t *testing.T, element, uri string) {
	t.Helper()
	media, data, ok := strings.Cut(strings.TrimPrefix(uri, "data:image/"), ";base64,")
	switch {
	case !ok:
		t.Error("ok is false")
	case !slices.Contains([]string{"png", "jpeg", "gif", "webp", "svg+xml"}, media):
		t.Errorf("<%s> shows %.80q", element, uri)
	case element != "img":
		t.Errorf("element is %q; want %q", element, "img")
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		t.Error(err)
	}
}
