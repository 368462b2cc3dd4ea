package texts

import (
	"regexp"
	"strings"
	"testing"
)

// quoted lists the documents whose Go code is taken from files that are compiled, and these files.
var quoted = map[string][]string{
	"README.md":       {"examples/first/main.go"},
	"docs/service.md": {"pcl/service_example_test.go", "serve/service.go", "serve/file.go", "examples/service/main.go"},
	"docs/own.md": {"pcl/model/example_test.go", "pcl/augment_example_test.go", "pcl/optim/optim_test.go",
		"pcl/stream_example_test.go", "pcl/pushedvalues_example_test.go", "pcl/run_test.go",
		"examples/own/main.go", "examples/own/older.go", "examples/own/older_test.go", "examples/regression/main.go"},
}

// TestCodeIsQuoted: the Go code of these documents stands in the files word for word, so that it
// compiles and does what the tests of these files show.
func TestCodeIsQuoted(t *testing.T) {
	block := regexp.MustCompile("(?ms)^```go\n(.*?)^```")
	for document, files := range quoted {
		source := ""
		for _, f := range files {
			source += unindented(read(t, f)) + "\n"
		}
		blocks := block.FindAllStringSubmatch(read(t, document), -1)
		if len(blocks) == 0 {
			t.Errorf("%s has no Go code", document)
		}
		for _, b := range blocks {
			for _, part := range strings.Split(strings.TrimSpace(unindented(b[1])), "\n\n") {
				if !strings.Contains(source, part) {
					t.Errorf("%s has code that is not in %v:\n%s", document, files, part)
				}
			}
		}
	}
}

// unindented is a text without the white space at the beginnings of its lines.
func unindented(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, "\t ")
	}
	return strings.Join(lines, "\n")
}
