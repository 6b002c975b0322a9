package sharding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
)

// A row is a strategy. The one of nothing divides by number alone.
type row struct {
	schema  bundle.Schema // of the objects
	key     string        // the field that holds an object's key
	option  string        // the option of an integration that takes a key
	free    bool          // objects cannot disable integrations
	lower   bool          // names are in lower case
	divided bool          // an object's part can be divided further
}

var table = map[integration.Strategy]row{
	integration.PerAWSAccount:       {schema: "/aws/account-1.yml", key: "name", option: "--account-name"},
	integration.PerOpenShiftCluster: {schema: "/openshift/cluster-1.yml", key: "name", option: "--cluster-name", divided: true},
	integration.PerOCMOrganization:  {schema: "/openshift/openshift-cluster-manager-1.yml", key: "orgId", option: "--org-id", free: true, lower: true},
	integration.Static:              {},
}

// Option returns the option that hands a key to an integration, "" for a
// strategy without objects.
func Option(s integration.Strategy) string { return table[s].option }

// A shard is an object that an integration has a process for.
type shard struct{ key, name string }

// objects returns the shards of a strategy that an integration has, by their keys.
func (r row) objects(integration string, b *bundle.Bundle) ([]shard, error) {
	var list []shard
	for _, f := range b.BySchema(r.schema) {
		if !r.free && disables(f.Object(), integration) {
			continue
		}
		v, _ := f.Object().Get(r.key)
		key, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s has no %s to be a shard by", f.Path, r.key)
		}
		if err := Usable(key); err != nil {
			return nil, fmt.Errorf("%s %w", f.Path, err)
		}
		list = append(list, shard{key, f.Object().String("name")})
	}
	slices.SortFunc(list, func(a, b shard) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
	return list, nil
}

// disables tells whether an object wants nothing to do with an integration.
func disables(o *bundle.Object, name string) bool {
	v, _ := o.Get("disable")
	disable, _ := v.(*bundle.Object)
	if disable == nil {
		return false
	}
	v, _ = disable.Get("integrations")
	list, _ := v.([]any)
	return slices.Contains(list, any(name))
}
