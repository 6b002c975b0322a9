package deploy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// fields are values that a change may give to a field, wherever the field is found or may be.
var fields = map[string][]any{
	"takeover": {true, false}, "clusterAdmin": {true, false}, "deprecated": {true, false}, "compare": {true, false},
	"use_channel_in_image_tag": {true},
	"validateTargetsInApp":     {true}, "publishJobLogs": {true}, "disable": {true, false}, "delete": {true, false},
	"hash_length": {7, 8, 40}, "hashLength": {7, 9},
	"parameters": {object{"A": "${B}", "B": "1"}, object{"B": "2", "A": "x"},
		object{"C": "{{{ resource.namespace.cluster.name }}}"},
		object{"C": "{{{ resource.namespace.labels['team'] }}}", "A": true}, object{"CHANNEL": "fast"},
		object{"IMAGE_TAG": "v1"}},
	"secretParameters": {[]any{object{"name": "SECRET", "secret": object{"path": "app/x", "field": "f"}}},
		[]any{object{"name": "SECRET", "secret": object{"path": "app/x", "field": "f"}},
			object{"name": "SECRET", "secret": object{"path": "other/y", "field": "f", "version": 2}}},
		[]any{object{"name": "A", "secret": object{"path": "app/x", "field": "f", "version": 1}},
			object{"name": "TOKEN", "secret": object{"path": "app/y", "field": "g", "format": "x"}}}},
	"ref": {"main", "stable", old, next}, "name": {"app-000", "app-001", "app-000-0", "app-000-1", "stage", "production",
		"c-1", "c-2", "app-000-stage", "app-000-production"},
	"url":      {"https://github.com/acme/app-000", "https://github.com/acme/app-001"},
	"path":     {"/openshift/template-0.yml", "/openshift/", "/other.yml", "app/x", "other/y"},
	"provider": {"openshift-template", "directory", "helm", "dynamic", "tekton"}, "version": {1, 2}, "field": {"f", "g"},
	"managedResourceTypes": {[]any{"ConfigMap"}, []any{"Deployment.apps", "Service"}},
	"managedResourceNames": {[]any{object{"resource": "ConfigMap", "resourceNames": []any{"config"}}},
		[]any{object{"resource": "Service", "resourceNames": []any{"x"}}}},
	"imagePatterns": {[]any{"quay.io/acme/"}, []any{"quay.io/other/"}}, "allowedSecretParameterPaths": {[]any{"app"},
		[]any{"other"}, []any{}},
	"promotion": {object{"subscribe": []any{"app-000-0-stage"},
		"promotion_data": []any{object{"channel": "app-000-0-stage", "data": []any{
			object{"type": "parent_saas_config", "parent_saas": "app-000", "target_config_hash": "hash-1"},
			object{"type": "parent_saas_config", "parent_saas": "app-000", "target_config_hash": "hash-2"}}}}},
		object{"publish": []any{"app-000-0-stage", "app-001-0-stage"}}, object{"publish": []any{"x"}}},
	"subscribe": {[]any{"app-000-0-stage", "app-001-0-stage"}, []any{"x"}},
	"publish":   {[]any{"app-000-0-stage"}, []any{"x", "app-000-1-stage"}}, "soakDays": {1, 4, 400},
	"schedule": {"0 9 * * 1", "x"},
	"namespaceSelector": {object{"jsonPathSelectors": object{"include": []any{"namespace[?@.app.name=='app-000']"}}},
		object{"jsonPathSelectors": object{"include": []any{"namespace[*]"},
			"exclude": []any{"namespace[?@.labels.team=='app-001']"}}},
		object{"jsonPathSelectors": object{"include": []any{"namespace[?@.cluster.internal==true]",
			"namespace[?@.environment.labels.type=='stage']"}}}},
	"blockedVersions": {[]any{old}, []any{next}},
	"hotfixVersions":  {[]any{old}, []any{"00000000000000000000000000000000" + "00000001"}},
	"parentApp":       {saastest.Ref("/services/app-001/app.yml")},
	"serverUrl":       {"https://api.c-1.example.com:6443", "https://other.example.com"}, "insecureSkipTLSVerify": {true},
	"internal": {true}, "jumpHost": {object{"hostname": "x"}},
	"clusterAdminAutomationToken": {object{"path": "admin", "field": "token"}},
	"automationToken":             {object{"path": "app/other", "field": "token"}},
	"imagePatternsBlockRules": {[]any{object{"environmentLabelSelector": object{"type": "production"},
		"imagePatterns": []any{"quay.io/acme/"}}},
		[]any{object{"environmentLabelSelector": object{}, "imagePatterns": []any{"quay.io/acme/app:v"}}}},
	"labels":         {object{"type": "stage"}, object{"type": "production", "team": "x"}, object{"team": "app-001"}},
	"slos":           {[]any{saastest.Ref("/services/slo.yml")}},
	"images":         {[]any{object{"org": saastest.Ref(saastest.QuayOrg), "name": "app"}}},
	"upstream":       {object{"instance": saastest.Ref(saastest.Jenkins), "name": "job"}},
	"authentication": {saastest.Ref("/pipelines/authentication.yml")}, "targets": {[]any{}},
}

// optional are the fields that an entry with another field may get.
var optional = map[string][]string{
	"imagePatterns": {"takeover", "clusterAdmin", "deprecated", "compare", "use_channel_in_image_tag",
		"validateTargetsInApp", "secretParameters", "parameters", "managedResourceNames", "authentication"},
	"targets": {"hash_length", "parameters", "secretParameters", "provider"},
	"ref": {"name", "disable", "delete", "promotion", "upstream", "images", "slos", "secretParameters", "parameters",
		"namespaceSelector"},
	"serverUrl":     {"insecureSkipTLSVerify", "internal", "jumpHost", "clusterAdminAutomationToken", "automationToken"},
	"serviceOwners": {"parentApp", "labels"},
	"resource":      {"blockedVersions", "hotfixVersions"}, "hashLength": {"imagePatternsBlockRules"},
	"subscribe": {"soakDays", "schedule", "publish"}, "environment": {"labels"},
	"field": {"version"},
}

// A mutator changes worlds at random.
type mutator struct{ *rand.Rand }

func (r mutator) pick(of []any) any { return of[r.IntN(len(of))] }

// mutate changes one place of one datafile, and says where.
func (r mutator) mutate(w *saastest.World) string {
	files := slices.DeleteFunc(slices.Sorted(maps.Keys(w.Data)), func(f string) bool {
		return strings.HasPrefix(f, "/integrations/")
	})
	file := files[r.IntN(len(files))]
	if r.IntN(2) == 0 {
		file = fmt.Sprintf("/services/app-%03d/saas.yml", r.IntN(3))
	}
	var at any = w.Data[file]
	set := func(any) {}
	path := file
	for {
		switch v := at.(type) {
		case map[string]any:
			if path != file && r.IntN(12) == 0 || v["$ref"] != nil {
				return path + ": " + r.alter(w, v, set)
			}
			if added := r.add(v); r.IntN(6) == 0 && added != "" {
				return path + ": + " + added
			}
			names := slices.DeleteFunc(slices.Sorted(maps.Keys(v)), func(n string) bool {
				return n == "$schema" || n == "schemas"
			})
			if len(names) == 0 {
				return path + ": nothing"
			}
			name := names[r.IntN(len(names))]
			if r.IntN(15) == 0 {
				delete(v, name)
				return path + "/" + name + ": removed"
			}
			if of := fields[name]; of != nil && r.IntN(3) == 0 {
				v[name] = r.pick(of)
				return fmt.Sprintf("%s/%s: %v", path, name, v[name])
			}
			set, at, path = func(x any) { v[name] = x }, v[name], path+"/"+name
		case []any:
			if len(v) == 0 || r.IntN(4) == 0 {
				return path + ": " + r.alterList(v, set)
			}
			i := r.IntN(len(v))
			set, at, path = func(x any) { v[i] = x }, v[i], fmt.Sprint(path, "/", i)
		default:
			return path + ": " + r.alter(w, v, set)
		}
	}
}

// add adds a field that an entry may have.
func (r mutator) add(v object) string {
	for _, marker := range slices.Sorted(maps.Keys(optional)) {
		if _, has := v[marker]; has {
			name := optional[marker][r.IntN(len(optional[marker]))]
			v[name] = r.pick(fields[name])
			if name == "namespaceSelector" {
				v["provider"] = "dynamic"
				delete(v, "namespace")
			}
			return fmt.Sprintf("%s %v", name, v[name])
		}
	}
	return ""
}

// alter gives a value another value.
func (r mutator) alter(w *saastest.World, v any, set func(any)) string {
	var to any
	switch v := v.(type) {
	case bool:
		to = !v
	case map[string]any:
		to = object{}
		if ref, ok := v["$ref"].(string); ok && w.Data[ref] != nil {
			var same []any
			for _, f := range slices.Sorted(maps.Keys(w.Data)) {
				if w.Data[f]["$schema"] == w.Data[ref]["$schema"] {
					same = append(same, saastest.Ref(f))
				}
			}
			to = r.pick(same)
		}
	case string:
		to = r.pick([]any{v + "x", v + "/", strings.ToUpper(v), "main", ""})
	case float64:
		to = v + 1
	case int:
		to = v + 1
	}
	set(to)
	return fmt.Sprint(to)
}

// alterList drops, repeats, or swaps entries.
func (r mutator) alterList(v []any, set func(any)) string {
	if len(v) == 0 {
		return "empty"
	}
	i, j := r.IntN(len(v)), r.IntN(len(v))
	out := slices.Clone(v)
	switch r.IntN(3) {
	case 0:
		set(slices.Delete(out, i, i+1))
		return fmt.Sprint("without ", i)
	case 1:
		out[i], out[j] = out[j], out[i]
		set(out)
		return fmt.Sprint("swapped ", i, " ", j)
	}
	set(append(out, v[i]))
	return fmt.Sprint("repeated ", i)
}
