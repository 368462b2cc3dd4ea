package serve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// TestGuide: the requests that the guide shows are answered.
func TestGuide(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/service.md"))(t)
	c, stop := start(t, filepath.Join(t.TempDir(), "my.pcl"))
	defer stop()
	shown := regexp.MustCompile(`curl localhost:8080(/\w+) +-d '(.+?)'`).FindAllSubmatch(text, -1)
	if len(shown) < 4 {
		t.Fatalf("the guide shows %d requests", len(shown))
	}
	for _, s := range shown {
		var out json.RawMessage
		if message := c.post(string(s[1]), json.RawMessage(s[2]), &out); message != "" {
			t.Errorf("%s: %s", s[0], message)
		} else {
			t.Logf("%s: %s", s[0], out)
		}
	}
}
