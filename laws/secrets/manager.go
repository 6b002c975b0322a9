package main

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/app-sre/prcheck/natives"
)

// Files of the example of the manager.
const (
	terraformFile   = "/integrations/terraform-resources.yml"
	managerFile     = "/integrations/integrations-manager.yml"
	environmentFile = "/environments/production.yml"
	placeFile       = "/namespaces/reconcile-prod.yml"
)

// githubHost is where refs become commits.
const githubHost = "api.github.com"

var managerKind = kind{
	name: "integrations-manager", most: 7, start: startManager, finish: finishManager,
	services: func(*scene, *wire) natives.Services { return natives.Services{} },
	edits:    managerEdits,
}

// finishManager gives the clusters their tokens. The address of a cluster stands beside its token.
func finishManager(s *scene) {
	ownClusters(s)
	for name, host := range map[string]string{"one": oneHost, "two": twoHost} {
		if _, isGiven := s.servers[variable("clusters/"+name, "server")]; !isGiven {
			s.servers[variable("clusters/"+name, "server")] = "https://" + host
		}
	}
}

// startManager returns the scene of the example of integrations, with two clusters.
func startManager(ctx context.Context) (func() *scene, error) {
	w, err := example(ctx, "integrations")
	if err != nil {
		return nil, err
	}
	for path := range w.Data {
		if strings.HasPrefix(path, "/clusters/") {
			delete(w.Data, path)
		}
	}
	for name, host := range map[string]string{"one": oneHost, "two": twoHost} {
		f := clusterFile(name, host)
		delete(f, "clusterAdminAutomationToken")
		delete(f, "path")
		w.Data["/clusters/"+name+".yml"] = f
	}
	w.Data[placeFile]["cluster"] = ref("/clusters/one.yml")
	second := copyOf(w.Data[placeFile]).(object)
	second["name"], second["cluster"] = "reconcile-two", ref("/clusters/two.yml")
	w.Data["/namespaces/two.yml"] = second
	again := copyOf(w.Data[terraformFile]).(object)
	again["name"] = "aws-users"
	w.at("/namespaces/two.yml")
	again["managed"] = []any{object{"namespace": ref("/namespaces/two.yml"),
		"spec": copyOf(w.at(terraformFile, "managed", 0, "spec"))}}
	w.Data["/integrations/aws-users.yml"] = again
	return func() *scene {
		s := newScene("integrations-manager", w)
		s.own = object{"options": object{"terraform-resources": []any{"--account-name"}},
			"canary": object{"terraform-resources": []any{"staging"}}}
		s.addClusters()
		s.give(githubHost, variable("github", "token"))
		s.hosts[githubHost] = github
		for _, host := range []string{oneHost, twoHost} {
			for _, name := range []string{"reconcile-prod", "reconcile-two"} {
				s.clusters[host].put("Namespace", "", name, object{})
			}
		}
		return s
	}, nil
}

// github returns a stand-in that has one commit for each ref but "gone".
func github(value func(string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); strings.HasSuffix(r.URL.Path, "/gone") ||
			got != "" && got != "Bearer "+value(variable("github", "token")) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte("0123456789abcdef0123456789abcdef01234567")) // in memory
	})
}

// managed returns the first entry of a definition of head.
func managed(s *scene, file string) object {
	if of := s.head.at(file, "managed", 0); of != nil {
		return of
	}
	return object{}
}

// managerEdits are the ways in which merge requests of the manager differ.
var managerEdits = append([]edit{
	{"it is a loop after the merge", func(s *scene, _ *rand.Rand) { s.isLoop = true }},
	{"other arguments", func(s *scene, r *rand.Rand) {
		s.head.at(terraformFile, "managed", 0, "spec")["extraArgs"] = "--thread-pool-size " + word(r)
	}},
	{"more memory", func(s *scene, r *rand.Rand) {
		s.head.at(terraformFile, "managed", 0, "spec", "resources", "limits")["memory"] = pick(r, "700Mi", "1Gi", "much")
	}},
	{"another tag", func(s *scene, r *rand.Rand) {
		s.head.at(environmentFile, "parameters")["IMAGE_TAG"] = letters(r, alphabets[3], 7)
	}},
	{"another image", func(s *scene, _ *rand.Rand) {
		s.head.at(environmentFile, "parameters")["IMAGE"] = evilHost + "/x/y"
	}},
	{"a variable of a secret of the cluster", func(s *scene, r *rand.Rand) {
		s.head.at(terraformFile, "managed", 0, "spec")["extraEnv"] = []any{object{"name": "KEY", "secretName": word(r),
			"secretKey": "key"}}
	}},
	{"a variable with the name of a secret", func(s *scene, r *rand.Rand) {
		s.own["pass_env"] = []any{pick(r, variable("clusters/one", "token"), variable("team/db", "password"),
			"SLACK_CHANNEL")}
	}},
	{"a parameter with the name of a secret", func(s *scene, _ *rand.Rand) {
		s.head.at(environmentFile, "parameters")[variable("clusters/one",
			"token")] = "${" + variable("clusters/one", "token") + "}"
	}},
	{"a commit of a branch", func(s *scene, r *rand.Rand) {
		s.own["image_tag_from_ref"] = object{"production": pick(r, "main", "gone")}
		s.own["github"] = object{"url": "https://" + githubHost, "token": secret("github", "token")}
	}},
	{"a commit of a branch without a token", func(s *scene, _ *rand.Rand) {
		s.own["image_tag_from_ref"] = object{"production": "main"}
		s.own["github"] = object{"url": "https://" + githubHost}
	}},
	{"a ref in the parameters", func(s *scene, r *rand.Rand) {
		s.own["github"] = object{"url": "https://" + githubHost, "token": secret("github", "token")}
		s.head.at(environmentFile, "parameters")["INTEGRATION_UPSTREAM_REPOS"] = []any{
			object{"repo": "https://github.com/app-sre/qontract-reconcile", "ref": pick(r, "main", "gone", "../x")}}
	}},
	{"another upstream", func(s *scene, _ *rand.Rand) {
		s.head.Data[terraformFile]["upstream"] = "https://" + evilHost + "/a/b"
	}},
	{"an entry is deleted", func(s *scene, r *rand.Rand) {
		managed(s, pick(r, terraformFile, "/integrations/aws-users.yml"))["delete"] = true
	}},
	{"an integration is removed", drop("/integrations/aws-users.yml")},
	{"an entry moves", func(s *scene, _ *rand.Rand) {
		managed(s, terraformFile)["namespace"] = ref("/namespaces/two.yml")
	}},
	{"a new account", func(s *scene, _ *rand.Rand) {
		f := copyOf(s.head.Data["/accounts/staging.yml"]).(object)
		f["name"] = "another"
		s.head.Data["/accounts/another.yml"] = f
	}},
	{"a wrong name of a namespace", func(s *scene, _ *rand.Rand) { s.head.Data[placeFile]["name"] = "No_Name" }},
	{"objects are there", func(s *scene, r *rand.Rand) {
		for _, name := range []string{"qontract-reconcile-terraform-resources-staging",
			"qontract-reconcile-terraform-resources-production", "qontract-reconcile-aws-users", "qontract-reconcile-gone"} {
			kind := pick(r, "StatefulSet", "Deployment", "Service")
			meta := mark(pick(r, "integrations-manager", "other"))
			s.clusters[oneHost].put(kind, "reconcile-prod", name,
				object{"metadata": meta, "spec": object{"replicas": 1, "selector": object{"matchLabels": object{"app": name}}}})
		}
	}},
	{"an object has a value of a secret", func(s *scene, _ *rand.Rand) {
		s.clusters[oneHost].put("StatefulSet", "reconcile-prod", "qontract-reconcile-aws-users",
			object{"metadata": mark("integrations-manager"),
				"spec": object{"template": object{"spec": object{"containers": []any{object{"name": "x",
					"env": []any{object{"name": "KEY", "value": valueOf("clusters/one", "token")}}}}}}}})
	}},
	{"a token is for another server", func(s *scene, r *rand.Rand) {
		s.servers[variable("clusters/one", "server")] = pick(r, "https://"+newHost, "no address",
			"https://user:pass@"+oneHost)
	}},
}, clusterEdits...)
