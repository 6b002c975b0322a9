package saastest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An object is a datafile or a part of it.
type object = map[string]any

// A World is the datafiles of a test.
type World struct {
	Data      map[string]map[string]any // by path
	Resources map[string]string         // contents by path
	// Drop names fields that the types of the data do not have: TYPE.FIELD.
	Drop []string
}

// Paths of the datafiles of [New].
const (
	File          = "/services/shop/saas.yml"
	App           = "/services/shop/app.yml"
	Stage         = "/services/shop/namespaces/shop-stage.yml"
	Production    = "/services/shop/namespaces/shop-production.yml"
	StageEnv      = "/environments/stage.yml"
	ProductionEnv = "/environments/production.yml"
	Cluster       = "/clusters/c-1.yml"
	Provider      = "/pipelines/shop.yml"
	Settings      = "/settings.yml"
	Jenkins       = "/dependencies/ci.yml"
	QuayOrg       = "/dependencies/quay-org.yml"
	Role          = "/teams/developers.yml"
	SLOs          = "/services/shop/slo.yml"
)

// Sha is the commit that production runs in [New].
const Sha = "0123456789abcdef0123456789abcdef01234567"

// New returns a world with one saas file, shop: its template shop deploys the branch main to
// stage, and [Sha], promoted from there by the channel shop-stage, to production.
func New() *World {
	w := bare()
	w.app("shop")
	w.namespaces("shop", 1)
	w.Data[Provider] = provider("shop", Production)
	w.Data[SLOs] = object{"$schema": "/app-sre/slo-document-1.yml", "name": "shop", "app": Ref(App),
		"namespaces": []any{object{"namespace": Ref(Production)}},
		"slos": []any{object{"name": "availability", "SLIType": "availability", "SLOTarget": 0.95,
			"SLOTargetUnit": "percent_0_1",
			"SLOParameters": object{"window": "28d"}, "expr": "sum(rate(ok[{{window}}]))"}}}
	w.Data[File] = saasFile("shop", []any{
		object{"name": "shop", "url": "https://github.com/acme/shop", "path": "/openshift/template.yml",
			"parameters": object{"LOG_LEVEL": "info"}, "targets": []any{
				object{"namespace": Ref(Stage), "ref": "main", "parameters": object{"REPLICAS": 1},
					"promotion": object{"publish": []any{"shop-stage"}}},
				object{"namespace": Ref(Production), "ref": Sha, "parameters": object{"REPLICAS": 3},
					"promotion": object{"auto": true, "subscribe": []any{"shop-stage"}}},
			}},
	})
	return w
}

// Ref returns a reference to a datafile.
func Ref(path string) map[string]any { return object{"$ref": path} }

// bare returns what all worlds have: settings, environments, a cluster, a build server and a
// registry.
func bare() *World {
	w := &World{Data: map[string]map[string]any{}}
	w.Data[Settings] = object{"$schema": "/app-interface/app-interface-settings-1.yml", "name": "app-interface",
		"hashLength": 7}
	w.Data[StageEnv] = environment("stage")
	w.Data[ProductionEnv] = environment("production")
	w.cluster("c-1")
	w.Data[Jenkins] = object{"$schema": "/dependencies/jenkins-instance-1.yml", "name": "ci",
		"serverUrl": "https://jenkins.example.com", "token": secret("jenkins")}
	w.Data["/dependencies/acme.yml"] = object{"$schema": "/dependencies/github-org-1.yml", "name": "acme",
		"url": "https://github.com/acme"}
	w.Data["/dependencies/quay.yml"] = object{"$schema": "/dependencies/quay-instance-1.yml", "name": "quay",
		"url": "quay.io"}
	w.Data[QuayOrg] = object{"$schema": "/dependencies/quay-org-1.yml", "name": "acme",
		"instance": Ref("/dependencies/quay.yml")}
	w.Data["/pipelines/defaults.yml"] = object{"$schema": "/app-sre/tekton-provider-defaults-1.yml", "name": "defaults",
		"pipelineTemplates": object{"openshiftSaasDeploy": object{"name": "openshift-saas-deploy", "type": "Pipeline",
			"path": "/pipeline.yml"}}}
	w.Data["/pipelines/authentication.yml"] = object{"$schema": "/app-sre/saas-file-authentication-1.yml",
		"code": secret("code"), "image": secret("image")}
	return w
}

func secret(name string) object { return object{"path": "app/" + name, "field": "token"} }

func environment(name string) object {
	return object{"$schema": "/app-sre/environment-1.yml", "name": name, "labels": object{"type": name},
		"parameters": object{"ENVIRONMENT": name}}
}

// cluster adds a cluster.
func (w *World) cluster(name string) {
	w.Data["/clusters/"+name+".yml"] = object{"$schema": "/openshift/cluster-1.yml", "name": name,
		"serverUrl": "https://api." + name + ".example.com:6443", "consoleUrl": "https://console." + name + ".example.com",
		"prometheusUrl": "https://prometheus." + name + ".example.com", "automationToken": secret("cluster/" + name)}
}

// app adds an app with one repository.
func (w *World) app(name string) {
	w.Data["/services/"+name+"/app.yml"] = object{"$schema": "/app-sre/app-1.yml", "name": name,
		"serviceOwners":  []any{object{"name": "Owner", "email": "owner@example.com"}},
		"codeComponents": []any{object{"name": name, "resource": "upstream", "url": "https://github.com/acme/" + name}}}
	w.share("/services/" + name + "/app.yml")
}

// share gives people a share of an app by the role of the world.
func (w *World) share(app string) {
	if w.Data[Role] == nil {
		w.Data[Role] = object{"$schema": datafileOfRoles, "name": "developers",
			"self_service": []any{object{"datafiles": []any{}}}}
	}
	of := w.Data[Role]["self_service"].([]any)[0].(object)
	of["datafiles"] = append(of["datafiles"].([]any), Ref(app))
}

// namespaces adds the namespaces NAME-stage and NAME-production of an app.
func (w *World) namespaces(app string, cluster int) {
	for _, env := range []string{"stage", "production"} {
		w.Data[fmt.Sprintf("/services/%s/namespaces/%s-%s.yml", app, app,
			env)] = object{"$schema": "/openshift/namespace-1.yml",
			"name": app + "-" + env, "app": Ref("/services/" + app + "/app.yml"),
			"environment": Ref("/environments/" + env + ".yml"),
			"cluster":     Ref(fmt.Sprintf("/clusters/c-%d.yml", cluster)), "labels": object{"team": app}}
	}
}

// provider returns a provider of pipelines in a namespace.
func provider(name, namespace string) object {
	return object{"$schema": "/app-sre/pipelines-provider-1.yml", "name": name, "provider": "tekton",
		"namespace": Ref(namespace), "defaults": Ref("/pipelines/defaults.yml")}
}

// saasFile returns a saas file of the app of the same name.
func saasFile(name string, templates []any) object {
	return object{"$schema": "/app-sre/saas-file-2.yml", "name": name, "displayName": name, "description": name,
		"labels": object{},
		"app":    Ref("/services/" + name + "/app.yml"), "pipelinesProvider": Ref("/pipelines/" + name + ".yml"),
		"managedResourceTypes": []any{"Deployment", "Service"}, "imagePatterns": []any{"quay.io/acme/"},
		"authentication": Ref("/pipelines/authentication.yml"), "allowedSecretParameterPaths": []any{"app/" + name},
		"resourceTemplates": templates}
}

// Set puts a value at a path of keys and positions of a datafile; nil removes a key. It panics if
// there is no such place.
func (w *World) Set(file string, value any, path ...any) {
	var at any = w.Data[file]
	for _, part := range path[:len(path)-1] {
		switch part := part.(type) {
		case string:
			at = at.(object)[part]
		case int:
			at = at.([]any)[part]
		}
	}
	switch last := path[len(path)-1].(type) {
	case int:
		at.([]any)[last] = value
	case string:
		if value == nil {
			delete(at.(object), last)
			return
		}
		at.(object)[last] = value
	}
}

// Target returns a target of a saas file, which may be changed.
func (w *World) Target(file string, template, target int) map[string]any {
	templates := w.Data[file]["resourceTemplates"].([]any)
	return templates[template].(object)["targets"].([]any)[target].(object)
}

// Clone returns a copy.
func (w *World) Clone() *World {
	raw, err := json.Marshal(w.Data)
	if err != nil {
		panic(err)
	}
	out := &World{Drop: w.Drop, Resources: maps.Clone(w.Resources)}
	if err := json.Unmarshal(raw, &out.Data); err != nil {
		panic(err)
	}
	return out
}

// Bundle returns the world as a bundle.
func (w *World) Bundle(t testing.TB) []byte {
	t.Helper()
	raw, err := w.JSON()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// JSON returns the world as the bytes of a bundle, for programs.
func (w *World) JSON() ([]byte, error) {
	data := object{}
	for path, file := range w.Data {
		withPath := maps.Clone(file)
		withPath["path"] = path
		data[path] = withPath
	}
	resources := object{}
	for path, content := range w.Resources {
		resources[path] = object{"path": path, "content": content, "$schema": nil,
			"sha256sum": fmt.Sprintf("%x", sha256.Sum256([]byte(content)))}
	}
	return json.Marshal(object{"data": data, "resources": resources, "graphql": graphql(w.Drop)})
}

// Query returns what answers queries over the world. Errors in an answer are as runners tell them.
func (w *World) Query(t testing.TB) integration.QueryFunc {
	t.Helper()
	return QueryOf(t, w.Bundle(t))
}

// QueryOf returns what answers queries over a bundle, like [World.Query].
func QueryOf(t testing.TB, raw []byte) integration.QueryFunc {
	t.Helper()
	b, err := bundle.Parse(raw, nil)
	if err != nil {
		t.Fatal(err)
	}
	schema, err := gql.NewSchema(b.GraphQL())
	if err != nil {
		t.Fatal(err)
	}
	engine := gql.New(b, schema)
	return func(ctx context.Context, query string, variables map[string]any) ([]byte, error) {
		return answer(ctx, engine, query, variables)
	}
}

// answer answers one query.
func answer(ctx context.Context, engine *gql.Engine, query string, variables map[string]any) ([]byte, error) {
	text, err := json.Marshal(variables)
	if err != nil {
		return nil, err
	}
	values, err := bundle.ParseValue(text)
	if err != nil {
		return nil, err
	}
	given, _ := values.(*bundle.Object)
	res := engine.Answer(ctx, gql.Request{Query: query, Variables: given})
	var out struct {
		Data   json.RawMessage
		Errors []integration.FieldError
	}
	if err := json.Unmarshal(res.JSON(), &out); err != nil {
		return nil, err
	}
	if len(out.Errors) > 0 {
		return nil, &integration.AnswerError{Data: out.Data, Errors: out.Errors}
	}
	return out.Data, nil
}

// Shas returns n different commits.
func Shas(n int) []string {
	var out []string
	for i := range n {
		out = append(out, strings.Repeat("0", 32)+fmt.Sprintf("%08x", i+1))
	}
	return out
}

// Large returns a world with a number of saas files and targets in all, on ten clusters. Each
// saas file has an app with a repository of its own and two environments. Of the targets, every
// second deploys the branch main to stage, every tenth of these by a build and another tenth by
// an image; the others deploy commits to production, promoted from stage by a channel of their
// template.
func Large(files, targets int) *World {
	w := bare()
	for i := range 10 {
		w.cluster(fmt.Sprintf("c-%d", i+1))
	}
	each := max(targets/files, 2)
	for i := range files {
		name := fmt.Sprintf("app-%03d", i)
		w.app(name)
		w.namespaces(name, i%10+1)
		w.Data["/pipelines/"+name+".yml"] = provider(name, "/services/"+name+"/namespaces/"+name+"-production.yml")
		var templates []any
		for j := 0; j < each/2; j++ {
			templates = append(templates, template(name, i, j))
		}
		w.Data["/services/"+name+"/saas.yml"] = saasFile(name, templates)
	}
	return w
}

// template returns the template number j of the saas file number i, with two targets.
func template(app string, i, j int) object {
	namespace := func(env string) object { return Ref(fmt.Sprintf("/services/%s/namespaces/%s-%s.yml", app, app, env)) }
	channel := fmt.Sprintf("%s-%d-stage", app, j)
	stage := object{"namespace": namespace("stage"), "ref": "main", "promotion": object{"publish": []any{channel}},
		"parameters": object{"REPLICAS": 1, "NAME": fmt.Sprintf("{{{ resource.namespace.name }}}-%d", j)}}
	switch {
	case j == 0 && i%2 == 0:
		stage["upstream"] = object{"instance": Ref(Jenkins), "name": app + "-build"}
	case j == 0:
		stage["images"] = []any{object{"org": Ref(QuayOrg), "name": app}}
	}
	production := object{"namespace": namespace("production"), "ref": Shas(i + 1)[i],
		"parameters": object{"REPLICAS": 3, "SIZE": object{"cpu": "1", "memory": "1Gi"}},
		"promotion":  object{"auto": true, "subscribe": []any{channel}}}
	return object{"name": fmt.Sprintf("%s-%d", app, j), "url": "https://github.com/acme/" + app,
		"path":       fmt.Sprintf("/openshift/template-%d.yml", j),
		"parameters": object{"IMAGE": "quay.io/acme/" + app}, "targets": []any{stage, production}}
}
