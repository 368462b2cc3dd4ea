package backend

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parallelcl/parallelcl/internal/must"
)

// fakeIndex is a package index with wheels, for tests without a network.
type fakeIndex struct {
	*httptest.Server
	wheels   map[string][]byte   // by package name
	requires map[string][]string // by package name
	mu       sync.Mutex
	serve    func(w http.ResponseWriter, data []byte) // how a wheel is sent
	// says something else than the index would; nil or false: it does not
	answer    func(w http.ResponseWriter) bool
	downloads atomic.Int32
}

const fakeVersion = "1.2.3"

// newFakeIndex starts an index and sends all the HTTP requests of this process to it.
func newFakeIndex(t *testing.T) *fakeIndex {
	t.Helper()
	x := &fakeIndex{wheels: map[string][]byte{}, requires: map[string][]string{}}
	x.onDownload(func(w http.ResponseWriter, data []byte) { w.Write(data) })
	x.Server = httptest.NewServer(x)
	t.Cleanup(x.Close)
	redirectHTTP(t, x.URL)
	return x
}

// redirectHTTP sends the requests of the default client to one server.
func redirectHTTP(t testing.TB, server string) {
	t.Helper()
	u := must.Get(url.Parse(server))(t)
	before := http.DefaultTransport
	http.DefaultTransport = redirect{u, before}
	t.Cleanup(func() { http.DefaultTransport = before })
}

type redirect struct {
	to   *url.URL
	next http.RoundTripper
}

func (r redirect) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.URL.Scheme, q.URL.Host = r.to.Scheme, r.to.Host
	return r.next.RoundTrip(q)
}

// onDownload sets how wheels are sent.
func (x *fakeIndex) onDownload(serve func(w http.ResponseWriter, data []byte)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.serve = serve
}

func (x *fakeIndex) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	name := parts[1]
	x.mu.Lock()
	data, ok := x.wheels[name]
	requires, serve, answer := x.requires[name], x.serve, x.answer
	x.mu.Unlock()
	if parts[0] != "files" && answer != nil && answer(w) {
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	if parts[0] == "files" {
		x.downloads.Add(1)
		serve(w, data)
		return
	}
	file := name + "-" + fakeVersion + "-py3-none-manylinux_2_27_x86_64.whl"
	var quoted []string
	for _, q := range requires {
		quoted = append(quoted, fmt.Sprintf("%q", q))
	}
	fmt.Fprintf(w, `{"info":{"name":%q,"version":%q,"requires_dist":[%s]},"releases":{%q:[
		{"packagetype":"bdist_wheel","filename":%q,"url":"../../files/%s/%s","size":%d,"digests":{"sha256":%q}}]}}`,
		name, fakeVersion, strings.Join(quoted, ","), fakeVersion, file, name, file, len(data), hexSHA256(data))
}

// add puts a wheel with one member into the index.
func (x *fakeIndex) add(t *testing.T, name, member string, content []byte) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w := must.Get(z.Create(member))(t)
	w.Write(content)
	must.Do(t, z.Close())
	x.wheels[name] = b.Bytes()
}

func hexSHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
