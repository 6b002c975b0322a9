package peers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

// Templates are filled in as OpenShift's library does.
func TestLiveTemplates(t *testing.T) {
	shared.Ask(t, shared.Live{Name: "templates", Peer: "library-go 93ac9206ae34", Command: []string{"judges/templates"},
		Cases: 4000, Same: fillsSame, Deviates: refusesTemplate,
		Input: func(r *rand.Rand) any { return maker{r}.templateInput() }})
}

// refusesTemplate returns the decision by which we refuse what is random there.
func refusesTemplate(a shared.Answer, ours string) int {
	if !a.IsRefused() && strings.Contains(ours, "two keys become the key") {
		return 83
	}
	return 0
}

// templateInput returns a template with values. The keys of its labels have no references, which the library fills in
// once or twice, by chance.
func (m maker) templateInput() any {
	template := map[string]any{"apiVersion": one(m, "v1", "template.openshift.io/v1"), "kind": "Template",
		"metadata": map[string]any{"name": "t"}}
	objects := make([]any, 1+m.IntN(2))
	for i := range objects {
		objects[i] = m.object()
	}
	template["objects"] = objects
	var parameters []any
	for _, name := range []string{"A", "B", "N", "X_1"} {
		if m.isOften(25) {
			continue
		}
		p := map[string]any{"name": name}
		if m.isOften(70) {
			p["value"] = m.parameterValue()
		}
		if m.isOften(8) {
			p["required"] = true
		}
		if m.isOften(8) {
			p["generate"], p["from"] = "expression", "[a]{3}"
		}
		parameters = append(parameters, p)
	}
	template["parameters"] = parameters
	if m.isOften(25) {
		template["labels"] = map[string]any{one(m, "l", "a"): m.filled(), "z": one(m, "v", "${B}", "${{N}}")}
	}
	values := map[string]string{}
	for range m.IntN(3) {
		values[one(m, "A", "B", "N", "Q")] = m.parameterValue()
	}
	return map[string]any{"template": template, "values": values}
}

func (m maker) parameterValue() string {
	return one(m, "", "x", "3", "-1", "1.50", "1e3", "9007199254740993", "true", "null", `{"a": 1}`, `{"a": "${A}"}`,
		`[1,`,
		"[1, 2.0]", `"q"`, "a b", "${B}", "$A", "${{N}}", "é", "01", " 1", "v1", "Route", "{}")
}

// filled returns a text, often with references.
func (m maker) filled() string {
	ref := func() string {
		return one(m, "${A}", "${B}", "${N}", "${X_1}", "${{A}}", "${{N}}", "${{B}}", "${none}", "$A", "${}", "${A", "$${A}",
			"${${A}}", "${A}}", "${a-b}", "text", "-", "1", " ")
	}
	return m.some(1, 3, "", ref)
}

func (m maker) object() map[string]any {
	out := map[string]any{"apiVersion": one(m, "v1", "v1", "apps/v1", "route.openshift.io/v1", "${A}",
		"extensions/v1beta1"),
		"kind": one(m, "Route", "Service", "DeploymentConfig", "Template", "List", "ImageStream", "Role", "User", "Project",
			"SecurityContextConstraints", "BuildConfig", "${A}", "Deployment")}
	if m.isOften(4) {
		delete(out, one(m, "kind", "apiVersion"))
	}
	metadata := map[string]any{"name": one(m, "n", m.filled())}
	if m.isOften(25) {
		metadata["namespace"] = one[any](m, "ns", "${A}", "", "x-${B}", "${{N}}", nil, 5)
	}
	if m.isOften(25) {
		metadata["labels"] = one[any](m, map[string]any{"a": m.filled(), m.filled(): "v"}, map[string]any{"n": 1},
			map[string]any{}, nil, "text")
	}
	if out["metadata"] = metadata; m.isOften(5) {
		out["metadata"] = one[any](m, nil, "text", []any{}, map[string]any{})
	}
	for range m.IntN(3) {
		out[one(m, "spec", "data", "items", "namespace", "labels")] = m.templateValue(0)
	}
	return out
}

func (m maker) templateValue(depth int) any {
	switch k := m.IntN(10); {
	case k < 3 && depth < 3:
		out := map[string]any{}
		for i := range 1 + m.IntN(3) {
			out[one(m, "a", "b", fmt.Sprint("k", i), m.filled(), "template", "metadata", "labels",
				"kind")] = m.templateValue(depth + 1)
		}
		return out
	case k < 5 && depth < 3:
		return []any{m.templateValue(depth + 1), m.templateValue(depth + 1)}
	case k < 6:
		return one[any](m, 1, 1.5, true, nil, 9007199254740993, "", []any{}, map[string]any{})
	}
	return m.filled()
}
