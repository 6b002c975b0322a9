package sharding

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// A strategyRow describes a strategy: the objects that are shards, and how their keys are
// passed on. The zero row belongs to the static strategy, which has no objects.
type strategyRow struct {
	schema         bundle.SchemaPath // schema of the objects
	root           string            // field of GraphQL that lists the objects
	key            string            // field that holds the key of an object
	option         string            // option of the integration that takes a key
	cannotDisable  bool              // whether objects cannot disable integrations
	lowerCaseNames bool              // whether names of processes are in lower case
	divisible      bool              // whether an object may have static shards of its own
}

// strategyTable has the strategies that a definition can name.
var strategyTable = map[settings.Strategy]strategyRow{
	settings.PerAWSAccount: {schema: "/aws/account-1.yml", root: "awsaccounts_v1", key: "name",
		option: "--account-name"},
	settings.PerOpenShiftCluster: {schema: "/openshift/cluster-1.yml", root: "clusters_v1", key: "name",
		option: "--cluster-name", divisible: true},
	settings.PerOCMOrganization: {schema: "/openshift/openshift-cluster-manager-1.yml", root: "ocm_instances_v1",
		key: "orgId", option: "--org-id", cannotDisable: true, lowerCaseNames: true},
	settings.StrategyStatic: {},
}

// KeyOption returns the option that passes a key to an integration, such as
// --account-name. It is "" for a strategy without objects.
func KeyOption(s settings.Strategy) string { return strategyTable[s].option }

// A shard is an object for which an integration has a process of its own.
type shard struct{ key, name string }

// listShards returns the shards that an integration has among objects, sorted by key.
func (r strategyRow) listShards(integration string, objects []ShardObject) ([]shard, error) {
	var list []shard
	for _, o := range objects {
		if !r.cannotDisable && disablesIntegration(o.Fields, integration) {
			continue
		}
		v, _ := o.Fields.Get(r.key)
		key, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s has no %s to be a shard by", o.Path, r.key)
		}
		if err := CheckKey(key); err != nil {
			return nil, fmt.Errorf("%s %w", o.Path, err)
		}
		list = append(list, shard{key, o.Fields.String("name")})
	}
	slices.SortFunc(list, func(a, b shard) int {
		return cmp.Or(strings.Compare(a.key, b.key), strings.Compare(a.name, b.name))
	})
	return list, nil
}

// disablesIntegration reports whether an object disables an integration.
func disablesIntegration(o *bundle.Object, name string) bool {
	v, _ := o.Get("disable")
	disable, _ := v.(*bundle.Object)
	if disable == nil {
		return false
	}
	v, _ = disable.Get("integrations")
	list, _ := v.([]any)
	return slices.Contains(list, any(name))
}

// CheckKey returns an error if a key cannot safely be an argument of a task. Keys come
// from head, which is not trusted: a key must not be taken for an option or a
// placeholder.
func CheckKey(key string) error {
	switch {
	case key == "":
		return errors.New("has an empty key")
	case len(key) > 253:
		return errors.New("has a key longer than 253 bytes")
	case strings.HasPrefix(key, "-"):
		return fmt.Errorf("has a key that begins with a dash and would be taken for an option: %q", key)
	case strings.ContainsAny(key, "{}") || strings.ContainsFunc(key, unicode.IsControl) || !utf8.ValidString(key):
		return fmt.Errorf("has a key with braces or control characters: %q", key)
	}
	return nil
}
