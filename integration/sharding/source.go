package sharding

import (
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A Source has the objects by which integrations are divided.
type Source interface {
	// Objects returns the objects of a strategy: accounts, clusters or organizations.
	Objects(s settings.Strategy) ([]ShardObject, error)
	// Follow returns the object to which the shard of an override leads.
	Follow(shard *bundle.Object) (*bundle.Object, bool)
}

// A ShardObject is an account, a cluster or an organization.
type ShardObject struct {
	Path   bundle.Path // of its datafile
	Fields *bundle.Object
}

// InBundle returns the objects of a bundle.
func InBundle(b *bundle.Bundle) Source { return inBundle{b} }

type inBundle struct{ *bundle.Bundle }

// Objects implements [Source].
func (b inBundle) Objects(s settings.Strategy) ([]ShardObject, error) {
	var out []ShardObject
	for _, f := range b.BySchema(strategyTable[s].schema) {
		out = append(out, ShardObject{f.Path, f.Object()})
	}
	return out, nil
}

// Follow implements [Source].
func (b inBundle) Follow(shard *bundle.Object) (*bundle.Object, bool) {
	f, ok := b.Datafile(bundle.Path(shard.String("$ref")))
	if !ok {
		return nil, false
	}
	return f.Object(), true
}
