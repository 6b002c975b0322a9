package manager

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// fullHash is the length of a full commit in digits, maxRef that of the longest ref.
const (
	fullHash = 40
	maxRef   = 250
)

var commitPattern = lazyregexp.New(`^[0-9a-f]{40}$`)

// isCommit reports whether a ref is a full commit, which nobody needs to ask for.
func isCommit(ref string) bool { return commitPattern.MatchString(ref) }

// refPattern matches names of branches, tags and abbreviated commits.
var refPattern = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_./+@-]*$`)

// checkRef returns what is wrong with a ref, or "".
func checkRef(ref string) string {
	if len(ref) > maxRef || !refPattern.MatchString(ref) || strings.Contains(ref, "..") {
		return fmt.Sprintf("must be a branch, a tag or a commit, got %.60q", ref)
	}
	return ""
}

// A resolver finds the commits of refs at GitHub. It asks once for each ref of a run.
type resolver struct {
	mu    sync.Mutex
	known map[string]*resolved
}

// A resolved ref is a commit or an error.
type resolved struct {
	once   sync.Once
	commit string
	err    error
}

// forget lets the resolver ask again: a run begins.
func (r *resolver) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = nil
}

// commit returns the full commit of a ref.
func (r *resolver) commit(ctx context.Context, env integration.Environment, at gitHub, l late) (string, error) {
	key := strings.Join([]string{at.URL, l.Repo, l.Ref}, " ")
	r.mu.Lock()
	if r.known == nil {
		r.known = map[string]*resolved{}
	}
	found := r.known[key]
	if found == nil {
		found = &resolved{}
		r.known[key] = found
	}
	r.mu.Unlock()
	found.once.Do(func() {
		if found.commit, found.err = askCommit(ctx, env, at, l); found.err != nil {
			found.err = fmt.Errorf("%s: finding the commit of %q in %s: %w", codeRef, l.Ref, l.Repo, found.err)
		}
	})
	return found.commit, found.err
}

// askCommit asks GitHub for the commit of a ref.
func askCommit(ctx context.Context, env integration.Environment, at gitHub, l late) (string, error) {
	address, err := commitAddress(at.URL, l)
	if err != nil {
		return "", reconcile.Config(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", reconcile.Config(err)
	}
	req.Header.Set("Accept", "application/vnd.github.sha")
	authorization := ""
	if at.Token != nil {
		if env.Secret == nil {
			return "", reconcile.Config(errors.New("the settings name a token, but there is no source of secrets"))
		}
		token, err := env.Secret(ctx, integration.SecretRef{Path: at.Token.Path, Field: at.Token.Field,
			Version: at.Token.Version})
		if err != nil {
			return "", fmt.Errorf("reading the token of GitHub: %w", err)
		}
		authorization = "Bearer " + token
	}
	client, err := env.ClientFor(at.URL, authorization)
	if err != nil {
		return "", err
	}
	res, err := client.Do(req)
	if refused := (*url.Error)(nil); errors.As(err, &refused) &&
		integration.ClassOfFailure(err) == integration.FailureOfConfig {
		return "",
			reconcile.Config(fmt.Errorf("GitHub: %w; correct the repository in the data, or the address of GitHub in the "+
				"settings", refused.Err))
	}
	if err != nil {
		return "", reconcile.Transient(err)
	}
	defer func() { _ = res.Body.Close() }() // nothing more is read
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return "", reconcile.Transient(fmt.Errorf("reading the answer: %w", err))
	}
	commit := strings.TrimSpace(string(body))
	switch {
	case res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests ||
		res.StatusCode == http.StatusForbidden && res.Header.Get("X-RateLimit-Remaining") == "0":
		return "", reconcile.Transient(fmt.Errorf("GitHub answers %s", res.Status))
	case res.StatusCode != http.StatusOK:
		return "", reconcile.Config(fmt.Errorf("GitHub answers %s; correct the ref, or let the token read the repository",
			res.Status))
	case !isCommit(commit):
		return "", reconcile.Transient(errors.New("GitHub answers with something else than a commit"))
	}
	return commit, nil
}

// commitAddress returns where GitHub tells the commit of a ref.
func commitAddress(api string, l late) (string, error) {
	base, err := url.Parse(api)
	if err != nil {
		return "", err
	}
	repo, err := url.Parse(l.Repo)
	if err != nil {
		return "", errors.New("its repository has no address, such as https://github.com/OWNER/NAME")
	}
	if repo.Host != "github.com" && repo.Host != base.Host {
		return "", fmt.Errorf("only commits of repositories of GitHub can be found, and %.200q is none", l.Repo)
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(repo.Path, ".git"), "/"), "/")
	for _, part := range parts {
		if part == "" || part == "." || part == ".." {
			return "", fmt.Errorf("%.200q names no repository", l.Repo)
		}
	}
	return base.JoinPath("repos").String() + "/" + escapeAll(parts) + "/commits/" + url.PathEscape(l.Ref), nil
}

func escapeAll(parts []string) string {
	out := make([]string, len(parts))
	for i, part := range parts {
		out[i] = url.PathEscape(part)
	}
	return strings.Join(out, "/")
}
