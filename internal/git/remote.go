package git

import (
	"context"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// scpAddress matches an address such as git@gitlab.com:group/project.git.
var scpAddress = lazyregexp.New(`^(?:[^@/\s]+@)?([A-Za-z0-9.-]+):[^/].*$`)

// RemoteHost returns the host of the remote origin, such as gitlab.com; "" if there is no such
// remote, or if it is a folder. The rest of the address is not returned: it may have a token.
func (r *Repository) RemoteHost(ctx context.Context) string {
	out, err := run(ctx, r.root, "config", "--get", "remote.origin.url")
	if err != nil {
		return ""
	}
	return hostOf(strings.TrimSpace(string(out)))
}

// hostOf returns the host of an address of a repository, "" if it has none.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return strings.ToLower(u.Hostname())
	}
	if m := scpAddress.FindStringSubmatch(address); m != nil && len(m[1]) > 1 {
		return strings.ToLower(m[1])
	}
	return ""
}
