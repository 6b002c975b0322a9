package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
)

// Adapt returns the manifest that is right for a live object. A Deployment or StatefulSet whose
// selector does not have the label of [InstanceLabel] keeps its selector: the manifest then has
// this label neither in the selector nor on the pods nor on the object, unless the options say
// that selectors are migrated or that manifests are applied as they are written. A ServiceAccount
// keeps the secrets that the server added to its lists. The manifest itself is not changed.
func Adapt(want Object, is *Live, o Options) Object {
	switch {
	case is == nil:
		return want
	case is.Kind == serviceAccount:
		return withServersSecrets(want, is)
	case o.MigrateSelector || o.AsWritten || is.Kind != Deployment && is.Kind != StatefulSet:
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

// withServersSecrets returns the manifest of a ServiceAccount with the secrets that OpenShift
// added to the lists which the manifest has. An apply without them is in conflict with the server,
// since it owns such a list as a whole from then on.
func withServersSecrets(want Object, is *Live) Object {
	for _, list := range []string{"secrets", "imagePullSecrets"} {
		wanted, isThere := want[list].([]any)
		if !isThere {
			continue
		}
		items, _ := is.Object[list].([]any)
		for _, item := range items {
			name := text(at(item, "name"))
			isServers := strings.HasPrefix(name, is.Name+"-dockercfg-") || strings.HasPrefix(name, is.Name+"-token-")
			isWanted := slices.ContainsFunc(wanted, func(w any) bool { return text(at(w, "name")) == name })
			if isServers && !isWanted {
				wanted = append(wanted[:len(wanted):len(wanted)], item)
			}
		}
		want = with(want, wanted, list)
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

// digest returns the digest of a manifest as it is noted.
func (o Options) digest(manifest Object) string {
	if o.Digest != "" {
		return o.Digest
	}
	return Digest(manifest)
}

// Digest returns the digest of a manifest, for the annotation of [DigestAnnotation].
func Digest(manifest Object) string {
	sum := sha256.Sum256([]byte(canonical(manifest)))
	return hex.EncodeToString(sum[:])
}
