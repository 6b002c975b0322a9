package saas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// changedCells returns the keys of the cells whose states differ between two worlds.
func changedCells(t *testing.T, base, head *saastest.World) []string {
	t.Helper()
	states := func(w *saastest.World) map[string]string {
		m, out := read(t, w), map[string]string{}
		for _, c := range m.Cells() {
			raw, err := json.Marshal(m.CellState(c))
			if err != nil {
				t.Fatal(err)
			}
			out[c.Key()] = string(raw)
		}
		return out
	}
	before, after := states(base), states(head)
	var out []string
	for _, key := range sortedKeys(after) {
		if before[key] != after[key] {
			out = append(out, key)
		}
	}
	for _, key := range sortedKeys(before) {
		if _, isThere := after[key]; !isThere {
			out = append(out, key)
		}
	}
	return out
}

// earlyFile is the saas file that the cases of the area early_exit change, and earlyDatafiles the
// others, by the word of a case.
const earlyFile = "/services/app-001/saas.yml"

var earlyDatafiles = map[string]string{
	"environment": saastest.ProductionEnv, "app": "/services/app-001/app.yml", "cluster": "/clusters/c-2.yml",
	"namespace": "/services/app-001/namespaces/app-001-production.yml",
}

// change changes what a pointer of a datafile names: a text becomes longer, another value new.
func change(t *testing.T, w *saastest.World, file, pointer string) {
	t.Helper()
	var path []any
	for _, part := range jsonpointer.Split(pointer) {
		if n, err := strconv.Atoi(part); err == nil {
			path = append(path, n)
			continue
		}
		path = append(path, part)
	}
	var at any = w.Data[file]
	for _, part := range path {
		switch part := part.(type) {
		case string:
			of, _ := at.(map[string]any)
			at = of[part]
		case int:
			at = at.([]any)[part]
		}
	}
	var value any
	switch at := at.(type) {
	case string:
		value = at + "-changed"
	case bool:
		value = !at
	case []any:
		value = append(slices.Clone(at), "changed")
	case map[string]any:
		value = map[string]any{"CHANGED": "x"}
	default:
		value = true
		if strings.HasSuffix(pointer, "parameters") {
			value = map[string]any{"CHANGED": "x"}
		}
	}
	w.Set(file, value, path...)
}

// A case of the area early_exit says which cells are planned when something changes.
func TestEarlyExitCases(t *testing.T) {
	shared.Each(t, "early_exit", func(t *testing.T, c struct {
		Input    struct{ Change string }
		Expected struct {
			Decision string
			Keys     []string
		}
	}) {
		word, pointer, ok := strings.Cut(c.Input.Change, " ")
		file := earlyDatafiles[word]
		if !ok {
			file, pointer = earlyFile, c.Input.Change
		}
		field, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		isOurs := strings.Contains(selections[fileList.of], field+";") || strings.HasPrefix(field, "resourceTemplates") ||
			field == "displayName"
		if file == "" || file == earlyFile && !isOurs {
			t.Skip("about another integration")
		}
		base, head := saastest.Large(4, 16), saastest.Large(4, 16)
		change(t, head, file, pointer)
		var want []string
		for _, words := range c.Expected.Keys {
			want = append(want, earlyKeys(t, words, pointer)...)
		}
		slices.Sort(want)
		if got := changedCells(t, base, head); !slices.Equal(got, want) ||
			(len(got) == 0) != (c.Expected.Decision == "skip") {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// earlyKeys returns the keys that the words of a case mean.
func earlyKeys(t *testing.T, words, pointer string) []string {
	switch words {
	case "all cells of the file", "all cells of the files of that app":
		return []string{"app-001/production", "app-001/stage"}
	case "all cells of that environment":
		return []string{"app-000/production", "app-001/production", "app-002/production", "app-003/production"}
	case "saas/env of that target":
		if strings.HasPrefix(pointer, "/resourceTemplates/0/targets/1") {
			return []string{"app-001/production"}
		}
		return []string{"app-001/stage"}
	}
	t.Fatalf("nobody knows the words %q", words)
	return nil
}

// What a deploy reads is in the state of its cell, and what it does not read is not.
func TestCellState(t *testing.T) {
	const app1 = "app-001/production app-001/stage"
	production := "app-000/production app-001/production app-002/production app-003/production"
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		want   string
	}{
		"nothing": {func(*saastest.World) {}, ""},
		"an image pattern": {func(w *saastest.World) { w.Set(earlyFile, []any{"quay.io/other/"}, "imagePatterns") },
			app1},
		"credentials": {func(w *saastest.World) { w.Set(earlyFile, nil, "authentication") }, app1},
		"how a template is made": {func(w *saastest.World) {
			w.Set(earlyFile, "directory", "resourceTemplates", 0, "provider")
		}, app1},
		"the length of tags": {func(w *saastest.World) { w.Set(earlyFile, 9, "resourceTemplates", 1, "hash_length") },
			app1},
		"a blocked version":        {func(w *saastest.World) { blocked(w, "app-001") }, app1},
		"a version of another app": {func(w *saastest.World) { blocked(w, "app-003") }, "app-003/production app-003/stage"},
		"a publisher": {func(w *saastest.World) {
			w.Target(earlyFile, 0, 0)["promotion"].(object)["publish"] = []any{"app-001-0-stage", "app-002-0-stage"}
		}, "app-001/stage app-002/production"},
		"another publisher of the same repository": {func(w *saastest.World) {
			w.Target(earlyFile, 1, 0)["promotion"].(object)["publish"] = []any{"app-001-1-stage", "app-001-0-stage"}
		}, "app-001/production app-001/stage"},
		"the address of a cluster": {func(w *saastest.World) { w.Set("/clusters/c-2.yml", "https://new", "serverUrl") },
			app1},
		"a token": {func(w *saastest.World) { w.Set("/clusters/c-2.yml", "other", "automationToken", "path") }, app1},
		"a rule that blocks images": {func(w *saastest.World) {
			w.Set(saastest.Settings,
				[]any{object{"environmentLabelSelector": object{"type": "production"}, "imagePatterns": []any{"quay.io/x"}}},
				"imagePatternsBlockRules")
		}, production},
		"a rule for other labels": {func(w *saastest.World) {
			w.Set(saastest.Settings,
				[]any{object{"environmentLabelSelector": object{"type": "other"}, "imagePatterns": []any{"quay.io/x"}}},
				"imagePatternsBlockRules")
		}, ""},
		"a label of a namespace": {func(w *saastest.World) { w.Set(earlyDatafiles["namespace"], "x", "labels", "team") },
			""},
		"the address of a console": {func(w *saastest.World) { w.Set("/clusters/c-2.yml", "https://new", "consoleUrl") },
			""},
		"another app without owner": {func(w *saastest.World) { w.Set("/services/app-002/app.yml", nil, "serviceOwners") },
			""},
		"a target before the others": {func(w *saastest.World) {
			templates := w.Data[earlyFile]["resourceTemplates"].([]any)
			first := w.Clone().Data[earlyFile]["resourceTemplates"].([]any)[0].(object)
			first["name"], first["targets"] = "first", first["targets"].([]any)[1:]
			w.Set(earlyFile, append([]any{first}, templates...), "resourceTemplates")
		}, "app-001/production"},
		"a cell that is gone": {func(w *saastest.World) {
			w.Target(earlyFile, 0, 0)["disable"], w.Target(earlyFile, 1, 0)["disable"] = true, true
		}, "app-001/stage"},
		"a disabled target that leaves": {func(w *saastest.World) {
			w.Set(earlyFile, w.Data[earlyFile]["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[:2],
				"resourceTemplates", 0, "targets")
		}, "app-001/production"},
		"a new saas file": {func(w *saastest.World) {
			f := w.Clone().Data[earlyFile]
			f["name"] = "new"
			f["resourceTemplates"] = f["resourceTemplates"].([]any)[:1]
			of := f["resourceTemplates"].([]any)[0].(object)
			of["targets"] = of["targets"].([]any)[1:]
			w.Data["/new.yml"] = f
		}, "new/production"},
	} {
		t.Run(name, func(t *testing.T) {
			base := saastest.Large(4, 16)
			disabled := base.Clone().Target(earlyFile, 0, 1)
			disabled["name"], disabled["disable"] = "disabled", true
			base.Set(earlyFile, append(base.Data[earlyFile]["resourceTemplates"].([]any)[0].(object)["targets"].([]any),
				disabled), "resourceTemplates", 0, "targets")
			head := base.Clone()
			c.change(head)
			if got := strings.Join(changedCells(t, base, head), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// blocked blocks a version of the repository of an app.
func blocked(w *saastest.World, app string) {
	w.Set("/services/"+app+"/app.yml", []any{saastest.Sha}, "codeComponents", 0, "blockedVersions")
}

// A secret is allowed by its path or a folder above it, by head and by base.
func TestAllowedSecret(t *testing.T) {
	w := saastest.New()
	base := read(t, w)
	w.Set(saastest.File, []any{"app/shop", "stolen"}, "allowedSecretParameterPaths")
	head := read(t, w)
	target := head.Files[0].Templates[0].Targets[0]
	for path, want := range map[string][2]bool{ // in a change, and after its merge
		"app/shop": {true, true}, "app/shop/x": {true, true}, "app/shopping": {}, "app/shop/../x": {}, "app": {}, "": {},
		"stolen": {false, true}, "stolen/x": {false, true},
	} {
		if got := [2]bool{AllowedSecret(base, target, path), AllowedSecret(nil, target, path)}; got != want {
			t.Errorf("%q: got %v, want %v", path, got, want)
		}
	}
	if AllowedSecret(&Model{}, target, "app/shop") {
		t.Error("a saas file that base does not have allows itself a secret")
	}
}

// TestCellStateOrder holds that a state tells the orders that mean something, also when the order
// of its lists does not count.
func TestCellStateOrder(t *testing.T) {
	parameter := func(path string) object {
		return object{"name": "TOKEN", "secret": object{"path": path, "field": "f"}}
	}
	hash := func(value string) object {
		return object{"channel": "app-000-0-stage",
			"data": []any{object{"type": "parent_saas_config", "parent_saas": "app-000", "target_config_hash": value}}}
	}
	for name, set := range map[string]func(w *saastest.World, a, b int){
		"secrets of a file": func(w *saastest.World, a, b int) {
			list := []any{parameter("p/0"), parameter("p/1")}
			w.Set(earlyFile, []any{list[a], list[b]}, "secretParameters")
		},
		"secrets of a template": func(w *saastest.World, a, b int) {
			list := []any{parameter("p/0"), parameter("p/1")}
			w.Set(earlyFile, []any{list[a], list[b]}, "resourceTemplates", 0, "secretParameters")
		},
		"noted hashes": func(w *saastest.World, a, b int) {
			list := []any{hash("h0"), hash("h1")}
			w.Target(earlyFile, 0, 1)["promotion"] = object{"auto": true, "subscribe": []any{"app-000-0-stage"},
				"promotion_data": []any{list[a], list[b]}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := saastest.Large(4, 16), saastest.Large(4, 16)
			set(one, 0, 1)
			set(other, 1, 0)
			if a, b := unordered(t, one), unordered(t, other); a == b {
				t.Error("the states are the same")
			}
		})
	}
}

// unordered returns the states of all cells as text, with sorted lists.
func unordered(t *testing.T, w *saastest.World) string {
	t.Helper()
	m := read(t, w)
	var value any
	var states []any
	for _, c := range m.Cells() {
		states = append(states, m.CellState(c))
	}
	raw, err := json.Marshal(states)
	if err == nil {
		err = json.Unmarshal(raw, &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sortedLists(value)
}

// sortedLists returns a value as text, with sorted lists.
func sortedLists(v any) string {
	var items []string
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			items = append(items, key+":"+sortedLists(value))
		}
	case []any:
		for _, value := range v {
			items = append(items, sortedLists(value))
		}
	default:
		return fmt.Sprint(v)
	}
	slices.Sort(items)
	return fmt.Sprint(items)
}
