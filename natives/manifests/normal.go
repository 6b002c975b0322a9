package manifests

import (
	"encoding/base64"
	"maps"
	"strings"
)

// Normal returns an object of a template as a manifest, so that it can be compared with what a
// server keeps: without null, without status and what only servers write, and a Secret has its
// texts in data. The object itself is not changed.
func Normal(o Object) Object {
	out, _ := withoutNulls(o).(map[string]any)
	delete(out, "status")
	if metadata, ok := out["metadata"].(map[string]any); ok {
		for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
			"managedFields", "selfLink"} {
			delete(metadata, name)
		}
		if notes, ok := metadata["annotations"].(map[string]any); ok {
			delete(notes, appliedBefore)
		}
	}
	if out["kind"] == secret.Name && out["apiVersion"] == secret.Version {
		setData(out)
	}
	return out
}

// withoutNulls returns a copy of a value in which no object has a member that is null.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if member != nil {
				out[name] = withoutNulls(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return v
}

// setData moves the texts of a Secret into its data, as servers do, and writes data as servers
// do: base64 on one line. What is no text stays, so that the server says what is wrong.
func setData(o Object) {
	data, isObject := o["data"].(map[string]any)
	if !isObject && o["data"] != nil {
		return
	}
	data = maps.Clone(data)
	if data == nil {
		data = map[string]any{}
	}
	for name, value := range data {
		if text, ok := value.(string); ok {
			data[name] = strings.NewReplacer("\n", "", "\r", "").Replace(text)
		}
	}
	if texts, ok := o["stringData"].(map[string]any); ok {
		left := map[string]any{}
		for name, value := range texts {
			if text, ok := value.(string); ok {
				data[name] = base64.StdEncoding.EncodeToString([]byte(text))
			} else {
				left[name] = value
			}
		}
		delete(o, "stringData")
		if len(left) > 0 {
			o["stringData"] = left
		}
	}
	if len(data) > 0 || isObject {
		o["data"] = data
	}
}
