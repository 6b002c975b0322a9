package deploy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

// withSecret is a scene whose first target has a secret, with a function that sets its version.
func withSecret(t *testing.T) (s *scene, setVersion func(w *saastest.World, version int)) {
	s = newScene(t)
	setVersion = func(w *saastest.World, version int) {
		w.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
			"secret": map[string]any{"path": "app/shop/db", "field": "password", "version": version}}}
	}
	setVersion(s.World, 1)
	return s, setVersion
}

const deployment = "/apis/apps/v1/namespaces/shop-stage/deployments/shop"

// annotationsOf returns the annotations of the Deployment.
func annotationsOf(t *testing.T, s *scene) map[string]any {
	t.Helper()
	var out map[string]any
	s.cluster.Edit(t, "kubectl", deployment, func(o map[string]any) {
		metadata, _ := o["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		out = maps.Clone(annotations)
	})
	return out
}

// A dry run reads no secret that a template uses, with and without a base. A run does.
func TestDryRunReadsNoSecretOfTemplate(t *testing.T) {
	s, _ := withSecret(t)
	var reads atomic.Int32
	s.change = func(env *integration.Environment) {
		read := env.Secret
		env.Secret = func(ctx context.Context, ref integration.SecretRef) (string, error) {
			if ref.Path == "app/shop/db" {
				reads.Add(1)
			}
			return read(ctx, ref)
		}
	}
	for _, base := range []*saastest.World{nil, s.Clone(), saastest.New()} {
		if err := s.dryRun(t, "shop/stage", base); s.fails(err) || reads.Load() > 0 {
			t.Errorf("got %v, %d reads\n%s", err, reads.Load(), strings.Join(s.said, "\n"))
		}
	}
	if s.mustRun(t, "shop/stage"); reads.Load() == 0 {
		t.Error("the run read no secret")
	}
}

// A run notes which secrets an object has. By that a dry run compares it: nothing differs until its secret, the
// text around it or another field does.
func TestObjectsWithSecretsAreComparedByName(t *testing.T) {
	s, setVersion := withSecret(t)
	s.mustRun(t, "shop/stage")
	notes := annotationsOf(t, s)
	if want := `(secret "app/shop/db" "password" "1")`; notes[manifests.SecretsAnnotation] != want {
		t.Fatalf("got %v, want %s", notes, want)
	}
	base := s.Clone()
	for _, c := range []struct {
		name   string
		change func()
		want   string // what is said of the Deployment, "" for nothing
	}{
		{"nothing", func() {}, ""},
		{"another version", func() { setVersion(s.World, 2) }, "version"},
		{"another field", func() { s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"REPLICAS": 4} }, "replicas"},
		{"the text around it", func() {
			s.push("/openshift/template.yml", strings.Replace(shopTemplate, `"${PASSWORD}"`, `"x-${PASSWORD}"`, 1))
		}, "text"},
		{"no secret", func() { delete(s.Target(saastest.File, 0, 0), "secretParameters") }, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			was, heads := s.World, maps.Clone(s.forge.heads[shopURL])
			defer func() { s.World, s.forge.heads[shopURL] = was, heads }()
			s.World = s.Clone()
			c.change()
			if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
				t.Fatal(err, s.said)
			}
			// both sides have another commit
			if tells := s.says("update", "Deployment.apps/shop"); tells != (c.want != "") ||
				s.says("unlooked drift") != (c.want == "text") {
				t.Errorf("got %q", s.said)
			}
			if s.says("value-of") || strings.Contains(s.log.String(), "value-of") ||
				strings.Contains(s.log.String(), "PLACEHOLDER") {
				t.Errorf("a value is told: %q\n%s", s.said, s.log.String())
			}
		})
	}
}

// A run sees a value that changed in the store under the same version, and writes nothing while it is the same.
func TestRunSeesValues(t *testing.T) {
	s, _ := withSecret(t)
	s.mustRun(t, "shop/stage")
	if writes := s.mustRun(t, "shop/stage"); len(writes) > 0 {
		t.Errorf("wrote %q", writes)
	}
	digest := annotationsOf(t, s)[manifests.DigestAnnotation]
	s.change = func(env *integration.Environment) {
		env.Secret = func(context.Context, integration.SecretRef) (string, error) { return "another", nil }
	}
	if writes := s.mustRun(t, "shop/stage"); len(writes) != 1 {
		t.Errorf("wrote %q", writes)
	}
	if now := annotationsOf(t, s)[manifests.DigestAnnotation]; now != digest {
		t.Errorf("the digest depends on the value: %v and %v", digest, now)
	}
}

// An object that does not say which secrets it has was not compared completely: that is said, and what the
// data alone say counts.
func TestObjectsOfBefore(t *testing.T) {
	s, setVersion := withSecret(t)
	s.mustRun(t, "shop/stage")
	s.cluster.Edit(t, "kubectl", deployment, func(o map[string]any) {
		metadata, _ := o["metadata"].(map[string]any)
		annotations, _ := metadata["annotations"].(map[string]any)
		delete(annotations, manifests.SecretsAnnotation)
	})
	base := s.Clone()
	if err := s.dryRun(t, "shop/stage",
		base); s.fails(err) || !s.says("unlooked drift shop/stage", "which secrets it has") || s.says("update") {
		t.Errorf("nothing changed: got %v, %q", err, s.said)
	}
	setVersion(s.World, 2)
	if err := s.dryRun(t, "shop/stage", base); s.fails(err) || !s.says("unlooked drift shop/stage") ||
		!s.says("update", "Deployment.apps/shop", "data") {
		t.Errorf("another version: got %v, %q", err, s.said)
	}
	s.World = base
	if writes := s.mustRun(t, "shop/stage"); len(writes) != 1 {
		t.Errorf("the run wrote %q", writes)
	}
	if err := s.dryRun(t, "shop/stage", base); s.fails(err) || s.says("unlooked") {
		t.Errorf("after a run: got %v, %q", err, s.said)
	}
}

// A template does not say which secrets its object has.
func TestTemplateNamesNoSecrets(t *testing.T) {
	s := newScene(t)
	s.push("/openshift/template.yml", strings.Replace(shopTemplate, "  metadata: {name: shop}\n  spec:\n    replicas",
		"  metadata: {name: shop, annotations: {prcheck/secrets: mine}}\n  spec:\n    replicas", 1))
	s.mustRun(t, "shop/stage")
	if notes := annotationsOf(t, s); notes[manifests.SecretsAnnotation] != nil {
		t.Errorf("got %v", notes)
	}
}

// An object that had secrets on base, or that says so, shows none of its values, wherever they are.
func TestValuesThatAreThereAreNotTold(t *testing.T) {
	const secret = `{name: GREETING, value: "${PASSWORD}"}`
	for name, text := range map[string]string{
		"a literal in its place":   `{name: GREETING, value: hello}`,
		"another place":            `{name: FIRST, value: x}, {name: GREETING, value: hello}`,
		"gone":                     "",
		"a key of another item":    `{name: "${LOG_LEVEL}x", value: hello}`,
		"still there, and another": `{name: AGAIN, value: "${PASSWORD}"}`,
	} {
		for _, isNamed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %v", name, isNamed), func(t *testing.T) {
				s, _ := withSecret(t)
				s.mustRun(t, "shop/stage")
				s.cluster.Edit(t, "kubectl", deployment, func(o map[string]any) {
					metadata, _ := o["metadata"].(map[string]any)
					annotations, _ := metadata["annotations"].(map[string]any)
					if !isNamed {
						delete(annotations, manifests.SecretsAnnotation)
					}
				})
				base := s.Clone()
				s.push("/openshift/template.yml", strings.Replace(shopTemplate, secret, text, 1))
				if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
					t.Fatal(err, s.said)
				}
				if said := fmt.Sprint(s.said, s.log.String()); strings.Contains(said, "value-of") ||
					strings.Contains(said, "PLACEHOLDER") || strings.Contains(said, "update c-1/shop-stage/Deployment") != isNamed {
					t.Error(said)
				}
			})
		}
	}
}

// A target that cannot be rendered without the values of its secrets is not known: that fails nothing, and
// the objects that base has of it are not said to go.
func TestOpaqueTarget(t *testing.T) {
	s := newScene(t)
	s.mustRun(t, "shop/stage")
	base := s.Clone()
	template := s.Data[saastest.File]["resourceTemplates"].([]any)[0].(map[string]any)
	template["provider"] = "helm"
	s.Target(saastest.File, 0, 0)["secretParameters"] = []any{map[string]any{"name": "PASSWORD",
		"secret": map[string]any{"path": "app/shop/db", "field": "password"}}}
	s.helm = func(_ context.Context, _ map[string][]byte, values map[string]any, _, _ string) ([]byte, error) {
		if text := fmt.Sprint(values["PASSWORD"]); len(text) < 12 {
			return nil, errors.New("the password is too short")
		}
		return []byte("{apiVersion: v1, kind: Service, metadata: {name: shop}}"), nil
	}
	template["path"] = "/chart"
	s.push("/chart", "name: shop")
	if err := s.dryRun(t, "shop/stage",
		base); s.fails(err) || !s.says("unlooked all shop/stage", "without the values of its secrets") || s.says("delete") {
		t.Errorf("got %v\n%s\n%s", err, strings.Join(s.said, "\n"), s.log.String())
	}
	if err := s.dryRun(t, "shop/stage", s.Clone()); s.fails(err) || !s.says("unlooked drift shop/stage") ||
		s.says("unlooked all") {
		t.Errorf("a change of something else: got %v, %q", err, s.said)
	}
}

// Whether a text of head is the value that an object has is not told: nothing that is said depends on it.
func TestTextsOfHeadTryNoValue(t *testing.T) {
	for _, isNamed := range []bool{true, false} {
		var seen []string
		for _, text := range []string{"value-of-app/shop/db", "something else"} {
			s, _ := withSecret(t)
			s.mustRun(t, "shop/stage")
			s.cluster.Edit(t, "kubectl", deployment, func(o map[string]any) {
				metadata, _ := o["metadata"].(map[string]any)
				annotations, _ := metadata["annotations"].(map[string]any)
				if !isNamed {
					delete(annotations, manifests.SecretsAnnotation)
				}
			})
			base := s.Clone()
			delete(s.Target(saastest.File, 0, 0), "secretParameters")
			s.Target(saastest.File, 0, 0)["parameters"] = map[string]any{"PASSWORD": text}
			if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
				t.Fatal(err, s.said)
			}
			seen = append(seen, strings.ReplaceAll(fmt.Sprint(s.said, s.log.String()), text, "TEXT"))
		}
		if seen[0] != seen[1] {
			t.Errorf("named %v: got\n%s\nand\n%s", isNamed, seen[0], seen[1])
		}
	}
}

// A text of head that is written as the name of a secret is no secret: it is neither taken for the manifest that
// was applied, nor compared with the value that is there.
func TestTextsThatLookLikeNames(t *testing.T) {
	twice := strings.Replace(shopTemplate, `{name: GREETING, value: "${PASSWORD}"}`,
		`{name: GREETING, value: "${PASSWORD}"}, {name: AGAIN, value: "(${PASSWORD}"}`, 1)
	const name = `(secret \"app/shop/db\" \"password\" \"1\")`
	for _, head := range []string{
		strings.Replace(twice, `{name: GREETING, value: "${PASSWORD}"}`, `{name: GREETING, value: "`+name+`"}`, 1),
		strings.Replace(twice, `{name: AGAIN, value: "(${PASSWORD}"}`, `{name: AGAIN, value: "(`+name+`"}`, 1),
		strings.Replace(twice, `{name: AGAIN, value: "(${PASSWORD}"}`, `{name: AGAIN, value: "`+name+`"}`, 1),
	} {
		s, _ := withSecret(t)
		s.push("/openshift/template.yml", twice)
		s.Target(saastest.File, 0, 0)["ref"] = s.forge.heads[shopURL]["main"]
		s.mustRun(t, "shop/stage")
		base := s.Clone()
		s.push("/openshift/template.yml", head)
		s.Target(saastest.File, 0, 0)["ref"] = s.forge.heads[shopURL]["main"]
		if err := s.dryRun(t, "shop/stage", base); s.fails(err) {
			t.Fatal(err, s.said)
		}
		if said := fmt.Sprint(s.said, s.log.String()); strings.Contains(said, "value-of") ||
			!s.says("SAAS_CHANGE", "/value: ***") || !s.says("update", "Deployment") {
			t.Error(said)
		}
	}
}

// A place in a list beside that of a secret is told without its value: somebody may have moved the items.
func TestPlacesBesideSecrets(t *testing.T) {
	b := body{Object: map[string]any{"spec": map[string]any{"args": []any{"a", "b"}, "replicas": 1},
		"x": []any{map[string]any{"image": "i"}}}, Masked: []string{"/spec/args/0", "/x/0/args/1"}}
	for path, want := range map[string]string{"/spec/args/1": hidden, "/spec/args/0": hidden, "/spec/args": hidden,
		"/spec/replicas": "old", "/x/0/image": "old", "/x/1/image": hidden} {
		if got := b.masked(reconcile.Change{Path: path, Old: "old", New: "new"}, false); got.Old != want {
			t.Errorf("%s: got %+v, want %s", path, got, want)
		}
	}
}
