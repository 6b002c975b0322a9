package threeway_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/generic/body"
)

func sortedNames[V any](all ...map[string]V) []string {
	names := map[string]bool{}
	for _, m := range all {
		for name := range m {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// serve returns what a service answers after it took a body: it fills in what is read-only and
// its defaults, spells values its own way, orders lists with keys as it likes, and keeps
// secrets to itself.
func (w world) serve(v any) object {
	out, _ := body.Clone(v).(object)
	if out == nil {
		out = object{}
	}
	out["id"], out["etag"] = "/x", w.number()
	if text, ok := out["location"].(string); ok {
		out["location"] = pick(w, text, strings.ToUpper(text))
	}
	p, _ := out["p"].(object)
	if p == nil {
		return out
	}
	p["state"] = "Succeeded"
	delete(p, "password")
	if _, isSet := p["port"]; !isSet {
		p["port"] = numberOf("6379")
	}
	if text, ok := p["target"].(string); ok {
		p["target"] = pick(w, text, strings.ToUpper(text))
	}
	if p["timeout"] == "PT60M" {
		p["timeout"] = "PT1H"
	}
	nets, _ := p["nets"].([]any)
	for _, item := range nets {
		item.(object)["etag"] = w.number()
	}
	w.Shuffle(len(nets), func(i, j int) { nets[i], nets[j] = nets[j], nets[i] })
	ports, _ := p["ports"].([]any)
	for _, item := range ports {
		if item.(object)["protocol"] == nil {
			item.(object)["protocol"] = "TCP"
		}
	}
	ids, _ := p["ids"].([]any)
	w.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for _, name := range []string{"nets", "only", "dns"} {
		if items, ok := p[name].([]any); ok && len(items) == 0 && w.is(50) {
			delete(p, name)
		}
	}
	return out
}

// leaves returns the canonical text of each leaf of a body by its path, null and empty lists too. Items of nets and
// ports are named by their keys, other lists are leaves.
func leaves(v any) map[string]string {
	out := map[string]string{}
	addLeaves(out, "", v)
	return out
}

func addLeaves(out map[string]string, path string, v any) {
	switch of := v.(type) {
	case object:
		if path == "/p/selector" { // one value
			out[path] = body.Canonical(body.WithoutNulls(v))
			return
		}
		for name, item := range of {
			addLeaves(out, path+"/"+name, item)
		}
		return
	case []any:
		keys := map[string]func(object) string{
			"/p/nets":  func(o object) string { return o["name"].(string) },
			"/p/ports": func(o object) string { return body.Canonical(o["port"]) + protocolOf(o) },
		}[path]
		if keys != nil {
			for _, item := range of {
				addLeaves(out, path+"/"+keys(item.(object)), item)
			}
			return
		}
	}
	if _, isList := v.([]any); isList || v == nil || !body.IsEmpty(v) {
		out[path] = body.Canonical(v)
	}
}

func protocolOf(o object) string {
	if o["protocol"] == nil {
		return "TCP"
	}
	return o["protocol"].(string)
}
