package simulation

import (
	"fmt"
	"maps"
)

// group is where the resources of one subscription are.
const group = "/subscriptions/s%d/resourceGroups/shop"

// entry returns a datafile of a resource.
func entry(kind, name, parent string, body map[string]any, more ...map[string]any) map[string]any {
	out := map[string]any{"type": kind, "name": name, "parent": parent, "body": body}
	for _, m := range more {
		maps.Copy(out, m)
	}
	return out
}

// A maker makes the resources of a shop: the n-th one, with a value that changes.
type maker func(n, value int) (path string, e map[string]any)

// makers are one for each type; the parents come first.
var makers = []maker{
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"location": "westus", "tags": map[string]any{"value": fmt.Sprint(value)},
			"properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"10.0.0.0/16"}}}}
		return path("network", n), entry("Example.Network/networks", name("net", n), parent(n), body)
	},
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"properties": map[string]any{"addressPrefix": fmt.Sprintf("10.0.%d.0/24", value)}}
		return path("subnet", n), entry("Example.Network/networks/subnets", "data", path("network", n), body)
	},
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"location": "West US", "tags": map[string]any{"team": "shop"},
			"properties": map[string]any{"sku": map[string]any{"name": "S", "capacity": value}}}
		return path("cache", n), entry("Example.Cache/caches", name("cache", n), parent(n), body)
	},
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"properties": map[string]any{"startIP": "192.0.2.1",
			"endIP": fmt.Sprintf("192.0.2.%d", value)}}
		return path("rule", n), entry("Example.Cache/caches/firewallRules", "office", path("cache", n), body)
	},
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"location": "westus", "kind": "Storage", "sku": map[string]any{"name": "S"},
			"properties": map[string]any{"retention": "PT24H", "networkAcls": map[string]any{"defaultAction": "Deny",
				"ipRules": []any{map[string]any{"value": fmt.Sprintf("192.0.2.%d", value), "action": "Allow"}}}}}
		return path("files", n), entry("Example.Storage/accounts", name("files", n), parent(n), body)
	},
	func(n, value int) (string, map[string]any) {
		body := map[string]any{"location": "westus", "sku": map[string]any{"name": "S", "capacity": 3},
			"properties": map[string]any{"computerNamePrefix": "web",
				"image": map[string]any{"publisher": "example", "version": fmt.Sprint(value)}}}
		return path("machines", n), entry("Example.Compute/scaleSets", name("web", n), parent(n), body)
	},
}

func path(kind string, n int) string { return fmt.Sprintf("/cloud/%s-%03d.yml", kind, n) }

func name(kind string, n int) string { return fmt.Sprintf("%s%03d", kind, n) }

// roots is how many subscriptions there are.
const roots = 3

func parent(n int) string { return fmt.Sprintf(group, n%roots) }

// fill puts shops into the data, each with one resource of each type.
func (w *world) fill(shops, value int) {
	for n := range shops {
		for _, m := range makers {
			path, e := m(n, value)
			w.put(path, e)
		}
	}
}
