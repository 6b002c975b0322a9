package generic

import (
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// A namespace is made: that it is not there yet is no missing parent, for which one would wait. It
// is a missing parent of what is in it, which is made after it.
func TestNamespaceIsMade(t *testing.T) {
	s, cluster := newKube(t)
	begin := strings.Index(objects, `  "/api/v1`)
	end := strings.Index(objects, `  }},`)
	spaces := strings.NewReplacer("/{namespace}/configmaps", "", "ConfigMap", "Namespace").Replace(objects[begin:end]) +
		"  },\n"
	text := objects[:begin] + spaces + objects[begin:]
	text = strings.Replace(text, `"schemas": {`,
		`"schemas": {"Namespace": {"type": "object", "properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"},
		"metadata": {"type": "object", "properties": {"name": {"type": "string"},
		"labels": {"type": "object", "additionalProperties": {"type": "string"}}, "annotations": {"type": "object", "additionalProperties": {"type": "string"}}}}}}, `, 1)
	s.Resources["/specs/core.json"] = text
	s.Data[cloudtest.API]["specifications"] = []any{"/specs/core.json"}
	s.Add("/team.yml", object{"type": "v1/namespaces", "resourceId": "/api/v1/namespaces/team",
		"body": object{"metadata": object{"labels": object{"a": "b"}}}})
	s.Add("/texts.yml", object{"type": "v1/configmaps", "resourceId": "/api/v1/namespaces/team/configmaps/texts",
		"body": object{"data": object{"a": "1"}}})
	s.must()
	if got := s.did(); got != "create team done, create texts done" {
		t.Errorf("got %s\n%s", got, &s.log)
	}
	for _, path := range []string{"/api/v1/namespaces/team", "/api/v1/namespaces/team/configmaps/texts"} {
		if cluster.Object(path) == nil {
			t.Errorf("%s was not made", path)
		}
	}
	cluster.Forget()
	if s.must(); len(cluster.Writes()) != 0 {
		t.Errorf("the second run wrote: %v", cluster.Writes())
	}
}
