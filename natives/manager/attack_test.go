package manager

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/kubetest"
)

// addFillers adds integrations, so that the gate on deletions lets a few go.
func (s *scene) addFillers(n int) {
	for i := range n {
		name := fmt.Sprintf("filler-%d", i)
		s.copyOf("/integrations/integrations-manager.yml", "/integrations/"+name+".yml", object{"name": name})
	}
}

// breakEntry gives an entry a mistake, so that it cannot be rendered.
func (s *scene) breakEntry(file string) {
	s.entry(file, 0)["spec"].(object)["resources"] = object{"requests": object{"cpu": "a b", "memory": "1Mi"},
		"limits": object{"memory": "1Mi"}}
}

// The objects of an integration that cannot be rendered stay, whatever its name is and whatever
// others did to its labels and annotations.
func TestBrokenStays(t *testing.T) {
	long := strings.Repeat("long-", 10) + "name"
	for name, c := range map[string]struct {
		integration string
		edit        func(meta map[string]any)
	}{
		"usual":     {integration: "short"},
		"long name": {integration: long},
		"odd name":  {integration: "Odd_Name"},
		"another label": {integration: "short", edit: func(meta map[string]any) {
			meta["labels"].(map[string]any)["app"] = "mine"
		}},
		"no annotation": {integration: long, edit: dropShare},
		"neither annotation nor label": {integration: "short", edit: func(meta map[string]any) {
			dropShare(meta)
			delete(meta["labels"].(map[string]any), "app")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.addFillers(8)
			s.copyOf(terraformFile, "/integrations/x.yml", object{"name": c.integration})
			s.mustRun(t)
			before := s.objects()
			if c.edit != nil {
				for _, p := range s.cluster.Paths() {
					if o := s.cluster.Object(p); belongs(o, c.integration) {
						s.cluster.Edit(t, "kubectl-label", p, func(o map[string]any) { c.edit(o["metadata"].(map[string]any)) })
					}
				}
			}
			s.breakEntry("/integrations/x.yml")
			if w, err := s.run(t); err != nil || len(w) > 0 || !s.says("error RENDER", "is no quantity") {
				t.Errorf("got %v, wrote %q, told %q", err, w, s.said)
			}
			if after := s.objects(); !slices.Equal(after, before) {
				t.Errorf("got %q, want %q", after, before)
			}
		})
	}
}

func dropShare(meta map[string]any) { delete(meta["annotations"].(map[string]any), shareAnnotation) }

// bareTemplate has no variables that say what share of the work a process does.
const bareTemplate = `
spec:
  containers:
  - name: int
    image: ${IMAGE_REFERENCE}
    args: [--name, "${INTEGRATION_NAME}", --shards, "${SHARDS}", --key, "${SHARD_KEY}"]
`

// useTemplate lets the manager make pods from a template.
func (s *scene) useTemplate(text string) {
	s.Resources["/pod.yml"] = object{"path": "/pod.yml", "content": text, "sha256sum": "", "backrefs": []any{}}
	s.own = "template: /pod.yml\n" + s.own
}

// A canary is waited for whatever the template of pods looks like.
func TestCanaryOfTemplate(t *testing.T) {
	s := newScene(t)
	s.own = "canary: {terraform-resources: [staging]}\nwait: 2s"
	s.useTemplate(bareTemplate)
	s.cluster.Fate = func(map[string]any) kubetest.Fate { return kubetest.Crashing }
	stop := s.play(func() {})
	defer stop()
	if _, err := s.run(t); err == nil || s.cluster.Object(path("Deployment", terraform("staging"))) == nil {
		t.Fatalf("got %v, want the canary to fail; told %q", err, s.said)
	}
	if s.cluster.Object(path("Deployment", terraform("production"))) != nil {
		t.Error("its sibling was written")
	}
}

// If the number of static shards changes, the old processes end before new ones begin, also if
// nothing in the pods says which share they do, or if extraEnv says another.
func TestDivisionOfOwnPods(t *testing.T) {
	for name, prepare := range map[string]func(*scene){
		"template": func(s *scene) { s.useTemplate(bareTemplate) },
		"extraEnv": func(s *scene) {
			s.entry(terraformFile, 0)["spec"].(object)["extraEnv"] = []any{
				object{"name": "SHARDS", "value": "9"}, object{"name": "INTEGRATION_NAME", "value": "another"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			prepare(s)
			entry := s.entry(terraformFile, 0)
			entry["sharding"] = object{"strategy": "static", "shards": 2}
			stop := s.play(func() {})
			defer stop()
			s.mustRun(t)
			entry["sharding"] = object{"strategy": "static", "shards": 3}
			writes := s.mustRun(t)
			for i := range 2 { // scaled down, and written
				old := "patch " + terraform(fmt.Sprint(i))
				if n := len(slices.DeleteFunc(slices.Clone(writes), func(w string) bool { return w != old })); n < 2 {
					t.Errorf("%s did not end before the new ones: %q", old, writes)
				}
			}
			if w := s.mustRun(t); len(w) > 0 {
				t.Errorf("the next run wrote %q", w)
			}
		})
	}
}

// A name that is none, or that would lead to another namespace, is one mistake at its datafile.
// Nothing is sent.
func TestNamespaceNames(t *testing.T) {
	for _, name := range []string{"a/reconcile-prod", "../reconcile-prod", "Reconcile", "a b", "a.b",
		strings.Repeat("n", 64), "ü", ".", "-a", "a?b#c"} {
		s := newScene(t)
		s.at("/namespaces/reconcile-prod.yml")["name"] = name
		_, _ = s.run(t)
		if !s.says("error NAMESPACE /namespaces/reconcile-prod.yml/name", "can be no namespace") || len(s.said) != 1 {
			t.Errorf("%q: told %q", name, s.said)
		}
		if sent := s.cluster.Requests(); len(sent) > 0 {
			t.Errorf("%q: sent %v", name, sent)
		}
	}
}

// An object that somebody made in the place of one of ours is not touched, and is forgotten when
// no entry names it any more.
func TestMadeByOthers(t *testing.T) {
	s := newScene(t)
	s.mustRun(t)
	p := path("Deployment", terraform("production"))
	s.cluster.Remove(p)
	s.cluster.Edit(t, "kubectl-create", p, func(o map[string]any) {
		labels := map[string]any{"a": "b"}
		pod := map[string]any{"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "x", "image": "y"}}}}
		o["spec"] = map[string]any{"replicas": 1, "selector": map[string]any{"matchLabels": labels}, "template": pod}
	})
	for _, s.own = range []string{"", "migrate_selector: true"} {
		if w, err := s.run(t); !s.fails(err) || len(w) > 0 {
			t.Errorf("%q: got %v, wrote %q, told %q", s.own, err, w, s.said)
		}
	}
	delete(s.Data, "/accounts/production.yml")
	for range 2 {
		if w := s.mustRun(t); len(w) > 0 || s.cluster.Object(p) == nil {
			t.Errorf("wrote %q", w)
		}
	}
}
