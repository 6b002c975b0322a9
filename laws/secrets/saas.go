package main

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/saas/deploy"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/promotions"
	"github.com/app-sre/prcheck/natives/saas/saastest"
	"github.com/app-sre/prcheck/natives/systems/builds"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
	"github.com/app-sre/prcheck/natives/systems/measurements"
	"github.com/app-sre/prcheck/natives/systems/registry"
	"github.com/app-sre/prcheck/natives/systems/repositories"
)

// The hosts of saas files.
const (
	codeHost       = "github.com"
	codeURL        = "https://github.com/acme/shop"
	quayHost       = "quay.io"
	jenkinsHost    = "jenkins.example.com"
	prometheusHost = "prometheus.c-1.example.com"
	clusterHost    = "api.c-1.example.com:6443"
	forgeHost      = "gitlab.example.com"
	templatePath   = "openshift/template.yml"
	chartPath      = "chart"
)

// Commits of the repository.
const (
	mainSha    = "fedcba9876543210fedcba9876543210fedcba98"
	featureSha = "1111111111111111111111111111111111111111"
)

var (
	pipelinesKind = kind{name: "saas-pipelines", most: 8, start: startSaas("saas-pipelines"), finish: finishSaas,
		services: saasServices, edits: loopEdits}
	promotionsKind = kind{name: "saas-promotions", most: 8, start: startSaas("saas-promotions"), finish: finishSaas,
		services: saasServices, edits: promotionEdits}
)

var deployKind = kind{name: "saas-deploy", most: 8, start: startSaas("saas-deploy"), finish: finishSaas,
	services: saasServices, edits: deployEdits}

// pause is how long clients wait before they ask again.
const pause = time.Millisecond

// saasServices returns the real clients of all services but the programs git and helm.
func saasServices(s *scene, w *wire) natives.Services {
	api := &jsonapi.Client{Pause: pause}
	images, slos := registry.WithPause(pause), measurements.New(api)
	code := forge{s, w, repositories.WithPause(pause)}
	out := natives.Services{
		Deploy:    deploy.Services{Repositories: code, Registry: images},
		Pipelines: pipelines.Services{Repositories: code, Registry: images, Builds: builds.New(api), Measurements: slos},
		Promotions: promotions.Services{Repositories: code, Measurements: slos,
			Forge: func(at promotions.Project) (services.ForgeWriter, error) {
				return ci.NewForge(ci.Options{API: at.URL + "/api/v4", Token: ci.Token{Value: at.Token},
					Transport: http.DefaultTransport}, at.Path)
			}},
	}
	if s.charts {
		out.Deploy.Helm = helm(w)
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
			switch native {
			case "saas-pipelines":
				s.own["executor"] = "tekton"
			case "saas-promotions":
				s.addForge()
			}
			s.hosts[codeHost] = func(func(string) string) http.Handler { return http.HandlerFunc(s.serveGit) }
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
			s.hosts[quayHost], s.hosts[jenkinsHost], s.hosts[prometheusHost] = quay, constant(jenkinsAnswer),
				constant(prometheusAnswer)
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
	if c := s.head.Data[saastest.Cluster]; c != nil { // objectives are measured with the token of the cluster
		if of, ok := c["automationToken"].(object); ok {
			s.give(prometheusHost, variable(of["path"].(string), of["field"].(string)))
		}
	}
	s.give(codeHost+":8443", variable("app/code", "token"))
	of := s.head.Data["/pipelines/authentication.yml"]
	for host, key := range map[string]string{codeHost: "code", codeHost + ":8443": "code", quayHost: "image",
		quayHost + ":5000": "image"} {
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

// marked returns the metadata of a thing of a caller.
func marked(integration, caller string) object {
	return object{"annotations": object{"qontract.integration": integration, "qontract.caller_name": caller},
		"labels": object{"qontract.integration": integration}}
}
