package report

import (
	"regexp"
	"slices"
	"strings"
)

var (
	loading = regexp.MustCompile(`(?is)<(?:img|image|script|link|iframe|video|audio|source|object|embed|use|track|input|frame|body|td|table)\b[^>]*?\s(?:src|srcset|href|xlink:href|data|poster|background)\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)`)
	styles  = regexp.MustCompile(`(?is)<style[^>]*>.*?</style>|\sstyle\s*=\s*(?:"[^"]*"|'[^']*')`)
	inStyle = regexp.MustCompile(`(?i)(?:url\(\s*|@import\s+)["']?([^"')\s;]*)`)
)

// loads returns what a browser would fetch to show a piece of a page. What scripts do it cannot
// know; the page's security policy stops them.
func loads(html string) []string {
	var found []string
	add := func(address string) {
		address = strings.TrimSpace(strings.Trim(address, `"'`))
		if address != "" && !strings.HasPrefix(address, "data:") && !strings.HasPrefix(address, "#") && !slices.Contains(found, address) {
			found = append(found, address)
		}
	}
	for _, m := range loading.FindAllStringSubmatch(html, -1) {
		add(m[1])
	}
	for _, style := range styles.FindAllString(html, -1) {
		for _, m := range inStyle.FindAllStringSubmatch(style, -1) {
			add(strings.TrimPrefix(m[1], "&quot;"))
		}
	}
	return found
}
