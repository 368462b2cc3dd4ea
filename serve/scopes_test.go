package serve

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallelcl/parallelcl/pcl"
)

const (
	reader  = "reader-0123456789"
	teacher = "teacher-0123456789"
	warden  = "warden-0123456789"
)

func tokens() []Token {
	return []Token{{reader, ScopeRead}, {teacher, ScopeLearn}, {warden, ScopeAdmin}}
}

// TestScopes: a request is answered if its token has at least the scope of the path. Those who look
// after the service need none.
func TestScopes(t *testing.T) {
	h := openedAs(t, Options{Tokens: tokens()}, func(*pcl.Options) {}).Handler()
	for _, c := range []struct{ request, least string }{
		{"GET /", reader}, {"GET /tasks", reader}, {"GET /network", reader}, {"GET /network.onnx", reader},
		{"POST /predict", reader}, {"POST /tasks", teacher}, {"POST /learn", teacher}, {"POST /end", teacher},
		{"POST /pause", warden}, {"POST /resume", warden}, {"POST /detach", warden}, {"POST /reattach", warden},
		{"GET /livez", ""}, {"GET /readyz", ""}, {"GET /metrics", ""},
	} {
		order := []string{"", reader, teacher, warden} // each may do what those before it may
		for _, token := range append(order, "stranger-0123456789", warden+" ", warden[:len(warden)-1]) {
			t.Run(fmt.Sprintf("%s %q", c.request, token), func(t *testing.T) {
				method, path, _ := strings.Cut(c.request, " ")
				q := httptest.NewRequest(method, path, strings.NewReader("{}"))
				if token != "" {
					q.Header.Set("Authorization", "Bearer "+token)
				}
				w := httptest.NewRecorder()
				h.ServeHTTP(w, q)
				at := slices.Index(order, strings.TrimSpace(token)) // a space at the end is none of the token's
				want := 0
				switch {
				case c.least == "":
				case at < 1:
					want = http.StatusUnauthorized
				case at < slices.Index(order, c.least):
					want = http.StatusForbidden
				}
				if refused := w.Code == http.StatusUnauthorized || w.Code == http.StatusForbidden; refused != (want != 0) ||
					refused && w.Code != want {
					t.Errorf("status %d %s; want %d (0: not refused)", w.Code, w.Body, want)
				}
			})
		}
	}
}

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// TestRefusedUnread: the body of a request whose token is missing, unknown or may not do that is
// not read and takes no room, and its connection ends.
func TestRefusedUnread(t *testing.T) {
	s := openedAs(t, Options{Tokens: tokens()}, func(*pcl.Options) {})
	for name, header := range map[string]string{
		"none": "", "unknown": "Bearer stranger-0123456789", "reader": "Bearer " + reader, "Basic": "Basic !",
	} {
		t.Run(name, func(t *testing.T) {
			q := httptest.NewRequest("POST", "/learn?task=1&classes=0&token="+warden, unread{t})
			q.Header.Set("Content-Type", "application/octet-stream")
			q.Header.Set("Authorization", header)
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, q)
			if (w.Code != 401 && w.Code != 403) || w.Header().Get("Connection") != "close" {
				t.Errorf("status %d, %v", w.Code, w.Header())
			}
			if strings.Contains(w.Body.String(), "0123456789") {
				t.Errorf("the answer has a secret: %s", w.Body)
			}
		})
	}
}

// TestBrowserToken: browsers send a token as a password, and are told that they may.
func TestBrowserToken(t *testing.T) {
	h := openedAs(t, Options{Tokens: tokens()}, func(*pcl.Options) {}).Handler()
	for secret, want := range map[string]int{reader: 200, "": 401, "stranger-0123456789": 401} {
		t.Run(secret, func(t *testing.T) {
			q := httptest.NewRequest("GET", "/", nil)
			q.SetBasicAuth("anybody", secret)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, q)
			if w.Code != want {
				t.Errorf("status %d; want %d", w.Code, want)
			}
			if asks := strings.Contains(strings.Join(w.Header()["Www-Authenticate"], " "), "Basic"); asks != (want == 401) {
				t.Errorf("asks for a password: %t", asks)
			}
		})
	}
}

// TestTokensRefused: a token that lets in too many, or nobody, is a mistake.
func TestTokensRefused(t *testing.T) {
	for name, c := range map[string]struct {
		tokens []Token
		says   string
	}{
		"no secret":     {[]Token{{"", ScopeRead}}, "has 0 characters"},
		"short":         {[]Token{{"0123456789abcde", ScopeRead}}, "has 15 characters"},
		"no scope":      {[]Token{{Secret: reader}}, "want read, learn or admin"},
		"unknown scope": {[]Token{{reader, "all"}}, "the scope of token 1"},
		"a space":       {[]Token{{"0123456789 abcdef", ScopeRead}}, "visible characters"},
		"not ASCII":     {[]Token{{"0123456789abcdé", ScopeRead}}, "visible characters"},
		"twice":         {[]Token{{reader, ScopeRead}, {reader, ScopeAdmin}}, "another token"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(nil, Options{Tokens: c.tokens})
			if err == nil {
				t.Fatal("no error")
			}
			if said := err.Error(); !strings.Contains(said, c.says) || strings.Contains(said, "0123456789") {
				t.Errorf("%s; want %q and no secret", said, c.says)
			}
		})
	}
}

// TestReadTokens: a file of tokens is read as it stands there; one that would leave the service
// open is refused, and no error repeats a secret.
func TestReadTokens(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Token
	}{
		"all": {"# who may\n\nread " + reader + "\r\n  admin   " + warden + "\n",
			[]Token{{reader, ScopeRead}, {warden, ScopeAdmin}}},
		"no newline": {"learn " + teacher, []Token{{teacher, ScopeLearn}}},
		"empty":      {"", nil},
		"comments":   {"# read " + reader, nil},
		"no scope":   {reader, nil},
		"swapped":    {reader + " read", nil},
		"two words":  {"read " + reader + " " + teacher, nil},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tokens")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadTokens(file)
			if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) {
				t.Errorf("%d tokens, error %v", len(got), err)
			}
			if err != nil && strings.Contains(err.Error(), "0123456789") {
				t.Errorf("the error has a secret: %v", err)
			}
		})
	}
}
