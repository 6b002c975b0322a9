package saas

import "github.com/app-sre/prcheck/internal/pyjson"

// fieldsOf returns the fields of a namespace that selectors and templated parameters see. Missing
// ones are nil. They are those that the query of qontract-reconcile asks for.
func (r *reader) fieldsOf(a namespaceAnswer) map[string]any {
	environment, cluster, app := r.environments[a.Environment.Path], r.answers[a.Cluster.Path], r.apps[a.App.Path]
	out := map[string]any{
		"name": a.Name, "path": a.Path, "labels": jsonOrNil(a.Labels), "delete": pointed(a.Delete),
		"environment": map[string]any{"name": environment.Name, "labels": r.labels[a.Environment.Path],
			"parameters": jsonOrNil(environment.Parameters), "secretParameters": secretsContent(environment.SecretParameters,
				"format")},
		"app": map[string]any{"name": app.Name, "parentApp": nil, "labels": r.labels[a.App.Path]},
		"cluster": map[string]any{"name": cluster.Name, "serverUrl": cluster.ServerURL, "internal": pointed(cluster.Internal),
			"insecureSkipTLSVerify": pointed(cluster.Insecure), "automationToken": tokenFields(cluster.Token),
			"clusterAdminAutomationToken": tokenFields(cluster.Admin), "disable": nil},
		"skupperSite": nil,
	}
	if app.Parent != "" {
		out["app"].(map[string]any)["parentApp"] = map[string]any{"name": app.Parent}
	}
	if cluster.Disable != nil {
		out["cluster"].(map[string]any)["disable"] = map[string]any{"integrations": anyList(cluster.Disable.Integrations)}
	}
	if a.Skupper != nil {
		out["skupperSite"] = map[string]any{"delete": pointed(a.Skupper.Delete)}
	}
	return out
}

// pointed returns what a pointer points to, or nil.
func pointed[V any](p *V) any {
	if p == nil {
		return nil
	}
	return *p
}

// jsonOrNil returns the value of a JSON text, nil if there is none.
func jsonOrNil(text *string) any {
	if text == nil {
		return nil
	}
	v, err := pyjson.Read(*text)
	if err != nil {
		return nil
	}
	return v
}

// tokenFields returns a reference to a secret as selectors see it.
func tokenFields(a *secretAnswer) any {
	if a == nil {
		return nil
	}
	return secretContent(a.ref(), value(a.Format), "format")
}

// anyList returns a list of texts as a JSON value.
func anyList(list []string) []any {
	out := []any{}
	for _, text := range list {
		out = append(out, text)
	}
	return out
}

// field returns the field of a JSON object; nil if v is no object, or has no such field.
func field(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case *pyjson.Object:
		return v.Values[name]
	}
	return nil
}
