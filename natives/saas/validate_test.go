package saas

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/saas/saastest"
)

const at = saastest.File + "/resourceTemplates/0/targets/1"

// Each mistake is told at its place, once, and alone.
func TestValidate(t *testing.T) {
	production := func(w *saastest.World) object { return w.Target(saastest.File, 0, 1) }
	promotion := func(w *saastest.World) object { return production(w)["promotion"].(object) }
	for name, c := range map[string]struct {
		change func(w *saastest.World)
		want   []string // what the lines begin with
	}{
		"auto with a branch": {func(w *saastest.World) {
			production(w)["ref"] = "main"
		}, []string{"error SAAS_REF " + at + "/ref: auto promotion needs the full sha"}},
		"upstream with a commit": {func(w *saastest.World) {
			production(w)["upstream"] = object{"instance": saastest.Ref(saastest.Jenkins), "name": "job"}
		}, []string{"error SAAS_REF " + at + "/ref: a target with upstream needs a branch"}},
		"promotion_data of another channel": {func(w *saastest.World) {
			promotion(w)["promotion_data"] = []any{object{"channel": "x"}}
		},
			[]string{"error SAAS_CHANNEL " + at +
				"/promotion/promotion_data/0: the target does not subscribe to the channel x"}},
		"a channel that nobody publishes": {func(w *saastest.World) { promotion(w)["subscribe"] = []any{"shop-stage", "x"} },
			[]string{"error SAAS_CHANNEL " + at + "/promotion/subscribe/1: no target publishes the channel x"}},
		"a publisher that must go, of another repository": {func(w *saastest.World) {
			other := w.Clone().Data[saastest.File]["resourceTemplates"].([]any)[0].(object)
			other["name"], other["url"], other["targets"] = "other", "https://github.com/acme/other",
				other["targets"].([]any)[:1]
			other["targets"].([]any)[0].(object)["delete"] = true
			w.Set(saastest.App, []any{w.Data[saastest.App]["codeComponents"].([]any)[0],
				object{"name": "o", "resource": "upstream", "url": "https://github.com/acme/other"}}, "codeComponents")
			w.Set(saastest.File, append(w.Data[saastest.File]["resourceTemplates"].([]any), other), "resourceTemplates")
		},
			[]string{"error SAAS_CHANNEL " + at +
				"/promotion/subscribe/0: the channel shop-stage is published for another repository: https://github.com/acme/other by shop/other"}},
		"a publisher that must go": {func(w *saastest.World) { w.Target(saastest.File, 0, 0)["delete"] = true },
			[]string{"error SAAS_CHANNEL " + at + "/promotion/subscribe/0: no target publishes the channel shop-stage"}},
		"one namespace in two environments": {func(w *saastest.World) {
			w.Set(saastest.Production, "shop-stage", "name")
			production(w)["name"] = "production"
		},
			[]string{"error SAAS_NAMESPACE " + saastest.File + "/resourceTemplates/0/targets/0/namespace: " + saastest.Stage +
				" and " + saastest.Production + " are both the namespace c-1/shop-stage",
				"error SAAS_NAMESPACE " + at + "/namespace: "}},
		"one namespace in two clusters of one name": {func(w *saastest.World) {
			w.Data["/clusters/other.yml"] = w.Clone().Data[saastest.Cluster]
			w.Set(saastest.Production, saastest.Ref("/clusters/other.yml"), "cluster")
			w.Set(saastest.Production, "shop-stage", "name")
			w.Set(saastest.Production, saastest.Ref(saastest.StageEnv), "environment")
			production(w)["name"] = "production"
		}, []string{"error SAAS_NAMESPACE " + saastest.File + "/resourceTemplates/0/targets/0/namespace: ",
			"error SAAS_NAMESPACE " + at + "/namespace: "}},
		"IMAGE_TAG": {func(w *saastest.World) { production(w)["parameters"] = object{"IMAGE_TAG": saastest.Sha[:7]} },
			[]string{"error SAAS_PARAMETERS " + at + "/parameters/IMAGE_TAG: IMAGE_TAG 0123456 is the beginning of the ref"}},
		"IMAGE_TAG as a number": {func(w *saastest.World) {
			production(w)["parameters"] = object{"IMAGE_TAG": 123}
			production(w)["ref"] = "123" + saastest.Sha[3:]
		}, []string{"error SAAS_PARAMETERS " + at + "/parameters/IMAGE_TAG"}},
		"a parameter that names itself": {func(w *saastest.World) { production(w)["parameters"] = object{"A": "x ${A}"} },
			[]string{"error SAAS_PARAMETERS " + at + "/parameters: the parameter A refers to itself"}},
		"a parameter that names itself, and no parameters of the environment": {func(w *saastest.World) {
			production(w)["parameters"] = object{"A": "x ${A}"}
			w.Set(saastest.ProductionEnv, nil, "parameters")
		}, []string{"warning SAAS_PARAMETERS " + at + "/parameters: the parameter A refers to itself"}},
		"a value of the environment": {func(w *saastest.World) {
			w.Data[saastest.ProductionEnv]["parameters"] = object{"DOMAIN": "a.example.com"}
			production(w)["parameters"] = object{"HOST": "shop.a.example.com"}
		},
			[]string{"error SAAS_PARAMETERS " + at +
				"/parameters: the parameter HOST repeats a value of the environment production; use ${DOMAIN}"}},
		"a secret": {func(w *saastest.World) {
			production(w)["secretParameters"] = []any{object{"name": "S", "secret": object{"path": "app/other", "field": "f"}}}
		},
			[]string{"error SAAS_SECRET " + at + "/secretParameters/0/secret/path: allowedSecretParameterPaths of " +
				saastest.File + " does not allow the path app/other"}},
		"a secret of the environment": {func(w *saastest.World) {
			w.Data[saastest.ProductionEnv]["secretParameters"] = []any{object{"name": "S",
				"secret": object{"path": "app/other", "field": "f"}}}
		},
			[]string{"error SAAS_SECRET " + at +
				"/namespace: allowedSecretParameterPaths does not allow the path app/other of the environment production"}},
		"a secret of the file": {func(w *saastest.World) {
			w.Set(saastest.File, []any{object{"name": "S", "secret": object{"path": "x", "field": "f"}}}, "secretParameters")
		}, []string{"error SAAS_SECRET " + saastest.File + "/secretParameters/0/secret/path"}},
		"a secret of the template": {func(w *saastest.World) {
			w.Set(saastest.File, []any{object{"name": "S", "secret": object{"path": "x", "field": "f"}}}, "resourceTemplates", 0,
				"secretParameters")
		}, []string{"error SAAS_SECRET " + saastest.File + "/resourceTemplates/0/secretParameters/0/secret/path"}},
		"a target out of the app": {func(w *saastest.World) {
			w.Data["/apps/other.yml"] = object{"$schema": "/app-sre/app-1.yml", "name": "other"}
			w.Set(saastest.Production, saastest.Ref("/apps/other.yml"), "app")
			w.Set(saastest.File, true, "validateTargetsInApp")
		}, []string{"error SAAS_APP " + at + "/namespace: the namespace belongs to the app other"}},
		"a target in the parent of the app": {func(w *saastest.World) {
			w.Data["/apps/other.yml"] = object{"$schema": "/app-sre/app-1.yml", "name": "other"}
			w.Set(saastest.Production, saastest.Ref("/apps/other.yml"), "app")
			w.Set(saastest.App, saastest.Ref("/apps/other.yml"), "parentApp")
			w.Set(saastest.File, true, "validateTargetsInApp")
		}, nil},
		"an app without owners": {func(w *saastest.World) { w.Set(saastest.App, nil, "serviceOwners") }, nil},
		"an app without roles": {func(w *saastest.World) { w.Set(saastest.Role, []any{}, "self_service", 0, "datafiles") },
			[]string{"error SAAS_APP " + saastest.File + "/app: the app shop has no self-service roles; add " + saastest.App +
				" to the self_service of a role"}},
		"an app without owners, and no types for roles": {func(w *saastest.World) {
			w.Drop = []string{"App_v1.selfServiceRoles"}
			w.Set(saastest.App, nil, "serviceOwners")
		}, []string{"error SAAS_APP " + saastest.File + "/app: the app shop has no serviceOwners"}},
		"a channel that is published twice": {func(w *saastest.World) { promotion(w)["publish"] = []any{"b", "a", "b"} },
			[]string{"error SAAS_CHANNEL " + at + "/promotion/publish/2: the target publishes the channel b twice"}},
		"an unknown organization of a registry": {func(w *saastest.World) {
			w.Set(saastest.File, []any{"quay.io/acme/", "quay.io/other/shop/", "registry.example.com/other/"}, "imagePatterns")
		},
			[]string{"error SAAS_IMAGES " + saastest.File +
				"/imagePatterns/1: no datafile names the organization \"other\" of the registry quay.io"}},
		"no types for organizations of registries": {func(w *saastest.World) {
			w.Set(saastest.File, []any{"quay.io/other/"}, "imagePatterns")
			w.Drop = []string{"Query.quay_orgs_v1"}
		}, nil},
		"an unknown repository": {func(w *saastest.World) {
			w.Set(saastest.App, nil, "codeComponents")
		}, []string{"error SAAS_APP " + saastest.File + "/resourceTemplates/0/url: no app has the repository"}},
		"an unknown organization": {func(w *saastest.World) {
			w.Data["/dependencies/acme.yml"]["url"] = "https://github.com/other"
		},
			[]string{"warning SAAS_APP " + saastest.File +
				"/resourceTemplates/0/url: no datafile names the GitHub organization"}},
		"no types for organizations": {func(w *saastest.World) {
			w.Drop = []string{"Query.githuborg_v1"}
		}, nil},
		"a repository at GitLab": {func(w *saastest.World) {
			w.Set(saastest.File, "https://gitlab.example.com/a/b", "resourceTemplates", 0, "url")
			w.Set(saastest.App, "https://gitlab.example.com/a/b", "codeComponents", 0, "url")
		}, nil},
		"an upper-case name": {func(w *saastest.World) {
			w.Set(saastest.File, "Shop", "name")
		},
			[]string{"error SAAS_NAME " + saastest.File +
				"/name: no cluster accepts the pipeline name o-openshift-saas-deploy-Shop: it has upper-case letters"}},
		"a long name": {func(w *saastest.World) { w.Set(saastest.File, strings.Repeat("a", 39), "name") },
			[]string{"error SAAS_NAME " + saastest.File + "/name: Pipeline name o-openshift-saas-deploy-aaa"}},
		"a short timeout": {func(w *saastest.World) {
			w.Set(saastest.File, "59m", "timeout")
		}, []string{"error SAAS_TIMEOUT " + saastest.File + "/timeout: the timeout 59m is below one hour"}},
		"a timeout of an hour": {func(w *saastest.World) { w.Set(saastest.File, "60m", "timeout") }, nil},
		"no timeout": {func(w *saastest.World) {
			w.Set(saastest.File, "soon", "timeout")
		}, []string{"error SAAS_TIMEOUT " + saastest.File + `/timeout: "soon" is no time`}},
		"a pattern without an end": {func(w *saastest.World) {
			w.Set(saastest.File, []any{"quay.io/acme/", "quay.io/acme"}, "imagePatterns")
		}, []string{"warning SAAS_IMAGES " + saastest.File + "/imagePatterns/1: the pattern quay.io/acme allows"}},
		"messages to Slack": {func(w *saastest.World) {
			w.Data["/slack.yml"] = object{"$schema": "/dependencies/slack-workspace-1.yml", "name": "s"}
			w.Set(saastest.File, object{"workspace": saastest.Ref("/slack.yml"), "channel": "c"}, "slack")
		}, []string{"note SAAS_UNUSED " + saastest.File + "/slack: messages to Slack are not sent"}},
		"negative soakDays": {func(w *saastest.World) {
			promotion(w)["soakDays"] = -1
		}, []string{"error SAAS_SCHEDULE " + at + "/promotion/soakDays"}},
		"no schedule": {func(w *saastest.World) {
			promotion(w)["schedule"] = "* * * * * ? 2099"
		}, []string{"error SAAS_SCHEDULE " + at + "/promotion/schedule"}},
		"a colon in a name": {func(w *saastest.World) {
			production(w)["name"] = "a:b"
		}, []string{"error SAAS_NAME " + at + "/name"}},
		"a target in a file of its own": {func(w *saastest.World) {
			of := w.Clone().Target(saastest.File, 0, 1)
			of["$schema"], of["ref"] = "/app-sre/saas-file-target-1.yml", "main"
			first := w.Clone().Target(saastest.File, 0, 0)
			first["$schema"] = "/app-sre/saas-file-target-1.yml"
			w.Data["/targets/stage.yml"], w.Data["/targets/production.yml"] = first, of
			w.Set(saastest.File, []any{saastest.Ref("/targets/stage.yml"), saastest.Ref("/targets/production.yml")},
				"resourceTemplates", 0, "targets")
		}, []string{"error SAAS_REF /targets/production.yml/ref: auto promotion needs the full sha"}},
		"a mistake of a selector is told once": {func(w *saastest.World) {
			of := production(w)
			w.Target(saastest.File, 0, 0)["name"] = "first"
			delete(of, "namespace")
			of["ref"], of["provider"], of["namespaceSelector"] = "main", "dynamic",
				object{"jsonPathSelectors": object{"include": []any{"namespace[*]"}}}
		}, []string{"error SAAS_REF " + at + "/ref: auto promotion needs the full sha"}},
		"a disabled target of a combo that is equal after the cut": {func(w *saastest.World) {
			long := strings.Repeat("e", 60)
			w.Data[saastest.StageEnv]["name"], w.Data[saastest.ProductionEnv]["name"] = long+"1", long+"2"
			production(w)["disable"] = true
		}, []string{"error SAAS_NAME " + at + ": the cells shop/eee"}},
		"combos that are equal after the cut": {func(w *saastest.World) {
			long := strings.Repeat("e", 60)
			w.Data[saastest.StageEnv]["name"], w.Data[saastest.ProductionEnv]["name"] = long+"1", long+"2"
		}, []string{"error SAAS_NAME " + strings.TrimSuffix(at, "1") + "0: the cells shop/eee",
			"error SAAS_NAME " + at + ": the cells shop/eee"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := saastest.New()
			c.change(w)
			m := read(t, w)
			got := lines(Validate(m))
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if again := lines(Validate(m)); !slices.Equal(got, again) {
				t.Errorf("validating twice gives %q and %q", got, again)
			}
		})
	}
}

// withJobs makes stage wait for a job, and defines jobs of its build server.
func withJobs(w *saastest.World, job string) {
	w.Target(saastest.File, 0, 0)["upstream"] = object{"instance": saastest.Ref(saastest.Jenkins), "name": job}
	w.Resources = map[string]string{"/jobs/build.yml": "- job-template:\n    name: '{name}-build-{branch}'\n    properties: [{github: {url: 'https://github.com/acme/{name}'}}]\n    scm: [{git: {branches: ['{branch}']}}]\n"}
	of := func(name, kind string) object {
		return object{"$schema": "/dependencies/jenkins-config-1.yml", "name": name, "app": saastest.Ref(saastest.App),
			"instance": saastest.Ref(saastest.Jenkins), "type": kind}
	}
	templates, jobs := of("templates", "job-templates"), of("jobs", "jobs")
	templates["config_path"] = "/jobs/build.yml"
	jobs["config"] = []any{object{"project": object{"name": "shop", "branch": []any{"main", "dev"},
		"jobs": []any{"{name}-build-{branch}"}}},
		object{"job": object{"name": "macro", "scm": []any{"macro"}}}}
	w.Data["/jobs/templates.yml"], w.Data["/jobs/jobs.yml"] = templates, jobs
}

// The job that a target waits for must be there, and build what the target deploys.
func TestValidateUpstream(t *testing.T) {
	const upstream = saastest.File + "/resourceTemplates/0/targets/0/upstream"
	for name, c := range map[string]struct {
		job    string
		change func(w *saastest.World)
		want   []string
	}{
		"the right job": {"shop-build-main", nil, nil},
		"no job": {"shop-build", nil,
			[]string{"error SAAS_UPSTREAM " + upstream +
				`/name: "ci" has no job "shop-build"; jobs that build it are shop-build-main of ci`}},
		"a job of another branch": {"shop-build-dev", nil, []string{"error SAAS_UPSTREAM " + upstream +
			`/name: the job "shop-build-dev" builds https://github.com/acme/shop at dev, and the target deploys https://github.com/acme/shop at main; jobs that build it are shop-build-main of ci`}},
		"a job of another repository": {"shop-build-main", func(w *saastest.World) {
			w.Resources["/jobs/build.yml"] = strings.Replace(w.Resources["/jobs/build.yml"], "acme/{name}", "acme/other", 1)
		},
			[]string{"error SAAS_UPSTREAM " + upstream +
				`/name: the job "shop-build-main" builds https://github.com/acme/other at main, and the target deploys`}},
		"a job that nobody can read": {"macro", nil,
			[]string{"note SAAS_UPSTREAM " + upstream +
				"/name: which repository and branch the job \"macro\" builds is not known"}},
		"definitions that nobody can read": {"shop-build-main", func(w *saastest.World) {
			w.Resources["/jobs/build.yml"] = "- job: {"
		},
			[]string{"note SAAS_UPSTREAM /jobs/jobs.yml: not all jobs of \"ci\" are known",
				"note SAAS_UPSTREAM /jobs/templates.yml: not all jobs of \"ci\" are known"}},
		"a resource that is not there": {"shop-build-main", func(w *saastest.World) { w.Resources = nil },
			[]string{"note SAAS_UPSTREAM /jobs/jobs.yml: not all jobs", "note SAAS_UPSTREAM /jobs/templates.yml: not all jobs"}},
		"a build server without definitions": {"shop-build-main", func(w *saastest.World) {
			w.Data["/other.yml"] = object{"$schema": "/dependencies/jenkins-instance-1.yml", "name": "other",
				"serverUrl": "https://other.example.com", "token": object{"path": "p", "field": "f"}}
			w.Target(saastest.File, 0, 0)["upstream"].(object)["instance"] = saastest.Ref("/other.yml")
		}, []string{"note SAAS_UPSTREAM " + upstream + `/instance: the data define no jobs of "other"`}},
		"no definitions at all": {"shop-build-main", func(w *saastest.World) {
			delete(w.Data, "/jobs/templates.yml")
			delete(w.Data, "/jobs/jobs.yml")
		}, nil},
		"older types": {"shop-build", func(w *saastest.World) { w.Drop = []string{"Query.jenkins_configs_v1"} }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := saastest.New()
			withJobs(w, c.job)
			if c.change != nil {
				c.change(w)
			}
			m := read(t, w)
			if err := m.ReadJobs(t.Context(), w.Query(t)); err != nil {
				t.Fatal(err)
			}
			got := lines(Validate(m))
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// A channel is published by all targets that name it, except those that must go.
func TestPublishers(t *testing.T) {
	w := saastest.Large(3, 6)
	for i, file := range []string{"/services/app-000/saas.yml", "/services/app-001/saas.yml",
		"/services/app-002/saas.yml"} {
		w.Target(file, 0, 0)["promotion"] = object{"publish": []any{"all", "all"}}
		w.Target(file, 0, 0)["delete"] = i == 1
		w.Target(file, 0, 0)["disable"] = i == 2
	}
	var got []string
	for _, p := range read(t, w).Publishers("all") {
		got = append(got, p.Template.Name)
	}
	if want := []string{"app-000-0", "app-002-0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The versions of a repository are those that the app of the saas file names, in all entries of
// the repository. Those of another app do not count.
func TestComponent(t *testing.T) {
	w := saastest.New()
	url := "https://github.com/acme/shop"
	w.Set(saastest.App, []any{object{"name": "a", "resource": "upstream", "url": url, "blockedVersions": []any{"1"}},
		object{"name": "b", "resource": "upstream", "url": url, "blockedVersions": []any{"2"}, "hotfixVersions": []any{"3"}}},
		"codeComponents")
	w.Data["/apps/other.yml"] = object{"$schema": "/app-sre/app-1.yml", "name": "other",
		"codeComponents": []any{object{"name": "a", "resource": "upstream", "url": url, "blockedVersions": []any{"4"}}}}
	m := read(t, w)
	got := m.Component(m.Files[0].Templates[0].Targets[0])
	if !slices.Equal(got.Blocked, []string{"1", "2"}) || !slices.Equal(got.Hotfix, []string{"3"}) {
		t.Errorf("got %+v", got)
	}
}

// A subscriber is held if the publishers of its channel are not all known.
func TestUnknownPublishersHoldSubscribers(t *testing.T) {
	held := func(w *saastest.World) []string {
		var out []string
		m := read(t, w)
		m.eachTarget(func(of *Target) {
			if of.Broken != "" {
				out = append(out, of.Template.Name+" "+of.Env())
			}
		})
		return out
	}
	w := saastest.Large(3, 6)
	w.Set("/services/app-001/saas.yml", object{}, "timeout")
	w.Target("/services/app-001/saas.yml", 0, 0)["promotion"] = object{"publish": []any{"app-002-0-stage"}}
	if got, want := held(w), []string{"app-002-0 production"}; !slices.Equal(got, want) {
		t.Errorf("a file whose channels can be read: got %q, want %q", got, want)
	}
	w.Set("/services/app-001/saas.yml", object{}, "resourceTemplates", 0, "targets", 0, "promotion", "publish")
	if got, want := held(w), []string{"app-000-0 production", "app-002-0 production"}; !slices.Equal(got, want) {
		t.Errorf("a file whose channels cannot be read: got %q, want %q", got, want)
	}
}
