package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
)

// Adapt returns the manifest that is right for a live object. A Deployment or StatefulSet whose
// selector does not have the label of [InstanceLabel] keeps its selector: the manifest then has
// this label neither in the selector nor on the pods nor on the object, unless the options say
// that selectors are migrated. The manifest itself is not changed.
func Adapt(want Object, is *Live, o Options) Object {
	if is == nil || o.MigrateSelector || is.Kind != Deployment && is.Kind != StatefulSet {
		return want
	}
	selector, isThere := at(is.Object, "spec", "selector", "matchLabels").(map[string]any)
	if _, hasLabel := selector[InstanceLabel]; hasLabel || !isThere {
		return want
	}
	for _, labels := range [][]string{
		{"metadata", "labels"}, {"spec", "selector", "matchLabels"}, {"spec", "template", "metadata", "labels"},
	} {
		want = without(want, append(labels, InstanceLabel)...)
	}
	return want
}

// without returns an object without the value at a place. The object itself is not changed.
func without(object Object, names ...string) Object {
	if _, has := object[names[0]]; !has {
		return object
	}
	out := maps.Clone(object)
	if len(names) == 1 {
		delete(out, names[0])
		return out
	}
	if below, ok := object[names[0]].(map[string]any); ok {
		out[names[0]] = without(below, names[1:]...)
	}
	return out
}

// with returns an object with a value at a place. The object itself is not changed.
func with(object Object, value any, names ...string) Object {
	out := maps.Clone(object)
	if out == nil {
		out = Object{}
	}
	if len(names) == 1 {
		out[names[0]] = value
		return out
	}
	below, _ := out[names[0]].(map[string]any)
	out[names[0]] = with(below, value, names[1:]...)
	return out
}

// Digest returns the digest of a manifest, for the annotation of [DigestAnnotation].
func Digest(manifest Object) string {
	sum := sha256.Sum256([]byte(canonical(manifest)))
	return hex.EncodeToString(sum[:])
}
