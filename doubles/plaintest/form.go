package plaintest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// read reads the body of a request: JSON, or a form with brackets.
func read(r *http.Request) (Item, error) {
	if r.Body == nil {
		return nil, nil
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil || len(raw) == 0 {
		return nil, err
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		var out Item
		return out, json.Unmarshal(raw, &out)
	}
	values, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, err
	}
	out := Item{}
	for _, name := range sorted(values) {
		put(out, parts(name), values.Get(name))
	}
	return lists(out).(Item), nil
}

func sorted(values url.Values) []string {
	var out []string
	for name := range values {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// parts takes a[b][c] apart.
func parts(name string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(name, "][", "["), "]"), "[")
}

func put(out Item, at []string, value string) {
	if len(at) == 1 {
		out[at[0]] = value
		return
	}
	inner, ok := out[at[0]].(Item)
	if !ok {
		inner = Item{}
		out[at[0]] = inner
	}
	put(inner, at[1:], value)
}

// lists makes lists of objects whose members are 0, 1, 2.
func lists(v any) any {
	object, ok := v.(Item)
	if !ok {
		return v
	}
	list := make([]any, 0, len(object))
	for i := range len(object) {
		if item, has := object[fmt.Sprint(i)]; has {
			list = append(list, lists(item))
		}
	}
	if len(list) > 0 && len(list) == len(object) {
		return list
	}
	for name, item := range object {
		object[name] = lists(item)
	}
	return object
}
