package manifests

import (
	"fmt"
	"strings"
	"testing"
)

// Two manifests are compared field by field, items of lists by their keys, and no secret is told.
func TestBetween(t *testing.T) {
	container := func(image, token string, more ...any) Object {
		return Object{"kind": "Deployment", "apiVersion": "apps/v1",
			"metadata": Object{"name": "a", "annotations": Object{"x": "1"}},
			"spec": Object{"template": Object{"spec": Object{"containers": append([]any{Object{"name": "c", "image": image,
				"args": []any{"a", image}, "env": []any{Object{"name": "API_TOKEN", "value": token}}}}, more...)}}}}
	}
	secret := func(v string) Object {
		return Object{"kind": "Secret", "metadata": Object{"name": "s"}, "data": Object{"k": v}}
	}
	const spec = "/spec/template/spec/containers/0"
	for _, c := range []struct {
		base, head Object
		secret     []string
		want       string
	}{
		{container("i:1", "canary-1"), container("i:1", "canary-1"), nil, ""},
		{container("i:1", "canary-1"), container("i:2", "canary-1"), nil,
			spec + `/args ["a","i:1"] ["a","i:2"]; ` + spec + `/image "i:1" "i:2"`},
		{container("i:1", "canary-1"), container("i:1", "canary-2"), nil, spec + `/env/0/value "***" "***"`},
		{container("i:1", "canary-1", Object{"name": "d"}), container("i:1", "canary-1"), nil,
			`/spec/template/spec/containers/1 {"name":"d"} `},
		{container("canary-1", "x"), container("canary-2", "x"), []string{spec + "/image", spec + "/args/1"},
			spec + "/args secret; " + spec + "/image secret"},
		{secret("canary-1"), secret("canary-2"), nil, `/data/k "***" "***"`},
	} {
		var words []string
		for _, change := range Between(c.base, c.head, c.secret) {
			text := fmt.Sprintf("%s %s %s", change.Path, change.From, change.To)
			if change.Secret {
				text = change.Path + " secret"
			}
			if strings.Contains(fmt.Sprintf("%+v %s %s", change, change.From, change.To), "canary") {
				t.Errorf("a secret stands in %+v", change)
			}
			words = append(words, text)
		}
		if got := strings.Join(words, "; "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
