package serve

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// guard refuses requests that a page of another site may have made a browser send. Such a page
// could otherwise train a service on the machine of whoever looks at it, although it does not see
// the answers.
func (s *Service) guard(h http.Handler) http.Handler {
	changes := http.NewCrossOriginProtection().Handler(h)
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		site := q.Header.Get("Sec-Fetch-Site")
		switch {
		case !s.known(q):
			http.Error(w, "the service is not known by this name: list it in Options.Hosts", http.StatusForbidden)
		case strings.HasPrefix(q.URL.Path, "/network") && (site == "cross-site" || site == "same-site"): // which costs work
			http.Error(w, "cross-origin request of a network detected from Sec-Fetch-Site header", http.StatusForbidden)
		default:
			changes.ServeHTTP(w, q)
		}
	})
}

// known reports whether a request uses a name of the service. A page can let its own name lead to
// this machine, and its requests then come from the same site, as far as the browser knows (DNS
// rebinding); but they use that name.
func (s *Service) known(q *http.Request) bool {
	if len(s.options.Hosts) == 0 && !onlyHere(q) {
		return true
	}
	name, _, err := net.SplitHostPort(q.Host)
	if err != nil {
		name = q.Host
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	_, noAddress := netip.ParseAddr(name)
	return noAddress == nil || name == "" || name == "localhost" || strings.HasSuffix(name, ".localhost") ||
		slices.ContainsFunc(s.options.Hosts, func(host string) bool { return strings.EqualFold(host, name) })
}

// onlyHere reports whether a request came by an address that only programs on this machine can
// reach.
func onlyHere(q *http.Request) bool {
	local, ok := q.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	address, err := netip.ParseAddrPort(local.String())
	return err == nil && address.Addr().Unmap().IsLoopback()
}
