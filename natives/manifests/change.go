package manifests

import (
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// Limits of what people are shown.
const (
	maxChanges = 50  // changes of one object
	maxShown   = 120 // bytes of a value
)

// masked stands for a value that is not shown.
const masked = "***"

// change returns a difference for people.
func (d difference) change() reconcile.Change {
	return reconcile.Change{Path: phrase.Cut(d.at.pointer(), maxShown), Named: phrase.Cut(d.at.named(), maxShown),
		Old: show(d.at, d.is), New: show(d.at, d.want), From: asJSON(d.at, d.is), To: asJSON(d.at, d.want)}
}

// show returns a value for people, without secrets; "" if there is none.
func show(p place, v any) string {
	if v == nil {
		return ""
	}
	v = mask(p, v)
	if text, ok := v.(string); ok {
		return phrase.Cut(text, maxShown)
	}
	return phrase.Cut(canonical(v), maxShown)
}

// mask returns a value without the secrets in it. What is secret is told by its place.
func mask(p place, v any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(p) > maxDepth {
			return masked
		}
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = mask(p.member(name), member)
		}
		if name, ok := v["name"].(string); ok && p.last() == "env" && v["value"] != nil && isSecretName(name) {
			out["value"] = masked
		}
		return out
	case []any:
		if len(p) > maxDepth {
			return masked
		}
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = mask(p.inList(segment{index: i, keys: nameKey(item)}), item)
		}
		return out
	case string:
		if isSecretPlace(p) {
			return masked
		}
		return passwordInAddress.ReplaceAllString(v, "://"+masked+"@")
	}
	return v
}

// nameKey returns the name of an item as its key.
func nameKey(item any) []key {
	if name, ok := at(item, "name").(string); ok {
		return []key{{"name", name}}
	}
	return nil
}

// passwordInAddress matches user and password of an address.
var passwordInAddress = lazyregexp.New(`://[^/@\s]*:[^/@\s]*@`)

// isSecretPlace reports whether the value at a place must not be shown: data of Secrets, the
// value of an environment variable that is named like a secret, and what kubectl applied.
func isSecretPlace(p place) bool {
	if p.name(0) == "data" || p.name(0) == "stringData" ||
		p.name(0) == "metadata" && strings.HasPrefix(p.name(2), appliedBefore) {
		return true
	}
	n := len(p)
	if n < 3 || p[n-1].name != "value" || p[n-3].name != "env" {
		return false
	}
	for _, k := range p[n-2].keys {
		if name, ok := k.value.(string); ok && k.name == "name" {
			return isSecretName(name)
		}
	}
	return true // a variable without a name
}

// isSecretName reports whether the name of an environment variable says that it holds a secret.
func isSecretName(name string) bool {
	if name == "SHARD_KEY" {
		return false
	}
	name = strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASS", "PWD", "KEY", "CREDENTIAL", "AUTH", "DSN", "PRIVATE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}
