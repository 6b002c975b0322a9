package systems

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/internal/objects"
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
