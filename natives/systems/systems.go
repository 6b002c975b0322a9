package systems

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/settings"
)

// Sources say where things come from, and who learns the secrets.
type Sources struct {
	Settings *settings.Settings  // of base; required
	Getenv   func(string) string // the environment; nil is empty
	// Learn is told each secret as it is read, before anybody gets it. Several goroutines call
	// it. It may be nil.
	Learn func(secret string)
}

// Systems are the secrets, clusters and buckets that native integrations ask for. Several
// goroutines may use them at once.
type Systems struct {
	*shared
	integration string // that asks; "" if nobody said
}

// Shared are the secrets and connections that all integrations of a process share.
type shared struct {
	source source // nil if the settings name none
	getenv func(string) string
	own    string // how the names of variables with secrets begin; "" if there are none
	learn  func(string)
	now    func() time.Time

	mu       sync.Mutex
	known    map[integration.SecretRef]known
	clusters map[clusterKey]openCluster
	buckets  map[string]*objects.Bucket
	tokens   map[tokenKey]*keptToken
}

// A source reads secrets.
type source interface {
	read(ctx context.Context, ref integration.SecretRef) (string, error)
}

// New returns the systems that the settings name. It asks nobody.
func New(o Sources) *Systems {
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Learn == nil {
		o.Learn = func(string) {}
	}
	s := &shared{
		learn: o.Learn, getenv: o.Getenv, now: time.Now,
		known: map[integration.SecretRef]known{}, clusters: map[clusterKey]openCluster{},
		buckets: map[string]*objects.Bucket{},
	}
	switch from := o.Settings.Secrets(); {
	case from.Files != "":
		s.source = files{from.Files}
	case from.Env != "":
		s.own = from.Env
		s.source = &variables{prefix: from.Env, getenv: o.Getenv, readFor: map[string]integration.SecretRef{}}
	case from.Vault != nil:
		s.source = newVault(*from.Vault, o.Getenv, o.Learn)
	}
	return &Systems{shared: s}
}

// For returns the same systems for an integration. Its name becomes a part of what it writes:
// the fields of objects that it applies belong to it.
func (s *Systems) For(integration string) *Systems { return &Systems{s.shared, integration} }

// Variable returns a variable of the environment of the process; false if it is not set. Names
// come from the data, so variables that are named like secrets are as if they were not set.
func (s *Systems) Variable(name string) (string, bool) {
	if mask.IsSecretName(name) || s.own != "" && strings.HasPrefix(name, s.own+"_") {
		return "", false
	}
	value := s.getenv(name)
	return value, value != ""
}

// asConfig gives an error the class config: data, settings or rights must change.
func asConfig(err error) error { return integration.Failure(integration.FailureOfConfig, err) }

// asTransient gives an error the class transient: it may pass by itself.
func asTransient(err error) error { return integration.Failure(integration.FailureTransient, err) }

// wrong returns an error of the class config.
func wrong(message string) error { return asConfig(errors.New(message)) }

// maxClusters is how many connections are kept.
const maxClusters = 1000

// A clusterKey names a connection.
type clusterKey struct {
	integration string
	ref         integration.ClusterRef
}

// An openCluster is a connection with the token that it was made with.
type openCluster struct {
	token  string
	reader *kube.Objects
	trial  *kube.Trial
}

// Reader returns what reads the objects of a cluster. It sends no request to the cluster yet.
func (s *Systems) Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.reader, nil
}

// Trial returns what lets a cluster try writes. It sends no request to the cluster yet.
func (s *Systems) Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error) {
	c, err := s.cluster(ctx, ref)
	if err != nil {
		return nil, err
	}
	return c.trial, nil
}

// Access says how a cluster is reached, with the token that its secret has now. A token goes only to the server for
// which it was made. It sends no request to the cluster.
func (s *Systems) Access(ctx context.Context, ref integration.ClusterRef) (kube.Access, error) {
	token, err := s.Secret(ctx, ref.Token)
	if err != nil {
		return kube.Access{}, fmt.Errorf("the token of cluster %.100q: %w", ref.Name, err)
	}
	if err := s.checkServer(ctx, ref); err != nil {
		return kube.Access{}, fmt.Errorf("cluster %.100q: %w", ref.Name, err)
	}
	return kube.Access{Name: ref.Name, Server: ref.Server, Token: token, Insecure: ref.Insecure,
		Integration: s.integration}, nil
}

// cluster returns a connection. A token that was replaced makes a new one.
func (s *Systems) cluster(ctx context.Context, ref integration.ClusterRef) (openCluster, error) {
	access, err := s.Access(ctx, ref)
	if err != nil {
		return openCluster{}, err
	}
	key := clusterKey{s.integration, ref}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.clusters[key]; ok && c.token == access.Token {
		return c, nil
	}
	c := openCluster{token: access.Token}
	if c.reader, err = kube.Open(access); err != nil {
		return openCluster{}, err
	}
	if c.trial, err = kube.OpenTrial(access); err != nil {
		return openCluster{}, err
	}
	if len(s.clusters) < maxClusters {
		s.clusters[key] = c
	}
	return c, nil
}

// checkServer returns an error if the secret of a token says that the token is for another
// server, or does not say for which one.
func (s *Systems) checkServer(ctx context.Context, ref integration.ClusterRef) error {
	if ref.ServerField == "" {
		return nil
	}
	of := ref.Token
	of.Field = ref.ServerField
	is, err := s.address(ctx, of)
	if err != nil {
		return fmt.Errorf("the server that its token is for: secret %.200q, field %.100q: %w", of.Path, of.Field, err)
	}
	if want := strings.TrimRight(ref.Server, "/"); strings.TrimRight(is, "/") != want {
		return wrong(fmt.Sprintf("its token is for the server %.200s (secret %.200q, field %.100q), and the data say "+
			"%.200q: correct the one that is wrong",
			is, of.Path, of.Field, ref.Server))
	}
	return nil
}

// address returns an address that a secret has. It is not masked, so that people can read it.
// The field comes from the data and could name something else, which is masked and not told.
func (s *shared) address(ctx context.Context, ref integration.SecretRef) (string, error) {
	if err := checkRef(ref); err != nil {
		return "", err
	}
	k, err := s.read(ctx, ref)
	if err != nil {
		return "", err
	}
	value := strings.TrimSpace(k.value)
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		if _, err := s.secret(ctx, ref); err != nil {
			return "", err
		}
		return "", wrong("it is no address such as https://HOST: store the address of the cluster there")
	}
	return value, s.keep(ref, k)
}
