package main

import (
	"context"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/integrations/saas/deploy"
	"github.com/app-sre/prcheck/integrations/saas/pipelines"
	"github.com/app-sre/prcheck/integrations/saas/promotions"
	"github.com/app-sre/prcheck/integrations/saas/saastest"
	"github.com/app-sre/prcheck/runner/systems/builds"
	"github.com/app-sre/prcheck/runner/systems/jsonapi"
	"github.com/app-sre/prcheck/runner/systems/measurements"
	"github.com/app-sre/prcheck/runner/systems/registry"
)

// The hosts of saas files.
const (
	codeHost       = "github.com"
	codeURL        = "https://github.com/acme/shop"
	quayHost       = "quay.io"
	jenkinsHost    = "jenkins.example.com"
	prometheusHost = "prometheus.c-1.example.com"
	clusterHost    = "api.c-1.example.com:6443"
	templatePath   = "openshift/template.yml"
	chartPath      = "chart"
)

// Commits of the repository.
const (
	mainSha    = "fedcba9876543210fedcba9876543210fedcba98"
	featureSha = "1111111111111111111111111111111111111111"
)

var (
	pipelinesKind  = kind{name: "saas-pipelines", most: 8, start: startSaas("saas-pipelines"), finish: finishSaas, services: saasServices, edits: loopEdits}
	promotionsKind = kind{name: "saas-promotions", most: 8, start: startSaas("saas-promotions"), finish: finishSaas, services: saasServices, edits: loopEdits}
)

var deployKind = kind{name: "saas-deploy", most: 8, start: startSaas("saas-deploy"), finish: finishSaas, services: saasServices, edits: deployEdits}

// saasServices returns the real clients of all services but that of git.
func saasServices(s *scene, w *wire) change.Services {
	api := &jsonapi.Client{}
	images, slos := registry.New(registry.Options{}), measurements.New(api)
	code := forge{s, w}
	out := change.Services{
		Deploy:     deploy.Services{Repositories: code, Registry: images},
		Pipelines:  pipelines.Services{Repositories: code, Registry: images, Builds: builds.New(api), Measurements: slos},
		Promotions: promotions.Services{Repositories: code, Measurements: slos},
	}
	if s.charts {
		out.Deploy.Helm = helm
	}
	return out
}

// startSaas returns a scene with one saas file, of two targets.
func startSaas(native string) func(context.Context) (func() *scene, error) {
	return func(context.Context) (func() *scene, error) {
		made := saastest.New()
		made.Set(saastest.File, []any{"Deployment", "Service", "Secret", "ConfigMap"}, "managedResourceTypes")
		if native == "saas-deploy" { // a gate that is closed would hide all else
			for i := range 2 {
				delete(made.Target(saastest.File, 0, i), "promotion")
			}
		}
		raw, err := made.JSON()
		if err != nil {
			return nil, err
		}
		w := &world{}
		if err := json.Unmarshal(raw, w); err != nil {
			return nil, err
		}
		var schemas []any
		seen := map[string]bool{}
		for _, f := range w.Data {
			if name := f["$schema"].(string); !seen[name] {
				seen[name] = true
				schemas = append(schemas, name)
			}
		}
		schemas = append(schemas, "/app-sre/saas-file-target-1.yml", "/app-sre/integration-1.yml")
		w.Data["/integrations/"+native+".yml"] = definition(native, schemas...)
		return func() *scene {
			s := newScene(native, w)
			s.own = object{"hosts": []any{codeHost, quayHost, jenkinsHost, prometheusHost}}
			s.isLoop = native != "saas-deploy"
			if native == "saas-pipelines" {
				s.own["executor"] = "tekton"
			}
			s.code[codeURL] = map[string]commit{
				"main":    {mainSha, map[string]string{templatePath: openshift([]string{"PW"})}},
				"old":     {saastest.Sha, map[string]string{templatePath: openshift(nil)}},
				"feature": {featureSha, map[string]string{templatePath: openshift([]string{"PW"})}},
			}
			s.charts = true
			c := s.addCluster(clusterHost, variable("app/cluster/c-1", "token"))
			for _, name := range []string{"shop-stage", "shop-production"} {
				c.put("Namespace", "", name, object{})
			}
			c.put("Pipeline", "shop-production", "o-openshift-saas-deploy-shop", object{})
			s.give(codeHost, variable("app/code", "token"))
			s.give(quayHost, variable("app/image", "user"), variable("app/image", "token"))
			s.give(jenkinsHost, variable("app/jenkins", "token"))
			s.give(prometheusHost, variable("app/cluster/c-1", "token"))
			s.hosts[quayHost], s.hosts[jenkinsHost], s.hosts[prometheusHost] = quay, constant(jenkinsAnswer), constant(prometheusAnswer)
			return s
		}, nil
	}
}

// finishSaas gives hosts the credentials that head names, after the merge.
func finishSaas(s *scene) {
	ownClusters(s)
	if !s.isLoop {
		return
	}
	if f := s.head.Data[saastest.Jenkins]; f != nil {
		of := f["token"].(object)
		for _, host := range []string{jenkinsHost, jenkinsHost + ":8443", evilHost} {
			s.give(host, variable(of["path"].(string), of["field"].(string)))
		}
	}
	s.give(codeHost+":8443", variable("app/code", "token"))
	of := s.head.Data["/pipelines/authentication.yml"]
	for host, key := range map[string]string{codeHost: "code", codeHost + ":8443": "code", quayHost: "image", quayHost + ":5000": "image"} {
		at, ok := of[key].(object)
		if !ok {
			continue
		}
		for _, field := range []string{at["field"].(string), "user", "token"} {
			s.give(host, variable(at["path"].(string), field))
		}
	}
}

// constant returns a stand-in that answers always the same.
func constant(text string) func(func(string) string) http.Handler {
	return func(func(string) string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(text)) // in memory
		})
	}
}

// The answers of the build server and of the source of measurements.
const (
	jenkinsAnswer    = `{"jobs": [{"name": "shop-build", "builds": [{"number": 7, "result": "SUCCESS", "changeSet": {"items": [{"commitId": "` + mainSha + `"}]}}]}]}`
	prometheusAnswer = `{"status": "success", "data": {"resultType": "scalar", "result": [1, "0.99"]}}`
)

// quay returns a registry that wants its login and has each image of acme/shop.
func quay(value func(string) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Docker-Distribution-Api-Version", "registry/2.0")
		user, password, ok := r.BasicAuth()
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", `Basic realm="quay"`)
			w.WriteHeader(http.StatusUnauthorized)
		case user != value(variable("app/image", "user")) || password != value(variable("app/image", "token")):
			w.WriteHeader(http.StatusForbidden)
		case !strings.HasPrefix(r.URL.Path, "/v2/acme/shop/manifests/"):
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("a", 64))
		}
	})
}

// target returns a target of a side: that of stage, or that of production.
func target(w *world, i int) object {
	if t := w.at(saastest.File, "resourceTemplates", 0, "targets", i); t != nil {
		return t
	}
	return object{}
}

// layer returns one of the places that give parameters to the targets.
func layer(w *world, r *rand.Rand) object {
	return []object{w.Data[saastest.StageEnv], w.Data[saastest.File], w.at(saastest.File, "resourceTemplates", 0), target(w, 0)}[r.IntN(4)]
}

// addSecretParameter gives the targets a secret parameter.
func addSecretParameter(s *scene, r *rand.Rand, name string, of object) {
	sides := []*world{s.head}
	if r.IntN(3) == 0 {
		sides = s.both()
	}
	which := r.Uint64()
	for _, w := range sides {
		at := layer(w, rand.New(rand.NewPCG(which, 1))) //nolint:gosec // tests need no secure numbers
		list, _ := at["secretParameters"].([]any)
		at["secretParameters"] = append(list, object{"name": name, "secret": of})
	}
}

// appSecret returns a secret that the saas file allows.
func appSecret(r *rand.Rand) object {
	return secret("app/shop/"+word(r), pick(r, "password", "key"))
}

// useInTemplate uses a parameter in the templates of head, and of base as well if both is true.
func useInTemplate(s *scene, r *rand.Rand, name string, both bool) {
	var uses []func([]any) []any
	for range 1 + r.IntN(2) {
		p, use := pick(r, parts...), reference(r, name)
		uses = append(uses, func(o []any) []any {
			if len(o) < 3 {
				return o
			}
			return safely(func() []any { return p.put(o, use) }, o)
		})
	}
	text := openshift([]string{"PW", name, "IMAGE_DIGEST", "REGISTRY_IMG"}[:pick(r, 2, 2, 2, 4)], uses...)
	all := s.code[codeURL]
	all["feature"] = commit{featureSha, with(all["feature"].files, templatePath, text)}
	if both {
		all["main"] = commit{mainSha, with(all["main"].files, templatePath, text)}
	}
}

// useChart makes the template a chart with a secret.
func useChart(s *scene, r *rand.Rand, computes bool) {
	all := s.code[codeURL]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := all[name]
		for file, text := range chart(chartPath, r, computes) {
			c.files = with(c.files, file, text)
		}
		all[name] = c
	}
	addSecretParameter(s, r, "PW", appSecret(r))
	for _, w := range s.both()[r.IntN(2):] {
		t := w.at(saastest.File, "resourceTemplates", 0)
		t["provider"], t["path"] = "helm", "/"+chartPath
	}
}

// safely returns what a function returns, or another value if two parts do not fit each other.
func safely(do func() []any, otherwise []any) (out []any) {
	defer func() {
		if recover() != nil {
			out = otherwise
		}
	}()
	return do()
}

// with returns files with another one.
func with(files map[string]string, name, text string) map[string]string {
	out := maps.Clone(files)
	out[name] = text
	return out
}

// secretEdits give targets secrets, and use them.
var secretEdits = []edit{
	{"a secret parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		useInTemplate(s, r, "PW", r.IntN(3) == 0)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a second secret parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		useInTemplate(s, r, "PW", true)
	}},
	{"a secret that has the name of another parameter", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, pick(r, "IMAGE_TAG", "REGISTRY_IMG", "REPLICAS", "LOG_LEVEL", "CHANNEL", "COMMIT_SHA", "image"), appSecret(r))
	}},
	{"a parameter that refers to a secret", func(s *scene, r *rand.Rand) {
		addSecretParameter(s, r, "PW", appSecret(r))
		target(s.head, 0)["parameters"] = object{"REPLICAS": 1, pick(r, "IMAGE_TAG", "LOG_LEVEL", "REGISTRY_IMG"): pick(r, "${PW}", "v-${PW}", "quay.io/${PW}")}
	}},
	{"a digest of the image", func(s *scene, r *rand.Rand) {
		s.head.at(saastest.File, "resourceTemplates", 0)["parameters"] = object{"LOG_LEVEL": "info", "REGISTRY_IMG": "quay.io/acme/shop"}
		useInTemplate(s, r, "IMAGE_DIGEST", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a secret that base does not allow", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["allowedSecretParameterPaths"] = []any{"app"}
		addSecretParameter(s, r, "PW", secret("app/"+pick(r, "code", "image", "cluster/c-1", "other/"+word(r)), "token"))
		useInTemplate(s, r, "PW", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a secret that nobody allows", func(s *scene, r *rand.Rand) { addSecretParameter(s, r, "PW", secret("other/"+word(r), "token")) }},
	{"a credential as a parameter", func(s *scene, r *rand.Rand) {
		for _, w := range s.both() {
			w.Data[saastest.File]["allowedSecretParameterPaths"] = []any{"app"}
		}
		addSecretParameter(s, r, "PW", secret("app/"+pick(r, "code", "image", "cluster/c-1"), "token"))
		useInTemplate(s, r, "PW", false)
		target(s.head, 0)["ref"] = "feature"
	}},
	{"a chart", func(s *scene, r *rand.Rand) { useChart(s, r, r.IntN(3) == 0) }},
	{"a chart that computes", func(s *scene, r *rand.Rand) { useChart(s, r, true) }},
	{"a folder", func(s *scene, r *rand.Rand) {
		all := s.code[codeURL]
		for name, c := range all {
			c.files = with(c.files, "folder/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: folder}\ndata: {pw: \"${PW}\"}\n")
			all[name] = c
		}
		addSecretParameter(s, r, "PW", appSecret(r))
		t := s.head.at(saastest.File, "resourceTemplates", 0)
		t["provider"], t["path"] = "directory", "/folder"
	}},
	{"a value that was plain in base", func(s *scene, r *rand.Rand) {
		target(s.base, 0)["parameters"] = object{"REPLICAS": 1, "PW": "a-guess"}
		s.guesses = append(s.guesses, "a-guess")
		list, _ := target(s.head, 0)["secretParameters"].([]any)
		target(s.head, 0)["secretParameters"] = append(list, object{"name": "PW", "secret": appSecret(r)})
		useInTemplate(s, r, "PW", true)
	}},
	{"a secret is a word of the data", func(s *scene, _ *rand.Rand) {
		s.words = append(s.words, "shop", "stage", "main", "Deployment", "Service", "info", "quay.io/acme/shop", "80")
	}},
	{"a secret is not there", func(s *scene, _ *rand.Rand) { s.absent = true }},
}

// dataEdits change the data of saas files.
var dataEdits = []edit{
	{"it is another branch", func(s *scene, r *rand.Rand) { target(s.head, 0)["ref"] = pick(r, "feature", "gone", saastest.Sha) }},
	{"more replicas", func(s *scene, r *rand.Rand) {
		target(s.head, r.IntN(2))["parameters"] = object{"REPLICAS": 2 + r.IntN(3)}
	}},
	{"another repository", func(s *scene, r *rand.Rand) {
		s.head.at(saastest.File, "resourceTemplates", 0)["url"] = pick(r, "https://github.com/evil/shop", "https://"+evilHost+"/acme/shop", "https://github.com:8443/acme/shop")
	}},
	{"another path", func(s *scene, _ *rand.Rand) { s.head.at(saastest.File, "resourceTemplates", 0)["path"] = "/gone.yml" }},
	{"another code secret", func(s *scene, r *rand.Rand) {
		s.head.Data["/pipelines/authentication.yml"]["code"] = secret(pick(r, "app/image", "app/shop/a", "app/cluster/c-1"), "token")
	}},
	{"another image secret", func(s *scene, r *rand.Rand) {
		s.head.Data["/pipelines/authentication.yml"]["image"] = secret(pick(r, "app/code", "app/shop/a"), "token")
	}},
	{"other patterns of images", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["imagePatterns"] = []any{pick(r, "quay.io/", "", evilHost+"/", "a", "quay.io:5000/")}
	}},
	{"no patterns of images", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.File]["imagePatterns"] = []any{} }},
	{"other kinds", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.File]["managedResourceTypes"] = []any{pick(r, "Deployment", "Service", "Route"), "ConfigMap"}
	}},
	{"only some names", func(s *scene, _ *rand.Rand) {
		s.head.Data[saastest.File]["managedResourceNames"] = []any{object{"resource": "Service", "resourceNames": []any{"shop", "guessed"}}}
	}},
	{"a target is deleted", func(s *scene, r *rand.Rand) { target(s.head, r.IntN(2))["delete"] = true }},
	{"a target is disabled", func(s *scene, r *rand.Rand) { target(s.head, r.IntN(2))["disable"] = true }},
	{"a new target", func(s *scene, _ *rand.Rand) {
		list := s.head.at(saastest.File, "resourceTemplates", 0)
		list["targets"] = append(list["targets"].([]any), object{"namespace": ref(saastest.Production), "ref": mainSha, "name": "new", "parameters": object{"REPLICAS": 1}})
	}},
	{"a new saas file", func(s *scene, _ *rand.Rand) {
		f := copyOf(s.head.Data[saastest.File]).(object)
		f["name"], f["path"] = "till", "/services/shop/till.yml"
		delete(f["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[0].(object), "promotion")
		delete(f["resourceTemplates"].([]any)[0].(object)["targets"].([]any)[1].(object), "promotion")
		s.head.Data["/services/shop/till.yml"] = f
	}},
	{"a promotion", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["promotion"] = object{"publish": []any{"shop-stage"}}
			target(w, 1)["promotion"] = object{"auto": true, "subscribe": []any{"shop-stage"}}
		}
	}},
	{"no promotion", func(s *scene, r *rand.Rand) {
		delete(target(s.head, r.IntN(2)), "promotion")
	}},
	{"a build", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["upstream"] = object{"instance": ref(saastest.Jenkins), "name": "shop-build"}
		}
	}},
	{"an image", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 0)["images"] = []any{object{"org": ref(saastest.QuayOrg), "name": "shop"}}
		}
	}},
	{"an objective", func(s *scene, r *rand.Rand) {
		for _, w := range s.both()[r.IntN(2):] {
			target(w, 1)["slos"] = []any{ref(saastest.SLOs)}
		}
	}},
	{"another build server", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Jenkins]["serverUrl"] = pick(r, "https://"+evilHost, "https://"+jenkinsHost+":8443")
	}},
	{"another secret of the build server", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Jenkins]["token"] = secret("app/"+pick(r, "code", "shop/a"), "token")
	}},
	{"another cluster secret", func(s *scene, r *rand.Rand) {
		s.head.Data[saastest.Cluster]["automationToken"] = secret(pick(r, "app/shop/a", "app/code"), "token")
	}},
	{"another cluster address", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.Cluster]["serverUrl"] = "https://" + newHost }},
	{"the server tries what is written", func(s *scene, _ *rand.Rand) { s.more["server_dry_run"] = true }},
	{"the cluster refuses", func(s *scene, r *rand.Rand) {
		s.clusters[clusterHost].refuses[pick(r, "/deployments", "/services", "/secrets", "/apis")] = http.StatusForbidden
	}},
	{"no host is named", func(s *scene, _ *rand.Rand) { s.own["hosts"] = []any{} }},
	{"planned data are checked", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.File]["validatePlannedData"] = true }},
	{"it is compared", func(s *scene, _ *rand.Rand) { s.head.Data[saastest.File]["compare"] = true }},
}

// deployEdits are the ways in which merge requests of saas-deploy differ.
var deployEdits = append(append([]edit{
	{"objects are there", func(s *scene, r *rand.Rand) {
		c := s.clusters[clusterHost]
		objects := plainObjects()
		for i, kind := range []string{"Deployment", "Service", "Secret"} {
			o := objects[i].(object)
			delete(o, "kind")
			meta := marked("saas-deploy", "shop")
			if r.IntN(5) == 0 {
				meta = marked("other", "shop")
			}
			o["metadata"] = meta
			if kind == "Deployment" {
				o["spec"].(object)["replicas"] = 1
				container([]any{o})["env"] = []any{object{"name": "LOG_LEVEL", "value": "info"}, object{"name": "PW", "value": pick(r, "old", valueOf("app/shop/a", "password"), valueOf("app/shop/b", "key"))}}
			}
			c.put(kind, "shop-stage", "shop", o)
		}
		c.put("Service", "shop-stage", "gone", object{"metadata": marked("saas-deploy", "shop")})
	}},
	{"an object has a guess", func(s *scene, r *rand.Rand) {
		s.live = []string{"a-live-guess"}
		addSecretParameter(s, r, "PW", appSecret(r))
		all := s.code[codeURL]
		text := openshift([]string{"PW"}, func(o []any) []any { return parts[0].put(o, "${PW}") })
		all["main"] = commit{mainSha, with(all["main"].files, templatePath, text)}
		o := plainObjects()[0].(object)
		o["metadata"] = marked("saas-deploy", "shop")
		o["spec"].(object)["replicas"] = 1
		container([]any{o})["image"] = "quay.io/acme/shop:fedcba9"
		container([]any{o})["env"] = []any{object{"name": "LOG_LEVEL", "value": "info"}, object{"name": "PW", "value": "a-live-guess"}}
		s.clusters[clusterHost].put("Deployment", "shop-stage", "shop", o)
	}},
}, secretEdits...), dataEdits...)

// loopEdits are the ways in which merge requests of pipelines and promotions differ. Their checks of
// a change ask nobody, so most of these are loops after the merge.
var loopEdits = append(append([]edit{
	{"it is the check of the change", func(s *scene, _ *rand.Rand) { s.isLoop = false }},
	{"runs are there", func(s *scene, r *rand.Rand) {
		s.clusters[clusterHost].put("PipelineRun", "shop-production", "run-"+word(r), object{"metadata": marked("saas-pipelines", "shop"),
			"status": object{"conditions": []any{object{"type": "Succeeded", "status": pick(r, "True", "False", "Unknown")}}}})
	}},
}, secretEdits...), dataEdits...)

// marked returns the metadata of a thing of a caller.
func marked(integration, caller string) object {
	return object{"annotations": object{"qontract.integration": integration, "qontract.caller_name": caller}, "labels": object{"qontract.integration": integration}}
}
