package texts

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// texts returns the files that people read, by path. Made-up notebooks and pages in testdata are
// none.
func texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	paths := sources(t)
	for _, p := range paths {
		readable := slices.Contains([]string{".go", ".md", ".ipynb", ".txtar", ".sh", ".py"}, path.Ext(p)) ||
			strings.HasPrefix(p, ".ci/")
		if !readable || strings.Contains(p, "testdata/") && path.Ext(p) != ".txtar" {
			continue
		}
		out[p] = read(t, p)
	}
	if len(out) < 100 {
		t.Fatalf("only %d texts were found", len(out))
	}
	return out
}

var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// sections are the numbers of a document's headings, e.g. "2" and "2.1".
func sections(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		if n := regexp.MustCompile(`^(\d+(?:\.\d+)*)\.? `).FindStringSubmatch(h[1]); n != nil {
			out[n[1]] = true
		}
	}
	return out
}

// anchors are the fragments that lead to a document's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		out[strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '-' || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, h[1])] = true
	}
	return out
}

// A citation is a section number and the document that it belongs to, empty where that is somebody
// else's publication, or "?" where it cannot be told.
type citation struct{ document, section string }

var (
	section      = regexp.MustCompile(`§(\d+(?:\.\d+)*)`)
	beforeIsFile = regexp.MustCompile(`[\w/.-]+\.md$`)
	beforeIsYear = regexp.MustCompile(`\b(?:19|20)\d\d,$`)
	beforeIsList = regexp.MustCompile(`§[\d.]+(?:,| and)$`)
)

// citations finds what a text cites: "docs/method.md §2.1, §2.2", "(van der Maaten 2014, §4.2)",
// and in a document also its own sections.
func citations(file, text string) (out []citation) {
	for _, m := range section.FindAllStringSubmatchIndex(text, -1) {
		before := strings.TrimRight(text[:m[0]], " \t\n/#([")
		c := citation{"?", text[m[2]:m[3]]}
		switch name := beforeIsFile.FindString(before); {
		case beforeIsYear.MatchString(before):
			c.document = ""
		case name != "":
			c.document = name
		case beforeIsList.MatchString(before) && len(out) > 0:
			c.document = out[len(out)-1].document
		case path.Ext(file) == ".md":
			c.document = file
		}
		out = append(out, c)
	}
	return out
}

// TestCitedSectionsExist: whoever reads a citation finds the section, in this repository or in
// print.
func TestCitedSectionsExist(t *testing.T) {
	all, cited := texts(t), 0
	for file, text := range all {
		if file == "internal/texts/citations_test.go" {
			continue
		}
		for _, c := range citations(file, text) {
			if c.document == "" {
				continue
			}
			cited++
			document := c.document
			if all[document] == "" { // a document may name the one beside it
				document = path.Join(path.Dir(file), document)
			}
			switch {
			case c.document == "?":
				t.Errorf("%s cites §%s of a text that is not named, or not in the repository", file, c.section)
			case all[document] == "":
				t.Errorf("%s cites §%s of %s, which is not there", file, c.section, c.document)
			case !sections(all[document])[c.section]:
				t.Errorf("%s cites §%s of %s, which has no such section", file, c.section, c.document)
			}
		}
	}
	if cited < 100 {
		t.Fatalf("only %d citations were found", cited)
	}
}

// TestNamedDocumentsExist: no text sends its reader to a document that is not in the repository. A
// name in capitals that is cited like a document, as in `THESIS §3` or `THESIS.md`, counts as one
// too. The last names in the pattern are those of texts that were cited once and never part of the
// repository.
func TestNamedDocumentsExist(t *testing.T) {
	document := regexp.MustCompile(`[\w/.-]*\w\.md\b`)
	capitals := regexp.MustCompile(`\b[A-Z]{4,}(?: "|,? §)|\b(?:METHODS|PROTOCOL|PLATFORM|DESIGN)\b`)
	paths := sources(t)
	for file, text := range texts(t) {
		if strings.HasPrefix(file, "internal/texts/") || path.Ext(file) == ".py" { // which writes one
			continue
		}
		for _, name := range document.FindAllString(text, -1) {
			// in notebooks, which are copied
			there, _ := strings.CutPrefix(strings.TrimLeft(name, "./"), "github.com/parallelcl/parallelcl/blob/HEAD/")
			if !contains(paths, there) {
				t.Errorf("%s names %s, which is not there", file, name)
			}
		}
		if strings.HasSuffix(file, ".go") || strings.HasSuffix(file, ".md") || strings.HasSuffix(file, ".ipynb") {
			for _, name := range capitals.FindAllString(comments(file, text), -1) {
				t.Errorf("%s cites %s…, which is not there", file, name)
			}
		}
	}
}

// comments is a Go file's whole-line comments, and all of another text.
func comments(file, text string) string {
	if path.Ext(file) != ".go" {
		return text
	}
	return strings.Join(regexp.MustCompile(`(?m)^\s*//.*$`).FindAllString(text, -1), "\n")
}

// TestLinksLeadSomewhere: relative links between the documents lead to files and headings that are
// there.
func TestLinksLeadSomewhere(t *testing.T) {
	all, links := texts(t), 0
	paths := sources(t)
	for file, text := range all {
		if path.Ext(file) != ".md" {
			continue
		}
		for _, m := range regexp.MustCompile(`\]\(([^)\s:]+)\)`).FindAllStringSubmatch(text, -1) {
			links++
			target, fragment, _ := strings.Cut(m[1], "#")
			name := file
			if target != "" {
				name = path.Join(path.Dir(file), target)
			}
			switch {
			case strings.HasPrefix(name, ".."): // an example of a link that is refused
			case !contains(paths, name) && !folder(paths, name):
				t.Errorf("%s links to %s, which is not there", file, m[1])
			case fragment != "" && !anchors(all[name])[fragment]:
				t.Errorf("%s links to %s, which has no such heading", file, m[1])
			}
		}
	}
	if links < 20 {
		t.Fatalf("only %d links were found", links)
	}
}

// folder says whether files lie in a folder of that path, or one that ends with it.
func folder(paths []string, name string) bool {
	name = strings.TrimSuffix(name, "/") + "/"
	return slices.ContainsFunc(paths, func(p string) bool {
		return strings.HasPrefix(p, name) || strings.Contains(p, "/"+name)
	})
}
