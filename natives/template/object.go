package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errNoKind says that nobody knows the type of an object.
var errNoKind = errors.New("it has no kind, or an apiVersion that is none")

// labels returns the labels of a template with values. A label whose key becomes another one is filled in
// once more, as OpenShift's library nearly always does.
func (f *filler) labels(of map[string]string) (map[string]any, error) {
	labels := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		k, v := f.label(key), f.label(of[key])
		if k != key {
			k, v = f.label(k), f.label(v)
		}
		if _, isTwice := labels[k]; isTwice {
			return nil, fmt.Errorf("two labels become the label %.80q", k)
		}
		labels[k] = v
	}
	return labels, f.checkSize()
}

// label returns a label, or the key of one, with values. A value in double braces is a text here.
func (f *filler) label(text string) string {
	if name, isWhole := wholeName(text); isWhole {
		if value, ok := f.values[name]; ok {
			f.left -= len(value)
			return value
		}
	}
	return f.text(text)
}

// object returns an object with values and labels. An object with items is a list, which keeps its namespace
// and cannot get labels.
func (f *filler) object(object map[string]any, labels map[string]any) (map[string]any, error) {
	if _, kind := typeOf(object); kind == "" {
		return nil, errNoKind
	}
	var err error
	if _, isList := object["items"]; !isList {
		object = dropNamespace(object)
	} else if object, err = list(object); err != nil {
		return nil, err
	} else if len(labels) > 0 {
		return nil, errors.New("it has items, and a list cannot get the labels of the template")
	}
	value, err := f.fill(object)
	if err != nil {
		return nil, err
	}
	out, _ := value.(map[string]any)
	setGroup(out)
	if len(labels) > 0 {
		addLabels(out, labels)
	}
	return out, nil
}

// list returns an object with items whose type is known: an item without apiVersion and kind gets those of the
// list, where PodList is for a Pod.
func list(object map[string]any) (map[string]any, error) {
	items, isList := object["items"].([]any)
	if !isList && object["items"] != nil {
		return nil, errors.New("it has items that are no list")
	}
	out := make([]any, len(items))
	for i, item := range items {
		fields, isMap := item.(map[string]any)
		if !isMap && item != nil {
			return nil, fmt.Errorf("item %d is no object", i+1)
		}
		if text(fields, "kind") == "" && text(fields, "apiVersion") == "" {
			typed := map[string]any{}
			maps.Copy(typed, fields)
			typed["kind"], typed["apiVersion"] = strings.TrimSuffix(text(object, "kind"), "List"), text(object, "apiVersion")
			fields = typed
		}
		out[i] = fields
	}
	object = maps.Clone(object)
	object["items"] = out
	return object, nil
}

// text returns a field that is a text, and "" for any other.
func text(object map[string]any, name string) string {
	value, _ := object[name].(string)
	return value
}

// typeOf returns the apiVersion and the kind of an object, both "" if the apiVersion is none.
func typeOf(object map[string]any) (version, kind string) {
	version, kind = text(object, "apiVersion"), text(object, "kind")
	if strings.Count(version, "/") > 1 {
		return "", ""
	}
	return version, kind
}

// addLabels adds labels to an object whose metadata can hold them. Labels of its own that are not all texts
// are lost.
func addLabels(object map[string]any, labels map[string]any) {
	metadata, isMap := object["metadata"].(map[string]any)
	if _, isThere := object["metadata"]; isThere && !isMap {
		return
	}
	if metadata == nil {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	own, _ := metadata["labels"].(map[string]any)
	all := map[string]any{}
	if !slices.ContainsFunc(slices.Collect(maps.Values(own)), isNoText) {
		maps.Copy(all, own)
	}
	maps.Copy(all, labels)
	metadata["labels"] = all
}

func isNoText(value any) bool { _, isText := value.(string); return !isText }

// dropNamespace returns an object without its namespace if that is written out: the caller says where the
// objects go. A namespace with a reference stays. One that is no name becomes empty, as does one beside kind
// in an object without metadata.
func dropNamespace(object map[string]any) map[string]any {
	metadata, hasMetadata := object["metadata"]
	if !hasMetadata {
		return withoutNamespace(object, false)
	}
	fields, isMap := metadata.(map[string]any)
	if !isMap {
		return object
	}
	object = maps.Clone(object)
	object["metadata"] = withoutNamespace(fields, true)
	return object
}

// withoutNamespace returns fields without a namespace that is written out, or with an empty one.
func withoutNamespace(fields map[string]any, isName bool) map[string]any {
	namespace, isThere := fields["namespace"]
	name, _ := namespace.(string)
	if _, end := findReference(name); !isThere || end > 0 {
		return fields
	}
	fields = maps.Clone(fields)
	if fields["namespace"] = ""; isName && name != "" {
		delete(fields, "namespace")
	}
	return fields
}
