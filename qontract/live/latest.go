package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// A Server is a running qontract-server.
type Server struct{ client *Client }

// ParseServer parses http(s)://SERVER/graphql, the address at which a server answers over its
// newest bundle. Its errors contain no part of the address that may be secret.
func ParseServer(address string, opts Connection) (*Server, error) {
	u, err := parseAddress(address, "http://SERVER/graphql")
	if err != nil {
		return nil, err
	}
	before, isGraphQL := strings.CutSuffix(strings.TrimRight(u.EscapedPath(), "/"), "/graphql")
	if !isGraphQL {
		return nil, errors.New("the address does not end with /graphql; write http://SERVER/graphql for the newest bundle")
	}
	return &Server{NewClient(u.Scheme+"://"+u.Host+before, opts)}, nil
}

// ParseHost parses http(s)://SERVER, the address of a server that is asked for bundles by their
// sha256. It may end with /graphql. Its errors contain no part of the address that may be
// secret.
func ParseHost(address string, opts Connection) (*Server, error) {
	u, err := parseAddress(address, "http://SERVER")
	if err != nil {
		return nil, err
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	if strings.Contains(path+"/", "/graphqlsha/") {
		return nil, errors.New("the address names a bundle, and the server is asked for both sides; write http://SERVER")
	}
	return &Server{NewClient(u.Scheme+"://"+u.Host+strings.TrimSuffix(path, "/graphql"), opts)}, nil
}

// parseAddress parses the address of a server, which has a form.
func parseAddress(address, form string) (*url.URL, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Opaque != "" || !IsRef(address) || u.Hostname() == "":
		return nil, errors.New("not an address; write " + form)
	case u.User != nil:
		return nil, errors.New("an address must not hold a user or password, since reports and logs show it; set " +
			"PRCHECK_AUTHORIZATION instead")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return nil, errors.New("an address must not hold a ? or #; write " + form)
	}
	return u, nil
}

// String returns the address of the server, without a slash at its end.
func (s *Server) String() string { return s.client.server }

// Bundle returns the bundle with a sha256, which is that of the bytes of its file. Whether the
// server has it is known when it is asked.
func (s *Server) Bundle(sha256 string) *BundleClient {
	return &BundleClient{client: s.client, sha: sha256}
}

// Latest returns the newest bundle of the server.
func (s *Server) Latest(ctx context.Context) (*BundleClient, error) {
	const path = "/sha256"
	raw, err := s.client.get(ctx, path)
	if err != nil {
		return nil, err
	}
	sha := strings.TrimSpace(string(raw))
	if !sha256Form.MatchString(sha) {
		return nil, s.client.badAnswer(path, fmt.Errorf("%.40q is not the sha256 of a bundle", sha))
	}
	return &BundleClient{client: s.client, sha: sha}, nil
}

// Newest returns the newest bundle of the server, which may be another one for each request.
func (s *Server) Newest() *BundleClient { return &BundleClient{client: s.client} }

// SHA256 returns the sha256 of the bundle.
func (s *BundleClient) SHA256() string { return s.sha }

// Commit returns the commit of the bundle and its time, as bundles have them; "" is unknown.
func (s *BundleClient) Commit(ctx context.Context) (commit, timestamp string, err error) {
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
