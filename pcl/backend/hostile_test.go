package backend

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parallelcl/parallelcl/internal/expect"
)

// TestHostileIndex gives answers that no package index gives.
func TestHostileIndex(t *testing.T) {
	const release = `{"info":{"requires_dist":["\u001b[2J\u202e"]},"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl",%s}]}}`
	for name, body := range map[string]string{
		"a page":                 "<html>\x1b[2Jplease log in</html>",
		"nothing":                "",
		"other JSON":             `[1,2,"\u001b[2J"]`,
		"no file":                `{"releases":{"1.2.3":[]}}`,
		"no digest":              fmt.Sprintf(release, `"size":1`),
		"a huge size":            fmt.Sprintf(release, `"size":99999999999999,"digests":{"sha256":"x"}`),
		"a negative size":        fmt.Sprintf(release, `"size":-1,"digests":{"sha256":"x"}`),
		"an address with escape": fmt.Sprintf(release, `"size":1,"url":"http://\u001b[2J/","digests":{"sha256":"x"}`),
		"a strange scheme":       fmt.Sprintf(release, `"size":1,"url":"file:///etc/passwd","digests":{"sha256":"x"}`),
	} {
		x := cudaIndex(t)
		x.answer = func(w http.ResponseWriter) bool { fmt.Fprint(w, body); return true }
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		p := tinyPlugin("x")
		p.Libraries = cudaPlugin.Libraries // whose requirements are strange
		_, all := p.wheels(ctx)
		p.Libraries = ""
		_, err := p.tried(ctx, Options{cache: t.TempDir()})
		for _, err := range []error{err, all} {
			if err == nil || strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("%s: error %q", name, expect.Text(err))
			}
		}
	}
}
