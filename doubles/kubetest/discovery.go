package kubetest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// versionOf returns the apiVersion of the objects of a resource.
func (s *Server) versionOf(plural string) string {
	if v := s.Versions[plural]; v != "" {
		return v
	}
	switch plural {
	case "deployments", "replicasets", "statefulsets":
		return "apps/v1"
	case "cronjobs", "jobs":
		return "batch/v1"
	}
	return "v1"
}

// discover answers what kinds there are, in one list as servers since Kubernetes 1.27 do or,
// with [Server.Old], as those before. It reports whether that was asked.
func (s *Server) discover(w http.ResponseWriter, r *http.Request) bool {
	path := strings.Trim(r.URL.Path, "/")
	groups := map[string]map[string][]string{} // plural names by group and version
	for _, plural := range slices.Sorted(maps.Keys(s.Kinds)) {
		group, version, hasGroup := strings.Cut(s.versionOf(plural), "/")
		if !hasGroup {
			group, version = "", group
		}
		if groups[group] == nil {
			groups[group] = map[string][]string{}
		}
		groups[group][version] = append(groups[group][version], plural)
	}
	isCore := path == "api" || strings.HasPrefix(path, "api/")
	words := strings.Split(path, "/")
	switch {
	case r.Method != http.MethodGet || path != "api" && path != "apis" && !(len(words) == 2 && isCore) &&
		!(len(words) == 3 && words[0] == "apis"):
		return false
	case path != "api" && path != "apis":
		group, version := "", words[len(words)-1]
		if !isCore {
			group = words[1]
		}
		plurals := groups[group][version]
		if plurals == nil {
			http.Error(w, "404 page not found", http.StatusNotFound)
			return true
		}
		_, _ = w.Write(encode(map[string]any{"kind": "APIResourceList", "groupVersion": strings.TrimPrefix(group+"/"+version,
			"/"), "resources": s.resources(plurals, false)}))
	case s.Old && isCore:
		_, _ = w.Write(encode(map[string]any{"kind": "APIVersions", "versions": []any{"v1"}}))
	default:
		s.listGroups(w, groups, isCore)
	}
	return true
}

// listGroups answers with the core group, or with all others.
func (s *Server) listGroups(w http.ResponseWriter, groups map[string]map[string][]string, isCore bool) {
	items, old := []any{}, []any{}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		if (group == "") != isCore {
			continue
		}
		var versions, names []any
		for _, version := range slices.Sorted(maps.Keys(groups[group])) {
			versions = append(versions, map[string]any{"version": version, "freshness": "Current",
				"resources": s.resources(groups[group][version], true)})
			names = append(names, map[string]any{"version": version, "groupVersion": group + "/" + version})
		}
		items = append(items, map[string]any{"metadata": map[string]any{"name": group}, "versions": versions})
		old = append(old, map[string]any{"name": group, "versions": names, "preferredVersion": names[0]})
	}
	if s.Old {
		_, _ = w.Write(encode(map[string]any{"kind": "APIGroupList", "apiVersion": "v1", "groups": old}))
		return
	}
	_, _ = w.Write(encode(map[string]any{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
		"items": items}))
}

// resources describes resources, as a list of all kinds has them or as one of a version.
func (s *Server) resources(plurals []string, isAggregated bool) []any {
	verbs := []any{"create", "delete", "get", "list", "patch", "update"}
	var out []any
	for _, plural := range plurals {
		isNamespaced := plural != "namespaces" && !slices.Contains(s.ClusterScoped, plural)
		one := map[string]any{"name": plural, "kind": s.Kinds[plural], "namespaced": isNamespaced, "verbs": verbs}
		if isAggregated {
			one = map[string]any{"resource": plural, "responseKind": map[string]any{"kind": s.Kinds[plural]}, "verbs": verbs,
				"scope": map[bool]string{true: "Namespaced", false: "Cluster"}[isNamespaced]}
		}
		out = append(out, one)
	}
	return out
}
