package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readCase returns the integration of a case: a spec with its shards, and keys that are set
// over it. The other values are those of the whole namespace.
func readCase(t *testing.T, spec, change map[string]any) (in Integration, values map[string]any) {
	t.Helper()
	top := map[string]any{}
	values = map[string]any{}
	for key, value := range decoded(t, spec).(map[string]any) {
		top[plainKey(key)] = value
	}
	for key, value := range change {
		if name, ok := strings.CutPrefix(key, "values."); ok {
			values[plainKey(name)] = value
			continue
		}
		setPath(t, top, key, value)
	}
	if rule, ok := top["sharding"].(map[string]any); ok {
		for i := range int(rule["shards"].(float64)) {
			list, _ := top["shardspecs"].([]any)
			top["shardspecs"] = append(list, map[string]any{"shard_id": strconv.Itoa(i), "shards": fmt.Sprint(rule["shards"]),
				"shard_name_suffix": fmt.Sprintf("-%d", i)})
		}
		delete(top, "sharding")
	}
	in.Name = top["name"].(string)
	for _, one := range asList(top["shardspecs"]) {
		in.Shards = append(in.Shards, readShard(t, one.(map[string]any)))
	}
	if len(in.Shards) == 0 {
		in.Shards = []Shard{{Shards: "1", ID: "0"}}
	}
	delete(top, "name")
	delete(top, "shardspecs")
	setFields(t, reflect.ValueOf(&in.Spec).Elem(), top)
	return in, values
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// plainKey returns a key without underscores and in lower case, so that snake and camel are one.
func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "_", "")) }

var position = regexp.MustCompile(`^(.*)\[(\d+)\]$`)

// setPath sets the value at a path such as shard_specs[0].extra_args.
func setPath(t *testing.T, top map[string]any, path string, value any) {
	t.Helper()
	steps := strings.Split(path, ".")
	at := top
	for i, step := range steps {
		key := step
		found := position.FindStringSubmatch(step)
		if found != nil {
			key = found[1]
		}
		if i == 0 {
			key = plainKey(key)
		}
		if found == nil && i == len(steps)-1 {
			at[key] = value
			return
		}
		if found == nil {
			next, _ := at[key].(map[string]any)
			if next == nil {
				next = map[string]any{}
				at[key] = next
			}
			at = next
			continue
		}
		n, _ := strconv.Atoi(found[2])
		list := asList(at[key])
		for len(list) <= n {
			list = append(list, map[string]any{})
		}
		at[key] = list
		if i == len(steps)-1 {
			list[n] = value
			return
		}
		at = list[n].(map[string]any)
	}
}

func readShard(t *testing.T, raw map[string]any) Shard {
	t.Helper()
	var s Shard
	for key, value := range raw {
		switch plainKey(key) {
		case "shardid":
			s.ID = asText(value)
		case "shards":
			s.Shards = asText(value)
		case "shardkey":
			s.Key = asText(value)
		case "shardnamesuffix":
			s.Suffix = asText(value)
		case "extraargs":
			s.ExtraArgs = asText(value)
		case "shardspecoverrides":
			override, _ := value.(map[string]any)
			for key, value := range override {
				switch plainKey(key) {
				case "imageref":
					s.ImageRef = asText(value)
				case "disabled":
					s.Disabled = value == true
				case "resources":
					s.Resources = &Resources{}
					setFields(t, reflect.ValueOf(s.Resources).Elem(), value.(map[string]any))
				}
			}
		default:
			t.Fatalf("the key %q of a shard is not known", key)
		}
	}
	return s
}

func asText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// setFields sets the fields of a struct whose names are the keys.
func setFields(t *testing.T, of reflect.Value, raw map[string]any) {
	t.Helper()
	for key, value := range raw {
		field := of.FieldByNameFunc(func(name string) bool { return strings.EqualFold(name, plainKey(key)) })
		if !field.IsValid() {
			t.Fatalf("the key %q of a spec is not known", key)
		}
		if value != nil {
			setField(t, field, value)
		}
	}
}

func setField(t *testing.T, field reflect.Value, value any) {
	t.Helper()
	switch field.Kind() {
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		setField(t, field.Elem(), value)
	case reflect.Struct:
		setFields(t, field, value.(map[string]any))
	case reflect.Slice:
		for _, one := range value.([]any) {
			item := reflect.New(field.Type().Elem()).Elem()
			setField(t, item, one)
			field.Set(reflect.Append(field, item))
		}
	case reflect.String:
		field.SetString(asText(value))
	case reflect.Bool:
		field.SetBool(value.(bool))
	case reflect.Int:
		field.SetInt(int64(value.(float64)))
	}
}

// A patchStep is a step of RFC 6902.
type patchStep struct {
	Op, Path string
	Value    any
}

// applyPatch returns objects with a patch. The objects are not changed.
func applyPatch(t *testing.T, objects []any, patch []patchStep) []any {
	t.Helper()
	top := decoded(t, objects)
	for _, step := range patch {
		keys := strings.Split(strings.TrimPrefix(step.Path, "/"), "/")
		for i := range keys {
			keys[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(keys[i])
		}
		top = patched(t, top, keys, step)
	}
	return top.([]any)
}

func patched(t *testing.T, at any, keys []string, step patchStep) any {
	t.Helper()
	isLast := len(keys) == 1
	switch at := at.(type) {
	case map[string]any:
		switch {
		case !isLast:
			at[keys[0]] = patched(t, at[keys[0]], keys[1:], step)
		case step.Op == "remove":
			delete(at, keys[0])
		default:
			at[keys[0]] = step.Value
		}
		return at
	case []any:
		n, err := strconv.Atoi(keys[0])
		if keys[0] == "-" {
			n, err = len(at), nil
		}
		if err != nil || n > len(at) {
			t.Fatalf("the patch has no place %s", step.Path)
		}
		switch {
		case !isLast:
			at[n] = patched(t, at[n], keys[1:], step)
			return at
		case step.Op == "remove":
			return slices.Delete(at, n, n+1)
		case step.Op == "add":
			return slices.Insert(at, n, step.Value)
		}
		at[n] = step.Value
		return at
	}
	raw, _ := json.Marshal(at)
	t.Fatalf("%s: the patch leads into %s", step.Path, raw)
	return nil
}
