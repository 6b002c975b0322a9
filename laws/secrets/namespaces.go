package main

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/natives"
)

// Hosts of clusters: two of base, and one that head names.
const (
	oneHost = "api.one.example.com:6443"
	twoHost = "api.two.example.com:6443"
	newHost = "api.new.example.net:6443"
)

var namespacesKind = kind{
	name: "namespaces", most: 7, start: startNamespaces,
	services: func(*scene, *wire) natives.Services { return natives.Services{} },
	edits:    namespacesEdits, finish: ownClusters,
}

// ownClusters gives the hosts of clusters their tokens: those that base names, and after the merge
// those that head names.
func ownClusters(s *scene) {
	sides := []*world{s.base}
	if s.isLoop {
		sides = s.both()
	}
	for _, w := range sides {
		for _, f := range w.Data {
			address, _ := f["serverUrl"].(string)
			host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
			for _, key := range []string{"automationToken", "clusterAdminAutomationToken", "token"} {
				if of, ok := f[key].(object); ok && host != "" {
					s.give(host, variable(of["path"].(string), of["field"].(string)))
				}
			}
		}
	}
}

// namespaceTypes are the types of the data of namespaces.
const namespaceTypes = `{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": [
  {"name": "VaultSecret_v1", "fields": [{"name": "path", "type": "string", "isRequired": true}, {"name": "field", "type": "string", "isRequired": true}, {"name": "version", "type": "int"}]},
  {"name": "JumpHost_v1", "fields": [{"name": "hostname", "type": "string", "isRequired": true}]},
  {"name": "Disable_v1", "fields": [{"name": "integrations", "type": "string", "isList": true}]},
  {"name": "Cluster_v1", "datafile": "/openshift/cluster-1.yml", "fields": [{"name": "path", "type": "string", "isRequired": true}, {"name": "name", "type": "string", "isRequired": true},
    {"name": "serverUrl", "type": "string", "isRequired": true}, {"name": "insecureSkipTLSVerify", "type": "boolean"}, {"name": "jumpHost", "type": "JumpHost_v1"},
    {"name": "automationToken", "type": "VaultSecret_v1"}, {"name": "clusterAdminAutomationToken", "type": "VaultSecret_v1"}, {"name": "disable", "type": "Disable_v1"}]},
  {"name": "Namespace_v1", "datafile": "/openshift/namespace-1.yml", "fields": [{"name": "path", "type": "string", "isRequired": true}, {"name": "name", "type": "string", "isRequired": true},
    {"name": "delete", "type": "boolean"}, {"name": "managedByExternal", "type": "boolean"}, {"name": "clusterAdmin", "type": "boolean"}, {"name": "labels", "type": "json"},
    {"name": "annotations", "type": "json"}, {"name": "cluster", "type": "Cluster_v1", "isRequired": true}]},
  {"name": "Query", "fields": [{"name": "namespaces_v1", "type": "Namespace_v1", "isList": true, "datafileSchema": "/openshift/namespace-1.yml"}]}]}`

// clusterFile returns the datafile of a cluster.
func clusterFile(name, host string) object {
	return object{"$schema": "/openshift/cluster-1.yml", "path": "/clusters/" + name + ".yml", "name": name,
		"serverUrl":       "https://" + host,
		"automationToken": secret("clusters/"+name, "token"), "clusterAdminAutomationToken": secret("clusters/"+name+"/admin",
			"token")}
}

// namespaceFile returns the datafile of a namespace.
func namespaceFile(cluster, name string) (string, object) {
	path := "/namespaces/" + cluster + "-" + name + ".yml"
	return path, object{"$schema": "/openshift/namespace-1.yml", "path": path, "name": name,
		"cluster": ref("/clusters/" + cluster + ".yml"), "labels": object{"team": name}}
}

// addNamespace adds a namespace to a side.
func addNamespace(w *world, cluster, name string) object {
	path, file := namespaceFile(cluster, name)
	w.Data[path] = file
	return file
}

// startNamespaces returns a scene with two clusters and five namespaces.
func startNamespaces(context.Context) (func() *scene, error) {
	w := &world{Data: map[string]object{}, Resources: map[string]object{}, GraphQL: json.RawMessage(namespaceTypes)}
	w.Data["/integrations/namespaces.yml"] = definition("namespaces", "/openshift/cluster-1.yml",
		"/openshift/namespace-1.yml")
	w.Data["/clusters/one.yml"], w.Data["/clusters/two.yml"] = clusterFile("one", oneHost), clusterFile("two", twoHost)
	for _, name := range []string{"shop", "till", "stock"} {
		addNamespace(w, "one", name)
	}
	addNamespace(w, "two", "shop")
	addNamespace(w, "two", "admin")["clusterAdmin"] = true
	return func() *scene {
		s := newScene("namespaces", w)
		s.addClusters()
		return s
	}, nil
}

// addClusters adds the stand-ins of the clusters of base.
func (s *scene) addClusters() {
	for name, host := range map[string]string{"one": oneHost, "two": twoHost} {
		s.addCluster(host, variable("clusters/"+name, "token"), variable("clusters/"+name+"/admin", "token"))
	}
}

// definition returns the definition of a native.
func definition(name string, schemas ...any) object {
	return object{"$schema": "/app-sre/integration-1.yml", "path": "/integrations/" + name + ".yml", "name": name,
		"description": name, "schemas": schemas, "pr_check": object{"cmd": name}}
}

// anyNamespace returns a namespace of head.
func anyNamespace(s *scene, r *rand.Rand) object {
	path, _ := namespaceFile("one", pick(r, "shop", "till", "stock"))
	if r.IntN(3) == 0 {
		path, _ = namespaceFile("two", pick(r, "shop", "admin"))
	}
	if s.head.Data[path] == nil {
		return object{}
	}
	return s.head.Data[path]
}

// mark returns the annotations of a thing of an integration.
func mark(integration string) object {
	return object{"annotations": object{"qontract.integration": integration, "qontract.caller_name": "default"},
		"labels": object{"team": "other"}}
}

// clusterEdits are the ways in which clusters and their data differ, for all natives of clusters.
// Tokens are at clusters/one and clusters/two.
var clusterEdits = []edit{
	{"another server", func(s *scene, r *rand.Rand) {
		s.head.Data["/clusters/one.yml"]["serverUrl"] = "https://" + pick(r, newHost, twoHost, oneHost+"/other", evilHost)
	}},
	{"another token of a cluster", func(s *scene, r *rand.Rand) {
		s.head.Data["/clusters/one.yml"]["automationToken"] = secret(pick(r, "clusters/two", "team/db", "clusters/one/admin"),
			pick(r, "token", "password", "server"))
	}},
	{"no token", func(s *scene, _ *rand.Rand) { delete(s.head.Data["/clusters/one.yml"], "automationToken") }},
	{"a new cluster", func(s *scene, r *rand.Rand) {
		f := clusterFile("new", newHost)
		f["automationToken"] = secret(pick(r, "clusters/one", "team/db", "clusters/new"), "token")
		s.head.Data["/clusters/new.yml"] = f
	}},
	{"a cluster is disabled", func(s *scene, _ *rand.Rand) {
		s.head.Data["/clusters/two.yml"]["disable"] = object{"integrations": []any{s.native}}
	}},
	{"a cluster has a jump host", func(s *scene, _ *rand.Rand) {
		s.head.Data["/clusters/two.yml"]["jumpHost"] = object{"hostname": "jump"}
	}},
	{"a cluster refuses", func(s *scene, r *rand.Rand) {
		s.clusters[oneHost].refuses[pick(r, "/namespaces", "/deployments", "/services", "/apis",
			"/api/v1")] = http.StatusForbidden
	}},
	{"a cluster is away once", func(s *scene, r *rand.Rand) { s.away[oneHost] = pick(r, "/apis", "/api/v1") }},
	{"a cluster does not know the token", func(s *scene, _ *rand.Rand) { s.clusters[oneHost].tokens = nil }},
	{"the server tries what is written", func(s *scene, _ *rand.Rand) { s.more["server_dry_run"] = true }},
	{"a secret is not there", func(s *scene, _ *rand.Rand) { s.absent = true }},
}

// namespacesEdits are the ways in which merge requests of namespaces differ.
var namespacesEdits = append([]edit{
	{"a label", func(s *scene, r *rand.Rand) { anyNamespace(s, r)["labels"] = object{"team": word(r)} }},
	{"a label that is no text", func(s *scene, r *rand.Rand) { anyNamespace(s, r)["labels"] = object{"team": 1} }},
	{"a wrong name", func(s *scene, r *rand.Rand) { anyNamespace(s, r)["name"] = "No_Name" }},
	{"a new namespace", func(s *scene, r *rand.Rand) { addNamespace(s.head, pick(r, "one", "two"), "new-"+word(r)) }},
	{"a namespace twice", func(s *scene, _ *rand.Rand) {
		addNamespace(s.head, "one", "till")["path"] = "/namespaces/again.yml"
	}},
	{"a namespace is deleted", func(s *scene, r *rand.Rand) { anyNamespace(s, r)["delete"] = true }},
	{"a namespace is removed", func(s *scene, r *rand.Rand) {
		path, _ := namespaceFile("one", pick(r, "shop", "till"))
		delete(s.head.Data, path)
	}},
	{"a namespace of the privileged token", func(s *scene, r *rand.Rand) { anyNamespace(s, r)["clusterAdmin"] = true }},
	{"no privileged token", func(s *scene, _ *rand.Rand) {
		delete(s.head.Data["/clusters/two.yml"], "clusterAdminAutomationToken")
	}},
	{"another privileged token", func(s *scene, r *rand.Rand) {
		s.head.Data["/clusters/two.yml"]["clusterAdminAutomationToken"] = secret(pick(r, "clusters/one", "team/db"), "token")
	}},
	{"namespaces are there", func(s *scene, r *rand.Rand) {
		for _, name := range []string{"shop", "till", "stock", "gone"} {
			meta := mark(pick(r, "namespaces", "namespaces", "other"))
			if r.IntN(4) == 0 {
				meta = object{}
			}
			s.clusters[pick(r, oneHost, twoHost)].put("Namespace", "", name, object{"metadata": meta})
		}
	}},
	{"a namespace is going", func(s *scene, _ *rand.Rand) {
		meta := mark("namespaces")
		meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		s.clusters[oneHost].put("Namespace", "", "shop", object{"metadata": meta})
	}},
	{"a new namespace of a new cluster", func(s *scene, _ *rand.Rand) {
		if s.head.Data["/clusters/new.yml"] == nil {
			s.head.Data["/clusters/new.yml"] = clusterFile("new", newHost)
		}
		addNamespace(s.head, "new", "shop")
	}},
	{"it is a loop after the merge", func(s *scene, _ *rand.Rand) { s.isLoop = true }},
}, clusterEdits...)
