package report_test

import (
	"encoding/base64"
	"strings"
)

// specimen is a hostile notebook: its one cell, in which URL stands for an address that must not be
// asked for and JS for a script that must not run. Each tries both where it can.
type specimen struct {
	name string
	cell map[string]any
}

// gif is a picture that loads, where GIF stands.
const gif = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

// js marks the page, calls the address, and goes there.
const js = `document.title='FIRED';new Image().src='URL/image';location='URL/navigation'`

var svgScript = `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>JS</script><rect width="9" height="9" onload="JS"/></svg>`

// zoo is written into Markdown and into an output of the type text/html, each.
var zoo = map[string]string{
	"script":                  `<script>JS</script>`,
	"script, upper case":      `<SCRIPT>JS</SCRIPT >`,
	"script, a slash":         `<script/x>JS</script>`,
	"script, twice":           `<scr<script>ipt>JS</scr</script>ipt><script>JS</script>`,
	"script, unfinished":      `<div><script>JS`,
	"script from elsewhere":   `<script src="URL/script.js"></script>`,
	"script as module":        `<script type="module">import "URL/module.js"; JS</script>`,
	"import map":              `<script type="importmap">{"imports":{"a":"URL/a.js"}}</script><script type="module">import "a"</script>`,
	"speculation rules":       `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["URL/prefetch"],"eagerness":"immediate"}]}</script>`,
	"script with our nonce":   `<script nonce="a" integrity="sha256-a">JS</script>`,
	"img onerror":             `<img src="data:," onerror="JS">`,
	"img onload":              `<img src="GIF" onload="JS">`,
	"img srcset":              `<img srcset="URL/srcset 2x" src="GIF">`,
	"img, slashes for spaces": `<img/src="GIF"/onload="JS"/>`,
	"img, quotes in quotes": `<img alt="<img src=GIF onload='` + "`" + `" title="` + "`" +
		`><img src='GIF' onload=JS>">`,
	"picture":                  `<picture><source srcset="URL/source"><img src="GIF"></picture>`,
	"svg script":               svgScript,
	"svg onload":               `<svg onload="JS"><rect/></svg>`,
	"svg foreignObject":        `<svg><foreignObject><iframe srcdoc="<script>JS</script>"></iframe><img src="GIF" onload="JS"></foreignObject></svg>`,
	"svg image":                `<svg width="9" height="9"><image href="URL/image" width="9" height="9"/></svg>`,
	"svg feImage":              `<svg width="9" height="9"><filter id="f"><feImage href="URL/feimage"/></filter><rect width="9" height="9" filter="url(#f)"/></svg>`,
	"svg use":                  `<svg width="9" height="9"><use href="URL/use.svg#a"/></svg>`,
	"svg animate":              `<svg><a id="a"><animate attributeName="href" values="javascript:JS" begin="0s"/><text y="9">x</text></a><set attributeName="onmouseover" to="JS"/><animate onbegin="JS" attributeName="x" dur="1s"/></svg>`,
	"svg style":                `<svg><style><img src="GIF" onload="JS"></style></svg>`,
	"svg title":                `<svg><title><img src="GIF" onload="JS"></title></svg>`,
	"svg CDATA":                `<svg><style><![CDATA[</style><img src="GIF" onload="JS">]]></style></svg>`,
	"svg desc":                 `<svg></p><desc><style><a title="</style><img src='GIF' onload=JS>"></desc></svg>`,
	"math maction":             `<math><maction actiontype="statusline" href="javascript:JS"><mtext>a</mtext></maction></math>`,
	"math namespaces":          `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src='GIF' onload=JS&gt;"></table></mtext></math>`,
	"math annotation":          `<math><annotation-xml encoding="text/html"><img src="GIF" onload="JS"><script>JS</script></annotation-xml></math>`,
	"form in math":             `<form><math><mtext></form><form><mglyph><style></math><img src="GIF" onload="JS"></style></form>`,
	"noscript":                 `<noscript><p title="</noscript><img src='GIF' onload=JS>"></noscript>`,
	"template":                 `<template><script>JS</script></template><template shadowrootmode="open"><img src="GIF" onload="JS"></template>`,
	"textarea":                 `<textarea><img title="</textarea><img src='GIF' onload=JS>"></textarea>`,
	"title":                    `<title><img title="</title><img src='GIF' onload=JS>"></title>`,
	"xmp":                      `<xmp><p title="</xmp><img src='GIF' onload=JS>"></xmp>`,
	"plaintext":                `<table><plaintext><img src="GIF" onload="JS">`,
	"select":                   `<select><option><style></option></select><img src="GIF" onload="JS"></style>`,
	"comment":                  `<!--><img src="GIF" onload="JS">--><!-- --!><img src="GIF" onload="JS"><!--`,
	"comment, conditional":     `<!--[if gte IE 4]><script>JS</script><![endif]--><![if true]><img src="GIF" onload="JS"><![endif]>`,
	"CDATA":                    `<![CDATA[<p>]]><img src="GIF" onload="JS">]]>`,
	"instruction":              `<?xml-stylesheet href="URL/a.css"?><?<img src="GIF" onload="JS">?>`,
	"doctype":                  `<!DOCTYPE html [<!ENTITY a SYSTEM "URL/entity">]><img src="GIF" onload="JS">&a;`,
	"zero in a tag":            "<scr\x00ipt>JS</scr\x00ipt><img\x00src=GIF\x00onload=JS><img src='GIF' onerr\x00or=JS>",
	"end tags":                 `</div></div></main></body></html><script>JS</script><body onload="JS">`,
	"iframe":                   `<iframe src="URL/frame"></iframe>`,
	"iframe srcdoc":            `<iframe srcdoc="<script>parent.document.title='FIRED';parent.location='URL/srcdoc'</script>"></iframe>`,
	"iframe, JavaScript":       `<iframe src="javascript:parent.document.title='FIRED'"></iframe>`,
	"iframe, data":             `<iframe src="data:text/html,<script>top.location='URL/data'</script>"></iframe>`,
	"frameset":                 `<frameset onload="JS"><frame src="URL/frame"></frameset>`,
	"object":                   `<object data="URL/object" type="text/html"></object><object data="data:text/html,<script>top.location='URL'</script>"></object>`,
	"embed":                    `<embed src="URL/embed"><embed src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='JS'/>">`,
	"portal and fenced frame":  `<portal src="URL/portal"></portal><fencedframe src="URL/fenced"></fencedframe><webview src="URL/view"></webview>`,
	"meta refresh":             `<meta http-equiv="refresh" content="0;url=URL/refresh">`,
	"meta refresh, JavaScript": `<meta http-equiv="refresh" content="0;url=javascript:JS">`,
	"meta policy":              `<meta http-equiv="Content-Security-Policy" content="default-src *"><meta name="referrer" content="unsafe-url">`,
	"base":                     `<base href="URL/base/" target="_top"><img src="picture.png">`,
	"link stylesheet":          `<link rel="stylesheet" href="URL/style.css">`,
	"link preload":             `<link rel="preload" as="image" href="URL/preload"><link rel="modulepreload" href="URL/module.js"><link rel="prefetch" href="URL/prefetch">`,
	"link preconnect":          `<link rel="preconnect" href="URL/"><link rel="dns-prefetch" href="URL/"><link rel="prerender" href="URL/prerender">`,
	"link icon and manifest":   `<link rel="icon" href="URL/icon.png"><link rel="manifest" href="URL/manifest.json"><link rel="import" href="URL/import.html">`,
	"style import":             `<style>@import url("URL/import.css"); @import "URL/b.css";</style>`,
	"style url":                `<style>body{background:url(URL/background)} @font-face{font-family:a;src:url(URL/font)} *{font-family:a!important}</style>`,
	"style attribute url":      `<p style="background-image:url('URL/background');list-style-image:url(URL/list);content:url(URL/content)">x</p>`,
	"style attribute, escaped": `<p style="background:u\72l(URL/background)">x</p><p style="background:image-set('URL/set' 1x)">x</p>`,
	"style expression":         `<p style="width:expression(JS);behavior:url(URL/a.htc);-moz-binding:url(URL/a.xml#a)">x</p>`,
	"style over the page":      `<style>body{display:none}</style><a href="https://example.org" style="position:fixed;inset:0;z-index:9;opacity:0">x</a>`,
	"form":                     `<form action="URL/form" method="post" id="f"><input name="a" autofocus onfocus="this.form.submit()"></form><script>f.submit()</script>`,
	"formaction":               `<form id="g"></form><button form="g" formaction="URL/form">x</button><input type="submit" formaction="URL/form"><input type="image" src="URL/image">`,
	"input":                    `<input autofocus onfocus="JS"><input type="range" oninput="JS" onchange="JS" value="1"><input type="image" src="URL/image">`,
	"contenteditable":          `<div contenteditable autofocus tabindex="1" onfocus="JS">x</div><p accesskey="x" onclick="JS">x</p>`,
	"popover":                  `<button popovertarget="p">x</button><div popover id="p" onbeforetoggle="JS">x</div><dialog open onclose="JS">x</dialog>`,
	"details":                  `<details open ontoggle="JS"><summary>x</summary></details>`,
	"video":                    `<video src="URL/video" poster="URL/poster" autoplay onload="JS"><source src="URL/source" onload="JS"><track src="URL/track" default kind="captions"></video>`,
	"audio":                    `<audio src="URL/audio" autoplay onload="JS"></audio><bgsound src="URL/sound">`,
	"marquee":                  `<marquee onstart="JS" onfinish="JS" loop="1">x</marquee>`,
	"animation":                `<style>@keyframes a{from{color:red}}</style><p style="animation:a 1s" onanimationstart="JS">x</p>`,
	"body and html":            `<body onload="JS" background="URL/background"><html onclick="JS" manifest="URL/manifest">`,
	"table background":         `<table background="URL/table"><td background="URL/cell">x</td></table>`,
	"links":                    `<a href="javascript:JS">a</a> <a href="JaVa&#x09;script:JS">b</a> <a href=" &#1;javascript:JS">c</a> <a href="data:text/html,<script>JS</script>">d</a> <a href="vbscript:x">e</a> <a href="file:///etc/passwd">f</a> <a href="//example.org">g</a> <a href="blob:x">h</a>`,
	"link ping":                `<a href="https://example.org/" ping="URL/ping" target="_top" download="x" attributionsrc="URL/a" rel="opener">x</a>`,
	"link xlink":               `<svg><a xlink:href="javascript:JS"><text y="9">x</text></a></svg><math xlink:href="javascript:JS" href="javascript:JS"><mi>x</mi></math>`,
	"area":                     `<map name="m"><area shape="default" href="javascript:JS" ping="URL/ping"></map><img usemap="#m" src="GIF">`,
	"gadget: sort":             `<table class="sortable"><thead><tr><th aria-sort="none"><button onclick="JS">x</button><img src="GIF" onload="JS"></th></tr></thead><tbody><tr><td data-sort="<img src=GIF onload=JS>">&lt;img src=GIF onload=JS&gt;</td></tr></tbody></table>`,
	"gadget: slider":           `<div id="pcl-slider-x"><div><input type="range" max="1" value="0" aria-valuetext="<img src=GIF onload=JS>"><output><span>&lt;img src=GIF onload=JS&gt;</span><script>JS</script></output></div><div><div>a</div><div hidden><iframe srcdoc="<script>JS</script>"></iframe></div></div></div>`,
	"gadget: clobbering":       `<form name="querySelectorAll"><input name="children"></form><img name="createElement" src="GIF"><a id="document"></a><a id="location" href="javascript:JS">x</a>`,
	"gadget: classes":          `<div class="box cell sortable" id="cite"><h2>Cite</h2></div><thead><th>x</th></thead>`,
	"custom element":           `<x-a onclick="JS" style="animation:x" is="a"></x-a><slot onslotchange="JS"></slot><isindex type="image" src="URL/i" action="javascript:JS">`,
	"object from XML":          `<xml src="URL/xml"></xml><x:script xmlns:x="http://www.w3.org/1999/xhtml">JS</x:script><a:img xmlns:a="http://www.w3.org/1999/xhtml" src="GIF" onload="JS"/>`,
	"entities":                 `&lt;script&gt;JS&lt;/script&gt; <a title="&quot;&gt;&lt;img src=GIF onload=JS&gt;">x</a>`,
	"formula in an attribute": `$onload=JS//$ <img alt="` + "\ufdd00\ufdd1" + `" src="GIF"> <a title='` +
		"\ufdd00\ufdd1" + `'>x</a>`,
	"layers of nested unclosed": strings.Repeat(`<div style="display:none"><table><tr><td>`, 50) + `<script>JS</script>`,
	"drawing again and again": `<svg>` +
		strings.Repeat(`<g id="a"><use href="#b"/><use href="#b"/></g><g id="b"><use href="#a"/><use href="#a"/></g>`, 9) +
		`</svg>`,
	"a table of millions":   `<table><tr><td colspan="9999999" rowspan="9999999">x</td></tr></table>`,
	"handlers of all kinds": handlers(),
	"picture, JavaScript": `<img src="data:image/svg+xml;base64,` +
		base64.StdEncoding.EncodeToString([]byte(svgScript)) + `">`,
	"picture, not one": `<object type="image/svg+xml" data="data:image/svg+xml;base64,` +
		base64.StdEncoding.EncodeToString([]byte(svgScript)) + `"></object>`,
	"words that end the comment": `-->]]></style></script></title></textarea><script>JS</script>`,
}

// handlers sets many at once.
func handlers() string {
	var b strings.Builder
	b.WriteString("<div tabindex=0 autofocus")
	for _, name := range strings.Fields(`onload onerror onclick onfocus onfocusin onmouseover onpointerenter onscroll onscrollend onanimationstart
		ontransitionend onwheel oncopy onpaste oncut onbeforeprint onafterprint onpageshow onhashchange onresize onmessage oncontextmenu
		oncontentvisibilityautostatechange onbeforematch onsecuritypolicyviolation`) {
		b.WriteString(" " + name + `="JS"`)
	}
	return b.String() + ">x</div>"
}

// otherCells are hostile in places of their own.
func otherCells() []specimen {
	display := func(media string, data any) map[string]any {
		return outputCell(map[string]any{"output_type": "display_data", "data": map[string]any{media: data}})
	}
	markup := `</pre></div></script></title></textarea>--><script>JS</script><img src="GIF" onload="JS">`
	return []specimen{
		{"output: application/javascript", display("application/javascript", "JS")},
		{"output: application/vnd.jupyter.widget-view+json",
			display("application/vnd.jupyter.widget-view+json", map[string]any{"model_id": "<script>JS</script>"})},
		{"output: image/svg+xml", display("image/svg+xml", svgScript)},
		{"output: image/svg+xml that is HTML", display("image/svg+xml", `<img src="GIF" onload="JS">`)},
		{"output: image/png that is HTML", display("image/png", `"><script>JS</script>`)},
		{"output: image/png that is SVG", display("image/png", base64.StdEncoding.EncodeToString([]byte(svgScript)))},
		{"output: text/plain", display("text/plain", markup)},
		{"output: text/latex", display("text/latex", `$\text{`+markup+`}$`)},
		{"output: text/latex, a link", display("text/latex", `\href{javascript:JS}{x}`)},
		{"output: text/markdown", display("text/markdown", "[x](javascript:JS)\n\n"+markup)},
		{"output: unknown type with markup", display(`x"><script>JS</script>`, "a")},
		{"output: width with markup", outputCell(map[string]any{"output_type": "display_data",
			"data": map[string]any{"image/gif": strings.TrimPrefix(gif, "data:image/gif;base64,"),
				"text/plain": `"><script>JS</script>`},
			"metadata": map[string]any{"image/gif": map[string]any{"width": `1px"><script>JS</script>`}}})},
		{"stream", outputCell(map[string]any{"output_type": "stream", "name": `stdout"><script>JS</script>`,
			"text": "\x1b[31m" + markup + "\x1b]8;;javascript:JS\x07x\x1b]8;;\x07"})},
		{"traceback", outputCell(map[string]any{"output_type": "error", "ename": markup, "evalue": markup,
			"traceback": []any{"\x1b[31m" + markup + "\x1b[0m", markup}})},
		{"code", map[string]any{"cell_type": "code", "source": "// " + markup + "\nvar a = `" + markup + "`\n%%html\n" +
			markup, "execution_count": 1, "outputs": []any{}}},
		{"raw cell", map[string]any{"cell_type": "raw", "source": markup, "metadata": map[string]any{"format": "text/html"}}},
		{"formula", markdownCell(`$\text{` + markup + `}$ $$\mathrm{<script>JS</script>}$$ $<img src=GIF onload=JS>$`)},
		{"formula, environment", markdownCell(`\begin{align}<script>JS</script>\end{align}`)},
		{"heading", markdownCell("# <script>JS</script> x <img src='GIF' onload='JS'> " + `"><script>JS</script>` +
			"\n\n## `</title><script>JS</script>`")},
		{"heading, attributes", markdownCell(`# x {onclick="JS" href="javascript:JS"}`)},
		{"Markdown links", markdownCell(
			"[a](javascript:JS) [b](<java\tscript:JS>) [c](data:text/html;base64,PHNjcmlwdD4=) <javascript:JS> [d]\n\n[d]: javascript:JS \"x\"\n\n![e](javascript:JS)")},
		{"Markdown link with quotes", markdownCell(`[a](https://example.org/"onmouseover="JS "x\" onclick=\"JS")`)},
		{"Markdown picture from elsewhere", markdownCell("![x](URL/picture.png)")},
		{"Markdown picture with quotes", markdownCell(`![" onload="JS](GIF "\" onload=\"JS")`)},
		{"Markdown picture, formula", markdownCell(`![a $"onload=JS//$ b](GIF)`)},
		{"footnote", markdownCell("x[^\"><script>JS</script>]\n\n[^\"><script>JS</script>]: <script>JS</script>")},
		{"table",
			markdownCell("|<script>JS</script>|b|\n|:-|-|\n|<img src='GIF' onload='JS'>|`</table><script>JS</script>`|")},
		{"fence", markdownCell("```\"><script>JS</script>\n</code></pre><script>JS</script>\n```")},
		{"attachment", map[string]any{"cell_type": "markdown", "source": "![x](attachment:a.png)",
			"attachments": map[string]any{
				"a.png": map[string]any{`text/html"><script>JS</script>`: base64.StdEncoding.EncodeToString(
					[]byte("<script>JS</script>"))}}}},
		{"attachment, SVG", map[string]any{"cell_type": "markdown", "source": "![x](attachment:a.svg)",
			"attachments": map[string]any{"a.svg": map[string]any{"image/svg+xml": svgScript}}}},
	}
}

// specimens are all of them.
func specimens() []specimen {
	var out []specimen
	for name, text := range zoo {
		out = append(out, specimen{"output: " + name, htmlCell(text)}, specimen{"Markdown: " + name, markdownCell(text)})
	}
	return append(out, otherCells()...)
}
