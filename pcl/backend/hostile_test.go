package backend

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/go-xla/installer"
)

// hostile are answers that no package index gives, and what is said about each.
var hostile = map[string]struct {
	body, want string
	install    bool // asked for all the CUDA plugin's packages
}{
	"a page":                 {"<html>\x1b[2Jplease log in</html>", "login page", false},
	"nothing":                {"", "not what it should be", false},
	"other JSON":             {`[1,2,"\u001b[2J"]`, "not what it should be", false},
	"a huge size":            {`{"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":99999999999999,"digests":{"sha256":"x"}}]}}`, "not enough room", false},
	"a negative size":        {`{"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":-1,"digests":{"sha256":"x"}}]}}`, "download", false},
	"no digest":              {`{"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":1}]}}`, "no SHA-256", false},
	"no file":                {`{"releases":{"1.2.3":[]}}`, "no file for", false},
	"an address with escape": {`{"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":1,"url":"http://\u001b[2J/","digests":{"sha256":"x"}}]}}`, "download", false},
	"a strange scheme":       {`{"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":1,"url":"file:///etc/passwd","digests":{"sha256":"x"}}]}}`, "scheme", false},
	"strange requirements":   {`{"info":{"requires_dist":["\u001b[2J\u202e"]},"releases":{"1.2.3":[{"filename":"a-manylinux_x86_64.whl","size":1,"digests":{"sha256":"x"}}]}}`, "dependency", true},
}

func TestHostileIndex(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			x := cudaIndex(t)
			x.answer = func(w http.ResponseWriter) bool { fmt.Fprint(w, c.body); return true }
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			var err error
			if c.install {
				_, err = cudaWheels(ctx)
			} else {
				err = askedWheel(ctx, t.TempDir())
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\u202e") {
				t.Errorf("error %q, want one with %q", err, c.want)
			}
		})
	}
}

func askedWheel(ctx context.Context, dir string) error {
	r, err := wheel{Package: "tiny-cpu", Version: fakeVersion, Platform: linuxAMD64}.release(ctx)
	if err == nil {
		err = r.fetch(ctx, dir+"/wheel", nil)
	}
	return err
}

// An index that sends for ever is cut off, and nothing of it is kept.
func TestEndlessIndex(t *testing.T) {
	x, p, dir := fakeInstall(t)
	x.answer = func(w http.ResponseWriter) bool {
		fmt.Fprint(w, `{"info":{"summary":"`)
		for piece := []byte(strings.Repeat("x", 1<<16)); ; {
			if _, err := w.Write(piece); err != nil {
				return true
			}
		}
	}
	begin := time.Now()
	_, err := p.installed(t.Context(), Options{CacheDir: dir})
	if err == nil || !strings.Contains(err.Error(), "more than 16.8 MB") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// So is a wheel, whatever length it claims.
func TestEndlessWheel(t *testing.T) {
	x, p, dir := fakeInstall(t)
	x.onDownload(func(w http.ResponseWriter, data []byte) {
		w.(http.Flusher).Flush()
		for {
			if _, err := w.Write(data); err != nil {
				return
			}
		}
	})
	if _, err := p.installed(t.Context(), Options{CacheDir: dir}); err == nil || !strings.Contains(err.Error(), "sends more than") {
		t.Errorf("error %v", err)
	}
}

// The requirements that are read here have names that fit into an address.
func TestNewestOfNothing(t *testing.T) {
	cudaIndex(t)
	if _, err := newest(t.Context(), installer.PipDependency{Package: "none"}); err == nil || !strings.Contains(err.Error(), "404 Not Found") {
		t.Errorf("error %v", err)
	}
}
