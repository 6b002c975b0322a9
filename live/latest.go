package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Server is a running qontract-server, which has a newest bundle.
type Server struct{ client *Client }

// ParseServer parses http(s)://SERVER/graphql, the address at which a server answers over its
// newest bundle. Its errors contain no part of the address that may be secret.
func ParseServer(address string, opts Options) (*Server, error) {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || !IsRef(address) || u.Hostname() == "" {
		return nil, errors.New("not an address; write http://SERVER/graphql")
	}
	before, isGraphQL := strings.CutSuffix(strings.TrimRight(u.EscapedPath(), "/"), "/graphql")
	switch {
	case u.User != nil:
		return nil, errors.New("an address must not hold a user or password, since reports and logs show it; set PRCHECK_AUTHORIZATION instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("an address must not hold a ? or #; write http://SERVER/graphql")
	case !isGraphQL:
		return nil, errors.New("the address does not end with /graphql; write http://SERVER/graphql for the newest bundle")
	}
	return &Server{NewClient(u.Scheme+"://"+u.Host+before, opts)}, nil
}

// Latest returns the newest bundle of the server.
func (s *Server) Latest(ctx context.Context) (*Side, error) {
	const path = "/sha256"
	raw, err := s.client.get(ctx, path)
	if err != nil {
		return nil, err
	}
	sha := strings.TrimSpace(string(raw))
	if !sha256Form.MatchString(sha) {
		return nil, s.client.badAnswer(path, fmt.Errorf("%.40q is not the sha256 of a bundle", sha))
	}
	return &Side{client: s.client, sha: sha}, nil
}

// SHA256 returns the sha256 of the bundle.
func (s *Side) SHA256() string { return s.sha }

// Commit returns the commit of the bundle and its time, as bundles have them; "" is unknown.
func (s *Side) Commit(ctx context.Context) (commit, timestamp string, err error) {
	path := "/git-commit-info/" + s.sha
	raw, err := s.client.get(ctx, path)
	if err != nil {
		return "", "", s.client.explainUnknownBundle(ctx, err, s.sha)
	}
	var info commitInfo
	if err := json.Unmarshal(raw, &info); err != nil {
		return "", "", s.client.badAnswer(path, err)
	}
	return info.Commit, info.Timestamp, nil
}
