package namespaces

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/kube"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// A world is one cluster, c1, with what the data say about it.
type world struct {
	cluster  testCluster
	settings settings.Integration
	tokens   []string // paths of the secrets that were used
	said     []string
	log      bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return &world{cluster: newCluster(t), settings: settings.Integration{Name: "openshift-namespaces"}}
}

// entryOf is an entry of the data on cluster c1; more are further fields as JSON.
func entryOf(name, more string) string {
	if more != "" {
		more = "," + more
	}
	return fmt.Sprintf(`{"path":"/ns/%s.yml","name":%q,"cluster":{"name":"c1","serverUrl":"https://c1","automationToken":{"path":"t/c1","field":"token"},"clusterAdminAutomationToken":{"path":"t/admin","field":"token"}}%s}`, name, name, more)
}

func answer(entries ...string) integration.QueryFunc {
	return func(context.Context, string, map[string]any) ([]byte, error) {
		return []byte(`{"namespaces":[` + strings.Join(entries, ",") + `]}`), nil
	}
}

func (w *world) env(base, head integration.QueryFunc) integration.Environment {
	w.said = nil
	w.log.Reset()
	return integration.Environment{
		Integration: "openshift-namespaces", Settings: w.settings, Query: head, Base: base, Log: &w.log, Workers: 3,
		Now: func() time.Time { return time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC) },
		Cluster: func(_ context.Context, ref integration.ClusterRef) (integration.ClusterReader, error) {
			w.tokens = append(w.tokens, ref.Token.Path)
			return kube.Open(w.cluster.access(ref))
		},
		Report: func(f integration.Remark) {
			text := fmt.Sprintf("%s %s %s", f.Severity, f.Code, f.Message)
			if f.Effect != nil {
				text = fmt.Sprintf("%s %s", f.Effect.Kind, f.Effect.Subject)
			}
			w.said = append(w.said, text)
		},
	}
}

func (w *world) dryRun(t *testing.T, base, head integration.QueryFunc) error {
	t.Helper()
	return New().DryRun(t.Context(), w.env(base, head))
}

func (w *world) run(t *testing.T, head integration.QueryFunc) error {
	t.Helper()
	return New().Run(t.Context(), w.env(nil, head), w.actors())
}

func (w *world) actors() integration.Actors {
	return integration.Actors{Cluster: func(_ context.Context,
		ref integration.ClusterRef) (integration.ClusterWriter, error) {
		w.tokens = append(w.tokens, ref.Token.Path)
		return writer.Open(w.cluster.access(ref))
	}}
}

// Namespaces are made, changed and deleted as the data say, and then nothing is left to do.
func TestFlow(t *testing.T) {
	w := newWorld(t)
	w.cluster.put("other", nil, nil)
	for _, step := range []struct {
		name    string
		entries []string
		effects string
		calls   string // that write
	}{
		{"made", []string{entryOf("a", `"labels":"{\"team\":\"x\",\"tier\":\"1\"}"`), entryOf("b", ""),
			entryOf("x", `"managedByExternal":true`)}, "create c1/a, create c1/b", "create a, create b"},
		{"the same", []string{entryOf("a", `"labels":{"team":"x","tier":"1"}`), entryOf("b", "")}, "", ""},
		{"a label differs, another goes", []string{entryOf("a", `"labels":{"team":"y"}`), entryOf("b", "")}, "change c1/a",
			"apply a"},
		{"deleted", []string{entryOf("a", `"labels":{"team":"y"}`), entryOf("b", `"delete":true`)}, "delete c1/b",
			"delete b"},
		{"the entry can go", []string{entryOf("a", `"labels":{"team":"y"}`), entryOf("b", `"delete":true`)},
			"note FINISHED c1/b: it is deleted: the entry can be removed", ""},
		{"without the entry", []string{entryOf("a", `"labels":{"team":"y"}`)}, "", ""},
	} {
		if err := w.dryRun(t, nil, answer(step.entries...)); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if got := strings.Join(w.said, ", "); got != step.effects {
			t.Errorf("%s: the dry run says %q, want %q", step.name, got, step.effects)
		}
		if slices.ContainsFunc(w.cluster.Requests(), func(r kubetest.Request) bool { return r.Verb != "list" }) {
			t.Errorf("%s: the dry run calls %v", step.name, w.cluster.Requests())
		}
		w.cluster.Forget()
		if err := w.run(t, answer(step.entries...)); err != nil {
			t.Fatalf("%s: %v\n%s", step.name, err, &w.log)
		}
		if got := strings.Join(w.cluster.writes(), ", "); got != step.calls {
			t.Errorf("%s: the run calls %q, want %q", step.name, got, step.calls)
		}
		w.cluster.Forget()
	}
	a := w.cluster.metadata("a")
	want := reconcile.Mark{Integration: "openshift-namespaces", Caller: "default"}
	if a.Labels["team"] != "y" || a.Labels["tier"] != "" || reconcile.MarkOfAnnotations(a.Annotations) != want {
		t.Errorf("a is %v %v", a.Labels, a.Annotations)
	}
	if got := w.cluster.names(); !slices.Equal(got, []string{"a", "other"}) {
		t.Errorf("the cluster has %q", got)
	}
}

// A namespace of somebody else is never touched.
func TestOwners(t *testing.T) {
	mark := func(caller string) map[string]string {
		return reconcile.Mark{Integration: "openshift-namespaces", Caller: caller}.Annotations()
	}
	other := reconcile.Mark{Integration: "team-spaces", Caller: "x"}.Annotations()
	for _, c := range []struct {
		name        string
		annotations map[string]string
		settings    string
		adopt       []string
		more        string
		said, calls string
	}{
		{"no mark", nil, "", nil, "", "error NOT_ADOPTED c1/a: it belongs to nobody: adopt it first", ""},
		{"no mark, deleted", nil, "", nil, `"delete":true`, "error NOT_ADOPTED c1/a: it belongs to nobody: adopt it first",
			""},
		{"no mark, adopted", nil, "", []string{"c1/*"}, "", "change c1/a, warning  c1/a: the settings allow to adopt it",
			"apply a"},
		{"another integration", other, "", nil, `"labels":{"x":"y"}`, "", ""},
		{"another instance that may live", mark("south"), "", nil, "",
			`error OWNED_BY_OTHER c1/a: it belongs to caller "south"`, ""},
		{"another living instance", mark("south"), "instance: north\ninstances: [north, south]", nil, `"delete":true`,
			`error OWNED_BY_OTHER c1/a: it belongs to caller "south"`, ""},
		{"an instance that is gone", mark("south"), "instance: north\ninstances: [north]", nil, "",
			`change c1/a, warning  c1/a: caller "south" is gone: it is taken over`, "apply a"},
		{"an instance that is gone, deleted", mark("south"), "instance: north\ninstances: [north]", nil, `"delete":true`,
			"change c1/a", "apply a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.settings = settingsOf(t, c.settings)
			w.settings.Adopt = c.adopt
			w.cluster.put("a", nil, c.annotations)
			head := answer(entryOf("a", c.more))
			if err := w.dryRun(t, nil, head); err != nil {
				t.Fatal(err)
			}
			slices.Sort(w.said)
			if got := strings.Join(w.said, ", "); got != c.said {
				t.Errorf("the dry run says %q, want %q", got, c.said)
			}
			w.cluster.Forget()
			_ = w.run(t, head) // what fails is said in the findings
			if got := strings.Join(w.cluster.writes(), ", "); got != c.calls {
				t.Errorf("the run calls %q, want %q", got, c.calls)
			}
		})
	}
}

// settingsOf returns settings with this text as those of the native.
func settingsOf(t *testing.T, text string) settings.Integration {
	t.Helper()
	out := "version: 1\nintegrations:\n  openshift-namespaces:\n    native: namespaces\n"
	if text != "" {
		out += "    settings:\n      " + strings.ReplaceAll(text, "\n", "\n      ") + "\n"
	}
	s, err := settings.Read("prcheck.yaml", []byte(out))
	if err != nil {
		t.Fatal(err)
	}
	return s.For("openshift-namespaces")
}

// A label that somebody else set to another value is told by the dry run already, with its manager:
// the server would refuse the run. With our value it is no conflict.
func TestForeignLabel(t *testing.T) {
	w := newWorld(t)
	head := answer(entryOf("a", `"labels":{"team":"x","tier":"1"}`))
	if err := w.run(t, head); err != nil {
		t.Fatal(err)
	}
	label := func(value string) {
		w.cluster.Kubectl(t, "label", folder+"a", fmt.Sprintf(`{"metadata": {"labels": {"team": %q, "of": "kubectl"}}}`,
			value))
		w.cluster.Forget()
	}
	label("y")
	const want = `error FIELD_CONFLICT c1/a: kubectl-label owns the label team ("y" there, "x" wanted): undo that change, or take it over into the data`
	if err := w.dryRun(t, nil, head); err != nil || !slices.Equal(w.said, []string{want}) {
		t.Errorf("the dry run says %q, %v", w.said, err)
	}
	if err := w.run(t, head); len(w.cluster.writes()) > 0 || !slices.Contains(w.said, want) {
		t.Errorf("the run says %q, %v and calls %q", w.said, err, w.cluster.writes())
	}
	label("x")
	if err := w.run(t, head); err != nil || len(w.said) > 0 || len(w.cluster.writes()) > 0 {
		t.Errorf("with our value: %q, %v, %q", w.said, err, w.cluster.writes())
	}
	if err := w.dryRun(t, nil, answer(entryOf("a", `"labels":{"team":"z","tier":"2"}`))); err != nil || len(w.said) != 1 ||
		!strings.Contains(w.said[0], "kubectl-label owns the label team") {
		t.Errorf("another value of the data: %q, %v", w.said, err)
	}
}

// The same holds for annotations.
func TestForeignAnnotation(t *testing.T) {
	w := newWorld(t)
	w.settings = settingsOf(t, "annotations: true")
	head := answer(entryOf("a", `"annotations":{"note":"x"}`))
	if err := w.run(t, head); err != nil {
		t.Fatal(err)
	}
	w.cluster.Kubectl(t, "annotate", folder+"a", `{"metadata": {"annotations": {"note": "y"}}}`)
	if err := w.dryRun(t, nil, head); err != nil || len(w.said) != 1 ||
		!strings.Contains(w.said[0],
			`FIELD_CONFLICT c1/a: kubectl-annotate owns the annotation note ("y" there, "x" wanted)`) {
		t.Errorf("the dry run says %q, %v", w.said, err)
	}
}

// A change that removes an entry is told that nobody deletes the namespace then.
func TestRemovedEntry(t *testing.T) {
	w := newWorld(t)
	w.cluster.put("a", nil, reconcile.Mark{Integration: "openshift-namespaces", Caller: "default"}.Annotations())
	if err := w.dryRun(t, answer(entryOf("a", ""), entryOf("b", "")), answer(entryOf("b", ""))); err != nil {
		t.Fatal(err)
	}
	want := "warning ORPHAN c1/a: this change removes its entry, and then nobody deletes it: say delete: true first"
	if !slices.Contains(w.said, want) {
		t.Errorf("got %q, want %q", w.said, want)
	}
}

// A change that alters the address of a cluster sends no token there.
func TestChangedAddress(t *testing.T) {
	w := newWorld(t)
	evil := strings.Replace(entryOf("a", ""), "https://c1", "https://evil", 1)
	if err := w.dryRun(t, answer(entryOf("a", "")), answer(evil)); err != nil || len(w.tokens) > 0 {
		t.Errorf("got %v, and the tokens %q were used", err, w.tokens)
	}
	if !slices.ContainsFunc(w.said, func(s string) bool { return strings.HasPrefix(s, "note NEW_TARGET c1: ") }) {
		t.Errorf("got %q", w.said)
	}
}

// Clusters that are left out are told.
func TestLeftOut(t *testing.T) {
	for from, to := range map[string]string{
		`"serverUrl"`: `"disable":{"integrations":["openshift-namespaces"]},"serverUrl"`,
		`"automationToken":{"path":"t/c1","field":"token"},"clusterAdminAutomationToken":{"path":"t/admin","field":"token"}`: `"jumpHost":null`,
		`"name":"c1"`: `"name":"c1","jumpHost":{"hostname":"h"}`,
	} {
		w := newWorld(t)
		if err := w.dryRun(t, nil, answer(strings.Replace(entryOf("a", ""), from, to, 1))); err != nil || len(w.said) != 1 ||
			!strings.HasPrefix(w.said[0], "note LEFT_OUT c1: 1 entries are left out: ") || len(w.cluster.Requests()) > 0 {
			t.Errorf("%s: got %q, %v", to, w.said, err)
		}
	}
}

// The privileged token is used for the entries that ask for it, and for no other.
func TestTokens(t *testing.T) {
	w := newWorld(t)
	if err := w.run(t, answer(entryOf("a", ""), entryOf("b", `"clusterAdmin":true`))); err != nil {
		t.Fatal(err)
	}
	slices.Sort(w.tokens)
	if want := []string{"t/admin", "t/admin", "t/c1", "t/c1"}; !slices.Equal(w.tokens, want) {
		t.Errorf("got %q, want %q", w.tokens, want)
	}
}
