package planner_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// A fleet is a made-up repository in the shape of a large real one: users with
// roles, roles with access to namespaces, namespaces with nested lists of what
// they need, deployments, and few clusters and accounts.
type fleet struct {
	*rand.Rand
	data object
	// paths of the files of each kind
	users, roles, namespaces, apps, clusters, accounts, saas []string
}

// newFleet makes a repository of n datafiles; the same seed makes the same.
func newFleet(n int, seed uint64) *fleet {
	f := &fleet{Rand: rand.New(rand.NewPCG(seed, 1)), data: object{}}
	for i := range max(3, n/250) {
		f.accounts = append(f.accounts, f.add("/aws/acct-%d/account.yml", i, f.account(i)))
	}
	for i := range max(3, n/250) {
		f.clusters = append(f.clusters, f.add("/openshift/cl-%d/cluster.yml", i, f.cluster(i)))
	}
	for i := range n * 6 / 100 {
		f.apps = append(f.apps, f.add("/services/app-%d/app.yml", i, f.app(i)))
	}
	for i := range n * 30 / 100 {
		f.namespaces = append(f.namespaces, f.add("/services/ns/ns-%d.yml", i, f.namespace(i)))
	}
	for i := range n * 13 / 100 {
		f.saas = append(f.saas, f.add("/services/saas/saas-%d.yml", i, f.deployment(i)))
	}
	for i := range n * 7 / 100 {
		f.roles = append(f.roles, f.add("/teams/roles/role-%d.yml", i, f.role(i)))
	}
	for i := 0; len(f.data) < n; i++ {
		f.users = append(f.users, f.add("/teams/users/user-%d.yml", i, f.user(i)))
	}
	return f
}

func (f *fleet) add(path string, i int, file object) string {
	path = fmt.Sprintf(path, i)
	f.data[path] = file
	return path
}

func (f *fleet) words(n int) string {
	all := strings.Fields("amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh north orchard pier quarry ridge shore tide")
	var out []string
	for range n {
		out = append(out, all[f.IntN(len(all))])
	}
	return strings.Join(out, " ")
}

func (f *fleet) one(paths []string) object { return object{"$ref": paths[f.IntN(len(paths))]} }

func (f *fleet) some(n int, paths []string) list {
	out := list{}
	for range n {
		out = append(out, f.one(paths))
	}
	return out
}

func secret(path string) object { return object{"path": path, "field": "token"} }

func (f *fleet) account(i int) object {
	return object{"$schema": "/aws/account-1.yml", "labels": object{}, "name": fmt.Sprintf("acct-%d", i),
		"uid":         fmt.Sprint(100000000000 + i),
		"description": f.words(6), "consoleUrl": fmt.Sprintf("https://%d.signin.example.com/console", i),
		"automationToken": secret("aws/config"),
		"accountOwners":   list{object{"name": f.words(2), "email": "owner@example.com"}}}
}

func (f *fleet) cluster(i int) object {
	return object{"$schema": "/openshift/cluster-1.yml", "labels": object{}, "name": fmt.Sprintf("cl-%d", i),
		"description": f.words(6),
		"serverUrl":   fmt.Sprintf("https://api.cl-%d.example.com:6443", i),
		"consoleUrl":  fmt.Sprintf("https://console.cl-%d.example.com", i),
		"spec": object{"version": fmt.Sprintf("4.%d.%d", f.IntN(8), f.IntN(40)), "region": "us-east-1",
			"multi_az": true, "account": f.one(f.accounts)},
		"network": object{"vpc": "10.0.0.0/16", "pod": "10.128.0.0/14"}, "automationToken": secret("cluster/token"),
		"machinePools": list{object{"id": "worker", "instance_type": "m5.xlarge", "replicas": 3}}}
}

func (f *fleet) app(i int) object {
	return object{"$schema": "/app-sre/app-1.yml", "labels": object{"service": f.words(1)},
		"name": fmt.Sprintf("app-%d", i), "description": f.words(12),
		"onboardingStatus": "OnBoarded", "sloDocs": list{f.words(3), f.words(3)},
		"serviceOwners": list{object{"name": f.words(2), "email": "x@example.com"}}}
}

func (f *fleet) namespace(i int) object {
	var needs, resources list
	for r := range 3 {
		var items list
		for k := range 2 {
			items = append(items, object{"provider": "rds", "identifier": fmt.Sprintf("db-%d-%d-%d", i, r, k),
				"defaults":             "/terraform/rds-1.yml",
				"output_resource_name": f.words(1), "overrides": object{"instance_class": "db.t3.small",
					"allocated_storage": f.IntN(500)},
				"annotations": object{"owner": f.words(2)}})
		}
		needs = append(needs, object{"provider": "aws", "provisioner": f.one(f.accounts), "resources": items})
	}
	for range 8 {
		resources = append(resources,
			object{"provider": "vault-secret", "path": "secrets/" + strings.ReplaceAll(f.words(3), " ", "/"),
				"version": f.IntN(20), "labels": object{"team": f.words(1)}})
	}
	return object{"$schema": "/openshift/namespace-1.yml", "labels": object{}, "name": fmt.Sprintf("ns-%d", i),
		"description": f.words(10),
		"app":         f.one(f.apps), "cluster": f.one(f.clusters), "externalResources": needs,
		"openshiftResources": resources,
		"managedRoles":       true, "networkPoliciesAllow": list{object{"name": f.words(1)}, object{"name": f.words(1)}},
		"limitRanges": object{"default": object{"cpu": "100m", "memory": "256Mi"},
			"max": object{"cpu": "1", "memory": "1Gi"}}}
}

func (f *fleet) deployment(i int) object {
	var templates list
	for t := range 3 {
		var targets list
		for range 4 {
			targets = append(targets, object{"namespace": f.one(f.namespaces), "ref": fmt.Sprintf("%040x", f.Uint64()),
				"parameters": object{"REPLICAS": f.IntN(9), "LOG_LEVEL": "info", "IMAGE_TAG": f.words(1), "MEMORY_LIMIT": "512Mi",
					"REGION": f.words(1)},
				"promotion": object{"auto": true, "subscribe": list{f.words(2)}}})
		}
		templates = append(templates, object{"name": fmt.Sprintf("t-%d-%d", i, t), "path": "/openshift/template.yml",
			"url": "https://git.example.com/" + f.words(1), "targets": targets, "parameters": object{"A": f.words(2)}})
	}
	return object{"$schema": "/app-sre/saas-file-2.yml", "labels": object{}, "name": fmt.Sprintf("saas-%d", i),
		"description": f.words(8),
		"app":         f.one(f.apps), "resourceTemplates": templates, "managedResourceTypes": list{"Deployment", "Service",
			"ConfigMap"}}
}

func (f *fleet) role(i int) object {
	var access list
	for range 4 {
		access = append(access, object{"namespace": f.one(f.namespaces), "role": "view"})
	}
	return object{"$schema": "/access/role-1.yml", "labels": object{}, "name": fmt.Sprintf("role-%d", i),
		"description": f.words(6),
		"access":      access, "aws_groups": list{object{"account": f.one(f.accounts), "policy": f.words(1)}},
		"permissions": list{object{"service": "github-org-team", "team": f.words(1)}}}
}

func (f *fleet) user(i int) object {
	return object{"$schema": "/access/user-1.yml", "labels": object{"platform": f.words(1)},
		"name": fmt.Sprintf("User %d", i), "org_username": fmt.Sprintf("user%d", i),
		"github_username": fmt.Sprintf("gh-user%d", i), "email": fmt.Sprintf("user%d@example.com", i),
		"public_gpg_key": fmt.Sprintf("%0160x", f.Uint64()),
		"roles":          f.some(1+f.IntN(6), f.roles)}
}

// text is the bundle with these datafiles, as a bundler writes it.
func (f *fleet) text(types any) []byte {
	data := object{}
	for path, file := range f.data {
		raw, err := json.Marshal(file)
		if err != nil {
			panic(err)
		}
		whole := object{"$file_sha256sum": fmt.Sprintf("%x", sha256.Sum256(raw))}
		for k, v := range file.(object) {
			whole[k] = v
		}
		data[path] = whole
	}
	raw, err := json.Marshal(object{"data": data, "resources": object{}, "schemas": object{}, "graphql": types,
		"git_commit": "0000", "git_commit_timestamp": "1700000000"})
	if err != nil {
		panic(err)
	}
	return append(raw, '\n')
}

// change makes ten files differ, each in another way.
func (f *fleet) change() {
	at := func(paths []string, i int) object { return f.data[paths[i%len(paths)]].(object) }
	user := at(f.users, 11)
	user["roles"] = append(user["roles"].(list), f.one(f.roles))
	at(f.users, 222)["email"] = "new@example.com"
	at(f.users, 333)["github_username"] = "new"
	delete(f.data, f.users[444%len(f.users)])
	f.add("/teams/users/new-%d.yml", 1, f.user(1000000))
	at(f.roles, 55)["description"] = "new"
	need := at(f.namespaces, 66)["externalResources"].(list)[0].(object)
	need["resources"].(list)[0].(object)["overrides"].(object)["allocated_storage"] = 1000
	target := at(f.saas, 77)["resourceTemplates"].(list)[0].(object)["targets"].(list)[0].(object)
	target["ref"] = "new"
	at(f.clusters, 8)["spec"].(object)["version"] = "4.99.0"
	at(f.apps, 9)["description"] = "new"
}

// fleetTypes are the GraphQL types of a fleet.
func fleetTypes() object {
	many := func(name, of string) object { return field(name, of, object{"isList": true}) }
	back := func(name, of, schema, attribute string) object {
		return field(name, of, object{"isList": true, "synthetic": object{"schema": schema, "subAttr": attribute}})
	}
	text := func(names ...string) (out []object) {
		for _, n := range names {
			out = append(out, field(n, "string", nil))
		}
		return out
	}
	root := func(name, of, schema string) object {
		return field(name, of, object{"isList": true, "datafileSchema": schema})
	}
	return object{"$schema": "/app-interface/graphql-schemas-1.yml", "confs": []object{
		kind("Integration_v1", "/app-sre/integration-1.yml", text("path", "name", "description")...),
		kind("Account_v1", "/aws/account-1.yml", text("path", "name", "uid", "consoleUrl", "description")...),
		kind("Spec_v1", "", append(text("version", "region"), field("account", "Account_v1", nil))...),
		kind("Cluster_v1", "/openshift/cluster-1.yml", append(text("path", "name", "serverUrl", "description"),
			field("spec", "Spec_v1", nil),
			back("namespaces", "Namespace_v1", "/openshift/namespace-1.yml", "cluster"))...),
		kind("App_v1", "/app-sre/app-1.yml", append(text("path", "name", "description", "onboardingStatus"),
			back("namespaces", "Namespace_v1", "/openshift/namespace-1.yml", "app"),
			back("saasFiles", "SaasFile_v1", "/app-sre/saas-file-2.yml", "app"))...),
		kind("Need_v1", "", append(text("provider"), field("provisioner", "Account_v1", nil),
			many("resources", "NeedItem_v1"))...),
		kind("NeedItem_v1", "", append(text("provider", "identifier", "defaults", "output_resource_name"),
			field("overrides", "json", nil))...),
		kind("Resource_v1", "", append(text("provider", "path"), field("version", "int", nil))...),
		kind("Namespace_v1", "/openshift/namespace-1.yml",
			append(text("path", "name", "description"), field("app", "App_v1", nil),
				field("cluster", "Cluster_v1", nil), many("externalResources", "Need_v1"),
				many("openshiftResources", "Resource_v1"))...),
		kind("Target_v1", "", append(text("ref"), field("namespace", "Namespace_v1", nil),
			field("parameters", "json", nil))...),
		kind("Template_v1", "", append(text("name", "url", "path"), many("targets", "Target_v1"))...),
		kind("SaasFile_v1", "/app-sre/saas-file-2.yml", append(text("path", "name"), field("app", "App_v1", nil),
			many("resourceTemplates", "Template_v1"))...),
		kind("Access_v1", "", append(text("role"), field("namespace", "Namespace_v1", nil))...),
		kind("Group_v1", "", append(text("policy"), field("account", "Account_v1", nil))...),
		kind("Role_v1", "/access/role-1.yml", append(text("path", "name", "description"), many("access", "Access_v1"),
			many("aws_groups", "Group_v1"),
			back("users", "User_v1", "/access/user-1.yml", "roles"))...),
		kind("User_v1", "/access/user-1.yml", append(text("path", "name", "org_username", "github_username", "email"),
			many("roles", "Role_v1"))...),
		kind("Query", "", root("users", "User_v1", "/access/user-1.yml"), root("roles", "Role_v1", "/access/role-1.yml"),
			root("namespaces", "Namespace_v1", "/openshift/namespace-1.yml"), root("apps", "App_v1", "/app-sre/app-1.yml"),
			root("clusters", "Cluster_v1", "/openshift/cluster-1.yml"), root("accounts", "Account_v1", "/aws/account-1.yml"),
			root("saas_files", "SaasFile_v1", "/app-sre/saas-file-2.yml")),
	}}
}
