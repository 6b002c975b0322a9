package sharding

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// Answers are the objects of the strategies that were asked for. They are a [Source] for those
// who cannot read the bundle: native integrations have queries only.
type Answers map[settings.Strategy][]ShardObject

// Ask asks for the objects of strategies. An answer that lacks a list is an error. The
// definition of the integration that asks must allow the schemas of the objects.
func Ask(ctx context.Context, query integration.QueryFunc, strategies ...settings.Strategy) (Answers, error) {
	out := Answers{}
	for _, s := range strategies {
		r := strategyTable[s]
		if r.root == "" {
			continue // it has no objects
		}
		fields := "path name"
		if r.key != "name" {
			fields += " " + r.key
		}
		if !r.cannotDisable {
			fields += " disable { integrations }"
		}
		objects, err := askList(ctx, query, r.root, fields)
		if err != nil {
			return nil, fmt.Errorf("asking for the shards of the strategy %s: %w", s, err)
		}
		out[s] = make([]ShardObject, len(objects))
		for i, o := range objects {
			out[s][i] = ShardObject{bundle.Path(o.String("path")), o}
		}
	}
	return out, nil
}

// Objects implements [Source].
func (a Answers) Objects(s settings.Strategy) ([]ShardObject, error) {
	objects, ok := a[s]
	if !ok {
		return nil, fmt.Errorf("nobody asked for the objects of the strategy %s", s)
	}
	return objects, nil
}

// Follow implements [Source]. An answer has the object in the place of the reference.
func (a Answers) Follow(shard *bundle.Object) (*bundle.Object, bool) {
	return shard, shard.Has("name")
}

// managedFields is what is asked of each element of managed.
const managedFields = `name managed {
	spec { extraArgs }
	sharding {
		strategy
		... on StaticSharding_v1 { shards }
		... on AWSAccountSharding_v1 { shardSpecOverrides { shard { name } imageRef disabled } }
		... on OCMOrganizationSharding_v1 { shardSpecOverrides { shard { name } imageRef disabled } }
		... on OpenshiftClusterSharding_v1 { shardSpecOverrides {
			shard { name } imageRef disabled subSharding { strategy ... on StaticSubSharding_v1 { shards } }
		} }
	}
}`

// AskManaged asks for the elements of managed of the definition of an integration. It is an
// error if there is no such definition.
func AskManaged(ctx context.Context, query integration.QueryFunc, name string) ([]*bundle.Object, error) {
	definitions, err := askList(ctx, query, "integrations_v1", managedFields)
	if err != nil {
		return nil, fmt.Errorf("asking for the definition of %q: %w", name, err)
	}
	i := slices.IndexFunc(definitions, func(o *bundle.Object) bool { return o.String("name") == name })
	if i < 0 {
		return nil, fmt.Errorf("no datafile defines an integration named %q", name)
	}
	v, _ := definitions[i].Get("managed")
	list, _ := v.([]any) // null if it is not deployed
	out := make([]*bundle.Object, len(list))
	for i, v := range list {
		if out[i], _ = v.(*bundle.Object); out[i] == nil {
			out[i] = &bundle.Object{}
		}
	}
	return out, nil
}

// AskParts asks for everything that decides how an integration is divided, and returns its
// parts, as [ListParts] does.
func AskParts(ctx context.Context, query integration.QueryFunc, name string) ([]Part, error) {
	managed, err := AskManaged(ctx, query, name)
	if err != nil {
		return nil, err
	}
	s, err := DeclaredStrategy(managed)
	if err != nil {
		return nil, err
	}
	objects, err := Ask(ctx, query, s)
	if err != nil {
		return nil, err
	}
	return ListParts(name, s, managed, objects)
}

// askList asks for a list of objects.
func askList(ctx context.Context, query integration.QueryFunc, root, fields string) ([]*bundle.Object, error) {
	answer, err := integration.Ask[map[string][]json.RawMessage](ctx, query, "{ "+root+" { "+fields+" } }", nil)
	if err != nil {
		return nil, err
	}
	list, ok := answer[root]
	if !ok {
		return nil, fmt.Errorf("data.%s is missing: %w", root, integration.ErrNotWhole)
	}
	out := make([]*bundle.Object, len(list))
	for i, raw := range list {
		v, err := bundle.ParseValue(raw)
		if err != nil {
			return nil, fmt.Errorf("data.%s[%d]: %w", root, i, err)
		}
		if out[i], ok = v.(*bundle.Object); !ok {
			return nil, fmt.Errorf("data.%s[%d] is no object: %w", root, i, integration.ErrNotWhole)
		}
	}
	return out, nil
}
