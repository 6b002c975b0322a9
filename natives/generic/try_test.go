package generic

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// objects is a specification of Kubernetes with one kind of objects.
const objects = `{"openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1"}, "paths": {
  "/api/v1/namespaces/{namespace}/configmaps/{name}": {
    "get": {"responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ConfigMap"}}}}},
      "x-kubernetes-group-version-kind": {"group": "", "kind": "ConfigMap", "version": "v1"}},
    "put": {"requestBody": {"content": {"*/*": {"schema": {"$ref": "#/components/schemas/ConfigMap"}}}},
      "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ConfigMap"}}}}}},
    "patch": {"requestBody": {"content": {"application/apply-patch+yaml": {"schema": {"type": "object"}}, "application/merge-patch+json": {"schema": {"type": "object"}}}},
      "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ConfigMap"}}}}}},
    "delete": {"responses": {"200": {}}}
  }},
  "components": {"schemas": {"ConfigMap": {"type": "object", "properties": {
    "apiVersion": {"type": "string"}, "kind": {"type": "string"},
    "metadata": {"type": "object", "properties": {"name": {"type": "string"}, "namespace": {"type": "string"}, "annotations": {"type": "object", "additionalProperties": {"type": "string"}}}},
    "data": {"type": "object", "additionalProperties": {"type": "string"}}}}}}}`

// A dry run whose settings allow it lets a server of Kubernetes try what it would do, and writes
// nothing. What the server refuses fails the dry run.
func TestTry(t *testing.T) {
	for name, refuses := range map[string]bool{"accepted": false, "refused": true} {
		s := newScene(t)
		s.World = cloudtest.New(endpoint)
		s.Resources["/k8s.json"] = objects
		s.Data[cloudtest.API]["family"], s.Data[cloudtest.API]["specifications"] = "kubernetes", []any{"/k8s.json"}
		s.Add("/cm.yml", object{"type": "v1/configmaps", "resourceId": "/api/v1/namespaces/shop/configmaps/texts",
			"body": object{"data": object{"a": "1"}}})
		var seen []string
		send := send(func(r *http.Request) (*http.Response, error) {
			seen = append(seen, r.Method+" "+r.URL.Query().Get("dryRun"))
			status, text := http.StatusNotFound, `{"kind": "Status", "status": "Failure", "reason": "NotFound", "code": 404}`
			if r.Method != http.MethodGet {
				status, text = http.StatusCreated,
					`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "texts", "resourceVersion": "1"}, "data": {"a": "1"}}`
				if refuses {
					status, text = http.StatusForbidden,
						`{"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "quota exceeded", "code": 403}`
				}
			}
			return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
				Body: io.NopCloser(strings.NewReader(text)), Request: r}, nil
		})
		env := s.environment(nil)
		env.Endpoint = func(context.Context, integration.EndpointRef) (http.RoundTripper, error) { return send, nil }
		env.EndpointTrial = env.Endpoint
		env.Trial = func(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) {
			return nil, fmt.Errorf("nobody asks for a cluster")
		}
		err := s.native.DryRun(t.Context(), env)
		isKept := slices.ContainsFunc(seen, func(r string) bool { return r != "GET " && !strings.HasSuffix(r, " All") })
		if isKept || !slices.Contains(seen, "PATCH All") || (s.failures() != "") != refuses || err != nil {
			t.Errorf("%s: got %v, %q, requests %v\n%s", name, err, s.failures(), seen, &s.log)
		}
	}
}
