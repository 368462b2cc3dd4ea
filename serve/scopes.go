package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/parallelcl/parallelcl/internal/regular"
)

// Token lets those who send it do what its scope says, as "Authorization: Bearer SECRET" or, for
// browsers, as the password of any user.
type Token struct {
	Secret string // at least 16 visible characters of ASCII
	Scope  Scope
}

// Scope says what a client may do. Each includes those before it.
type Scope string

// The scopes of tokens.
const (
	ScopeRead  Scope = "read"  // predict, and read the tasks, the network and the page
	ScopeLearn Scope = "learn" // begin and end tasks, and send samples
	ScopeAdmin Scope = "admin" // pause, resume, detach and reattach tasks
)

// scopes are in their order.
var scopes = []Scope{ScopeRead, ScopeLearn, ScopeAdmin}

// leastSecret is how many characters a secret has at least.
const leastSecret = 16

// checkTokens returns an error for a token that would let in others than its holders, or nobody.
func checkTokens(tokens []Token) error {
	for i, t := range tokens {
		switch {
		case !slices.Contains(scopes, t.Scope):
			return fmt.Errorf("the scope of token %d: want read, learn or admin", i+1) // it may be a secret
		case len(t.Secret) < leastSecret:
			return fmt.Errorf("the secret of token %d has %d characters; want at least %d",
				i+1, len(t.Secret), leastSecret)
		case strings.ContainsFunc(t.Secret, func(r rune) bool { return r <= ' ' || r > '~' }):
			return fmt.Errorf("the secret of token %d has other than visible characters of ASCII", i+1)
		case slices.ContainsFunc(tokens[:i], func(other Token) bool { return other.Secret == t.Secret }):
			return fmt.Errorf("the secret of token %d is also that of another token", i+1)
		}
	}
	return nil
}

// ReadTokens reads a file of tokens: on each line a scope, a space and a secret. Empty lines and
// those that begin with # are left out.
func ReadTokens(file string) (tokens []Token, err error) {
	text, err := regular.ReadFile(file)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		scope, secret, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("%s:%d: want a scope (read, learn or admin), a space and a secret", file, n)
		}
		tokens = append(tokens, Token{strings.TrimSpace(secret), Scope(scope)})
	}
	if err := checkTokens(tokens); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("%s has no tokens: want lines of a scope, a space and a secret", file)
	}
	return tokens, nil
}

// may answers requests of those whose token has at least a scope; without tokens, of everybody.
func (s *Service) may(scope Scope, h http.HandlerFunc) http.HandlerFunc {
	if len(s.options.Tokens) == 0 {
		return h
	}
	return func(w http.ResponseWriter, q *http.Request) {
		has := scopeOf(s.options.Tokens, secretOf(q))
		if has >= slices.Index(scopes, scope) {
			h(w, q)
			return
		}
		status := http.StatusForbidden
		err := fmt.Errorf("this token may not do that: want one with the scope %s", scope)
		if has < 0 {
			w.Header().Add("WWW-Authenticate", `Bearer realm="parallelcl"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="parallelcl: a token as password"`)
			status, err = http.StatusUnauthorized, errors.New("a token is missing or unknown: send Authorization: Bearer TOKEN")
		}
		w.Header().Set("Connection", "close") // the body is not read
		s.answer(w, true, nil, statusError{err, status})
	}
}

// secretOf returns the secret that a request brings, or "".
func secretOf(q *http.Request) string {
	kind, secret, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	if strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(secret)
	}
	_, secret, _ = q.BasicAuth()
	return secret
}

// scopeOf returns the place in scopes of that of a secret, or -1 for an unknown one. It takes as
// long for each secret, so that its time tells nothing.
func scopeOf(tokens []Token, secret string) int {
	found, sum := -1, sha256.Sum256([]byte(secret))
	for _, t := range tokens {
		own := sha256.Sum256([]byte(t.Secret))
		same := subtle.ConstantTimeCompare(own[:], sum[:])
		found = subtle.ConstantTimeSelect(same, slices.Index(scopes, t.Scope), found)
	}
	return found
}
