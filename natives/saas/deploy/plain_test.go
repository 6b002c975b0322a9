package deploy

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// A plain forge has every repository. What a file holds follows from its place and its commit.
type plainForge struct{}

func (plainForge) Heads(_ context.Context, of services.Repository, branches []string) (map[string]string, error) {
	out := map[string]string{}
	for _, b := range branches {
		out[b] = fmt.Sprintf("%x", sha256.Sum256([]byte(of.URL+" "+b+" "+of.Password)))[:40]
	}
	return out, nil
}

func (plainForge) Log(context.Context, services.Repository, string, int) ([]string, error) {
	return nil, errors.New("nobody asks for the log")
}

func (plainForge) Files(_ context.Context, of services.Repository, commit, path string,
	deep bool) (map[string][]byte, error) {
	text := "apiVersion: template.openshift.io/v1\nkind: Template\nparameters:\n"
	var values []string
	for _, name := range []string{"A", "B", "C", "REPLICAS", "LOG_LEVEL", "ENVIRONMENT", "CHANNEL", "SECRET", "TOKEN",
		"IMAGE_TAG", "NAME", "IMAGE"} {
		text += "- {name: " + name + "}\n"
		values = append(values, name+": \"${"+name+"}\"")
	}
	text += "objects:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: config}\n  data: {" +
		strings.Join(values, ", ") + "}\n"
	text += fmt.Sprintf("- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {name: app, annotations: {from: %q}}\n  spec: {template: {spec: {containers: [{name: app, image: \"quay.io/acme/app:${IMAGE_TAG}\"}]}}}\n",
		fmt.Sprint(of.URL, of.User, of.Password, commit, path, deep))
	text += "- apiVersion: v1\n  kind: Service\n  metadata: {name: app}\n  spec: {ports: [{port: 80}]}\n"
	if deep || strings.HasSuffix(path, "/") {
		return map[string][]byte{"a.yml": []byte(text)}, nil
	}
	return map[string][]byte{"": []byte(text)}, nil
}

// A plain registry has every image.
type plainRegistry struct{}

func (plainRegistry) Digest(_ context.Context, image services.Image) (string, error) {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(image.Name+image.Login.User+image.Login.Password))), nil
}

// A plain bucket has records of many publishers.
type plainBucket struct{}

func (plainBucket) Get(_ context.Context, key string) ([]byte, string, error) {
	words := strings.Split(strings.TrimPrefix(key, promotion.Root), "/")
	if len(words) != 3 || len(words[2]) != 40 || words[1] > "c" {
		return nil, "", integration.ErrNotThere
	}
	return []byte(`{"success": true, "target_config_hash": "hash-1", "saas_file": "s", "check_in": "2026-11-20 00:00:00.000000+00:00", "has_succeeded_once": true}`), "1", nil
}

func (plainBucket) Keys(_ context.Context, prefix string) ([]string, error) {
	return []string{prefix + old, prefix + next}, nil
}

// wholeWorld returns a world with everything that a cell may read.
func wholeWorld() *saastest.World {
	w := saastest.Large(3, 12)
	w.Data["/integrations/saas-deploy.yml"] = object{"$schema": "/app-sre/integration-1.yml", "name": Name,
		"description": "x", "pr_check": object{"cmd": Name}}
	schemas := map[string]bool{}
	for _, f := range w.Data {
		schemas[f["$schema"].(string)] = true
	}
	schemas["/app-sre/slo-document-1.yml"] = true
	schemas["/app-sre/saas-file-target-1.yml"] = true
	w.Data["/integrations/saas-deploy.yml"]["schemas"] = slices.Sorted(maps.Keys(schemas))
	w.Data["/services/slo.yml"] = object{"$schema": "/app-sre/slo-document-1.yml", "name": "slo",
		"app":        saastest.Ref("/services/app-000/app.yml"),
		"namespaces": []any{object{"namespace": saastest.Ref("/services/app-000/namespaces/app-000-production.yml")}},
		"slos": []any{object{"name": "availability", "SLIType": "availability", "SLOTarget": 0.95,
			"SLOTargetUnit": "percent_0_1",
			"SLOParameters": object{"window": "28d"}, "expr": "x"}}}
	for i := range 3 {
		app := fmt.Sprintf("app-%03d", i)
		file := "/services/" + app + "/saas.yml"
		w.Set(file, []any{"ConfigMap", "Deployment", "Service"}, "managedResourceTypes")
		w.Set(file, []any{"app", "other"}, "allowedSecretParameterPaths")
		again := w.Clone().Target(file, 0, 1)
		again["name"], again["disable"] = "second", true
		w.Target(file, 0, 1)["slos"] = []any{saastest.Ref("/services/slo.yml")}
		w.Set(file, append(w.Data[file]["resourceTemplates"].([]any)[0].(object)["targets"].([]any), again),
			"resourceTemplates", 0, "targets")
	}
	return w
}

type object = map[string]any
