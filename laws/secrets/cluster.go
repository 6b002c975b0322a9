package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// A cluster is a stand-in for an API server. It keeps nothing that is sent to it.
type cluster struct {
	tokens  []string          // variables of the tokens that it takes
	objects map[string]object // by path
	refuses map[string]int    // the status of the answer for paths with a text
	value   func(string) string
}

// addCluster adds a cluster to a scene. It takes the tokens of some variables.
func (s *scene) addCluster(host string, tokens ...string) *cluster {
	c := &cluster{tokens: tokens, objects: map[string]object{}, refuses: map[string]int{}}
	s.clusters[host] = c
	s.hosts[host] = func(value func(string) string) http.Handler {
		c.value = value
		return c
	}
	return c
}

// A resource is a type of objects of the stand-in.
type resource struct{ group, plural, kind string }

// resources are all types of objects.
var resources = []resource{
	{"v1", "services", "Service"}, {"v1", "configmaps", "ConfigMap"}, {"v1", "secrets", "Secret"},
	{"v1", "serviceaccounts", "ServiceAccount"}, {"v1", "pods", "Pod"},
	{"apps/v1", "deployments", "Deployment"}, {"apps/v1", "statefulsets", "StatefulSet"},
	{"batch/v1", "cronjobs", "CronJob"}, {"batch/v1", "jobs", "Job"},
	{"tekton.dev/v1", "pipelineruns", "PipelineRun"}, {"tekton.dev/v1", "pipelines", "Pipeline"},
	{"v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
}

// pathOf returns the path of an object.
func pathOf(kind, namespace, name string) string {
	if kind == "Namespace" {
		return "/api/v1/namespaces/" + name
	}
	for _, r := range resources {
		if r.kind != kind {
			continue
		}
		root := "/apis/"
		if r.group == "v1" {
			root = "/api/"
		}
		return root + r.group + "/namespaces/" + namespace + "/" + r.plural + "/" + name
	}
	panic("there is no kind " + kind)
}

// put adds an object. A text VALUE_OF(NAME) in it is the value of a secret of the set.
func (c *cluster) put(kind, namespace, name string, o object) {
	o = copyOf(o).(object)
	meta, _ := o["metadata"].(object)
	if meta == nil {
		meta = object{}
	}
	meta["name"], meta["uid"], meta["resourceVersion"] = name, "uid-"+kind+"-"+name, "7"
	if namespace != "" {
		meta["namespace"] = namespace
	}
	o["metadata"], o["kind"], o["apiVersion"] = meta, kind, "v1"
	for _, r := range resources {
		if r.kind == kind {
			o["apiVersion"] = r.group
		}
	}
	c.objects[pathOf(kind, namespace, name)] = o
}

// ServeHTTP implements [http.Handler].
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	isOurs := func(name string) bool {
		return r.Header.Get("Authorization") == "Bearer "+strings.TrimSpace(c.value(name))
	}
	at := r.URL.Path
	refused := ""
	for _, text := range slices.Sorted(maps.Keys(c.refuses)) {
		if strings.Contains(at, text) {
			refused = text
		}
	}
	switch {
	case !slices.ContainsFunc(c.tokens, isOurs):
		fail(w, http.StatusUnauthorized, "Unauthorized")
	case refused != "":
		fail(w, c.refuses[refused], "Forbidden")
	case r.Method == http.MethodPatch:
		c.try(w, r)
	case r.Method != http.MethodGet:
		fail(w, http.StatusForbidden, "Forbidden")
	default:
		c.get(w, at)
	}
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, reason string) {
	answer(w, status, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
		"message": reason, "code": status})
}

// answer answers with JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // in memory
}

// try answers a write that is not kept with the object that was sent.
func (c *cluster) try(w http.ResponseWriter, r *http.Request) {
	var sent object
	raw, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(raw, &sent) != nil {
		fail(w, http.StatusBadRequest, "BadRequest")
		return
	}
	meta, _ := sent["metadata"].(object)
	if meta == nil {
		meta = object{}
	}
	meta["uid"], meta["resourceVersion"] = "uid-of-a-trial", "8"
	sent["metadata"] = meta
	answer(w, http.StatusOK, sent)
}

// get answers a request that reads.
func (c *cluster) get(w http.ResponseWriter, at string) {
	switch {
	case at == "/api":
		answer(w, http.StatusOK, object{"kind": "APIVersions", "versions": []any{"v1"}})
	case at == "/apis":
		var groups []any
		for _, name := range []string{"apps", "batch", "tekton.dev"} {
			v := object{"groupVersion": name + "/v1", "version": "v1"}
			groups = append(groups, object{"name": name, "versions": []any{v}, "preferredVersion": v})
		}
		answer(w, http.StatusOK, object{"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
	case kindsOf(at) != nil:
		answer(w, http.StatusOK,
			object{"kind": "APIResourceList", "groupVersion": strings.TrimPrefix(strings.TrimPrefix(at, "/apis/"), "/api/"),
				"resources": kindsOf(at)})
	case c.objects[at] != nil:
		answer(w, http.StatusOK, c.filled(c.objects[at]))
	default:
		c.list(w, at)
	}
}

// kindsOf returns the kinds of a version of a group, nil if the path names none.
func kindsOf(at string) []any {
	verbs := []any{"get", "list", "create", "patch", "delete"}
	var out []any
	if at == "/api/v1" {
		out = append(out, object{"name": "namespaces", "singularName": "", "namespaced": false, "kind": "Namespace",
			"verbs": verbs})
	}
	for _, r := range resources {
		if at == "/api/"+r.group || at == "/apis/"+r.group {
			out = append(out, object{"name": r.plural, "singularName": "", "namespaced": true, "kind": r.kind, "verbs": verbs})
		}
	}
	return out
}

// list answers a request for all objects of a type.
func (c *cluster) list(w http.ResponseWriter, at string) {
	last := at[strings.LastIndexByte(at, '/')+1:]
	kind, group := "", "v1"
	for _, r := range resources {
		if r.plural == last {
			kind, group = r.kind, r.group
		}
	}
	if last == "namespaces" {
		kind = "Namespace"
	}
	if kind == "" { // it is the name of an object that is not there
		parts := strings.Split(at, "/")
		answer(w, http.StatusNotFound, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound",
			"code":    http.StatusNotFound,
			"details": object{"name": last, "kind": parts[max(0, len(parts)-2)]}})
		return
	}
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(c.objects)) {
		of := name[:strings.LastIndexByte(name, '/')]
		if of == at || strings.HasSuffix(of, "/"+last) && !strings.Contains(at, "/namespaces/") {
			items = append(items, c.filled(c.objects[name]))
		}
	}
	answer(w, http.StatusOK, object{"kind": kind + "List", "apiVersion": group, "metadata": object{"resourceVersion": "9"},
		"items": items})
}

// filled returns an object with the values of the set.
func (c *cluster) filled(v any) any {
	switch is := v.(type) {
	case object:
		out := object{}
		for k, item := range is {
			out[k] = c.filled(item)
		}
		return out
	case []any:
		out := make([]any, len(is))
		for i, item := range is {
			out[i] = c.filled(item)
		}
		return out
	case string:
		if name, ok := strings.CutPrefix(is, "VALUE_OF "); ok {
			return c.value(name)
		}
	}
	return v
}

// valueOf returns a text for the value of a secret in an object of a cluster.
func valueOf(path, field string) string { return fmt.Sprintf("VALUE_OF %s", variable(path, field)) }
