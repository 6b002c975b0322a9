package live

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// A Ref names a bundle on a server.
type Ref struct {
	Server string // the address before /graphqlsha, without a slash at its end
	SHA256 string // of the bundle: 64 hex digits
}

// Is tells whether a reference is meant for a live server.
func Is(ref string) bool {
	return strings.HasPrefix(ref, "http://") || strings.HasPrefix(ref, "https://")
}

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParseRef reads http(s)://SERVER/graphqlsha/SHA. Errors never hold what may be
// a secret: a user, a password or a query string.
func ParseRef(ref string) (Ref, error) {
	u, err := url.Parse(ref)
	if err != nil || u.Opaque != "" || !Is(ref) {
		return Ref{}, errors.New("not an address; write http://SERVER/graphqlsha/SHA")
	}
	switch {
	case u.User != nil:
		return Ref{}, errors.New("an address must not hold a user or password, since plans and logs show it; set PRCHECK_AUTHORIZATION instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return Ref{}, errors.New("an address must not hold a ? or #, since plans and logs show it; write http://SERVER/graphqlsha/SHA")
	case u.Hostname() == "":
		return Ref{}, errors.New("the address names no server; write http://SERVER/graphqlsha/SHA")
	}
	before, sha, ok := strings.Cut(u.EscapedPath(), "/graphqlsha/")
	if !ok {
		return Ref{}, errors.New("the address names no bundle; end it with /graphqlsha/SHA, where SHA is what the server's /sha256 said")
	}
	if sha = strings.TrimSuffix(sha, "/"); !sha256Form.MatchString(sha) {
		return Ref{}, fmt.Errorf("%.80q is not the sha256 of a bundle: 64 digits of 0-9 and a-f", sha)
	}
	return Ref{Server: u.Scheme + "://" + u.Host + strings.TrimRight(before, "/"), SHA256: sha}, nil
}

// String writes the reference as [ParseRef] reads it.
func (r Ref) String() string { return r.Server + "/graphqlsha/" + r.SHA256 }
