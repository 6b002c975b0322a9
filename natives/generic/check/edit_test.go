package check_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// needed are pointers that the service wants in each body.
var needed = []string{"/location", "/sku", "/kind", "/properties", "/properties/sku", "/properties/tenantId",
	"/properties/addressSpace"}

func isNeeded(pointer string) bool {
	last := pointer[strings.LastIndexByte(pointer, '/')+1:]
	if slices.Contains([]string{"name", "objectId", "value", "service"}, last) {
		return true // keys of items
	}
	return slices.ContainsFunc(needed, func(n string) bool {
		return pointer == n || strings.HasPrefix(pointer, n+"/") && n != "/properties"
	})
}

// A spot is a value inside of a body.
type spot struct {
	pointer string
	value   any
}

// spots returns all values inside of a body, in a fixed order.
func spots(v any, pointer string) []spot {
	var out []spot
	if pointer != "" {
		out = append(out, spot{pointer, v})
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sorted(v) {
			out = append(out, spots(v[name], jsonpointer.Append(pointer, name))...)
		}
	case []any:
		for i, item := range v {
			out = append(out, spots(item, pointer+"/"+strconv.Itoa(i))...)
		}
	}
	return out
}

func sorted(m map[string]any) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// drop removes a member of an object.
func drop(v any, pointer string) {
	i := strings.LastIndexByte(pointer, '/')
	around, _ := body.Get(v, pointer[:i])
	if object, ok := around.(map[string]any); ok {
		delete(object, jsonpointer.Split(pointer)[strings.Count(pointer, "/")-1])
	}
}

// put sets a value in a body that has a value there.
func put(v any, pointer string, value any) {
	i := strings.LastIndexByte(pointer, '/')
	around, _ := body.Get(v, pointer[:i])
	last := jsonpointer.Split(pointer)[strings.Count(pointer, "/")-1]
	switch around := around.(type) {
	case map[string]any:
		around[last] = value
	case []any:
		if n, err := strconv.Atoi(last); err == nil && n < len(around) {
			around[n] = value
		}
	}
}

// thin leaves out some of what a body need not have.
func thin(r *rand.Rand, v map[string]any) {
	for _, s := range spots(v, "") {
		if r.IntN(6) == 0 && !isNeeded(s.pointer) {
			drop(v, s.pointer)
		}
	}
}

// edit changes a body somewhere, and says what it did.
func edit(r *rand.Rand, head any, whole map[string]any) string {
	all := spots(head, "")
	s := all[r.IntN(len(all))]
	switch old := s.value.(type) {
	case string:
		put(head, s.pointer, old+strconv.Itoa(r.IntN(3)))
	case json.Number:
		put(head, s.pointer, json.Number(strconv.Itoa(r.IntN(5))))
	case bool:
		put(head, s.pointer, !old)
	case []any:
		if len(old) > 1 {
			put(head, s.pointer, old[1:])
		}
	case map[string]any:
		for _, full := range spots(whole, "") { // something that was left out comes back
			if _, isThere := body.Get(head, full.pointer); !isThere && r.IntN(3) == 0 {
				put(head, full.pointer, body.Clone(full.value))
				return "add " + full.pointer
			}
		}
	}
	if r.IntN(4) == 0 && !isNeeded(s.pointer) {
		drop(head, s.pointer)
		return "remove " + s.pointer
	}
	return "change " + s.pointer
}

// respell changes a body so that it means the same, or what nobody minds.
func respell(r *rand.Rand, k *kind, head map[string]any) string {
	switch r.IntN(5) {
	case 0:
		head["location"] = map[string][]string{
			"westus": {"westus", "West US", "WestUS", "WESTUS", "west us"}, "eastus": {"East US", "eastus", "EASTUS"},
		}[strings.ToLower(strings.ReplaceAll(head["location"].(string), " ", ""))][r.IntN(3)]
		return "respell the location"
	case 1:
		for _, at := range []string{"/properties/subnets", "/properties/dnsServers", "/properties/accessPolicies",
			"/properties/networkAcls/ipRules", "/properties/accessPolicies/0/permissions"} {
			if v, _ := body.Get(head, at); v != nil {
				if list, ok := v.([]any); ok {
					slices.Reverse(list)
				}
			}
		}
		return "reorder lists"
	case 2:
		for _, at := range k.harmless {
			if r.IntN(2) == 0 {
				drop(head, at)
			}
		}
		return "remove defaults"
	case 3:
		head["tags"] = map[string]any{"n": strconv.Itoa(r.IntN(9))}
		return "change tags"
	default:
		if properties, ok := head["properties"].(map[string]any); ok {
			if id, ok := properties["subnetId"].(string); ok {
				properties["subnetId"] = strings.ToUpper(id)
			}
			if properties["retention"] == "PT2H" {
				properties["retention"] = "PT120M"
			}
		}
		if sku, ok := head["sku"].(map[string]any); ok && sku["capacity"] != nil {
			sku["capacity"] = json.Number("2.0")
		}
		return "respell values"
	}
}
