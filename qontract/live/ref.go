package live

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Ref is the address of a bundle on a server.
type Ref struct {
	Server string // address before /graphqlsha, without a slash at its end
	SHA256 string // sha256 of the bundle in 64 hex digits
}

// IsRef reports whether a text is the address of a bundle on a server, not the name of a
// file.
func IsRef(ref string) bool {
	return strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")
}

// sha256Form matches a sha256 in hex.
var sha256Form = lazyregexp.New(`^[0-9a-f]{64}$`)

// ParseRef parses http(s)://SERVER/graphqlsha/SHA. Its errors contain no part of the address
// that may be secret, such as a password or a query string.
func ParseRef(ref string) (Ref, error) {
	u, err := url.Parse(ref)
	if err != nil || u.Opaque != "" || !IsRef(ref) {
		return Ref{}, errors.New("not an address; write http://SERVER/graphqlsha/SHA")
	}
	switch {
	case u.User != nil:
		return Ref{}, errors.New("an address must not hold a user or password, since plans and logs show it; set " +
			"PRCHECK_AUTHORIZATION instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Ref{}, errors.New("an address must not hold a ? or #, since plans and logs show it; write " +
			"http://SERVER/graphqlsha/SHA")
	case u.Hostname() == "":
		return Ref{}, errors.New("the address names no server; write http://SERVER/graphqlsha/SHA")
	}
	before, sha, ok := strings.Cut(u.EscapedPath(), "/graphqlsha/")
	if !ok {
		return Ref{}, errors.New("the address names no bundle; end it with /graphqlsha/SHA, where SHA is what the server's " +
			"/sha256 said")
	}
	if sha = strings.TrimSuffix(sha, "/"); !sha256Form.MatchString(sha) {
		return Ref{}, fmt.Errorf("%.80q is not the sha256 of a bundle: 64 digits of 0-9 and a-f", sha)
	}
	return Ref{Server: u.Scheme + "://" + u.Host + strings.TrimRight(before, "/"), SHA256: sha}, nil
}

// String returns the address in the form that [ParseRef] parses.
func (r Ref) String() string { return r.Server + "/graphqlsha/" + r.SHA256 }
