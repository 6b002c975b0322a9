package manifests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
)

func TestStatefulSets(t *testing.T) {
	const claim = "/spec/volumeClaimTemplates/0/spec/resources/requests/storage"
	tests := []struct {
		name, field string
		value       any
		action, has string // has: a part of the message or the warning
	}{
		{"replicas", "/spec/replicas", 2.0, "apply", ""},
		{"the strategy", "/spec/updateStrategy", map[string]any{"type": "OnDelete"}, "apply", ""},
		{"how pods start", "/spec/podManagementPolicy", "Parallel", "recreate", ""},
		{"a claim grows", claim, "2Gi", "recreate", ""},
		{"a claim is written otherwise", claim, "1024Mi", "apply", ""},
		{"a claim shrinks", claim, "500Mi", "error", `the claim "cache" would shrink from 1Gi to 500Mi`},
		{"another class", "/spec/volumeClaimTemplates/0/spec/storageClassName", "gp3", "recreate",
			`keep the storage class "gp2"`},
		{"the selector", "/spec/selector/matchLabels", map[string]any{"app": "b"}, "error", "migrate_selector: true"},
		{"a label", "/metadata/labels/x", "y", "apply", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := manifest(t, manifests.StatefulSet)
			is := lived(t, want)
			setPointer(t, want, tt.field, func(any) any { return tt.value })
			d, err := manifests.Diff(want, read(t, is, options), options)
			if err != nil {
				t.Fatal(err)
			}
			said := d.Mistake.Message + strings.Join(d.Warnings, "")
			if got := actionOf(d); got != tt.action || !strings.Contains(said, tt.has) || tt.has == "" && said != "" {
				t.Errorf("got %s, %q, want %s, %q", got, said, tt.action, tt.has)
			}
		})
	}
}

// A field that nobody sets any more and that cannot be changed is one that differs.
func TestRemovedImmutableField(t *testing.T) {
	want := manifest(t, manifests.StatefulSet)
	want["spec"].(map[string]any)["podManagementPolicy"] = "Parallel"
	is := read(t, lived(t, want), options)
	delete(want["spec"].(map[string]any), "podManagementPolicy")
	d, err := manifests.Diff(want, is, options)
	if err != nil || !d.Replace {
		t.Errorf("got %+v, %v, want a replacement", d, err)
	}
}

// The owner of a default loses it without any change of the StatefulSet: the server sets it again.
func TestRemovedDefault(t *testing.T) {
	want := manifest(t, manifests.StatefulSet)
	live := lived(t, want)
	own(t, live, managed{"kubectl-client-side-apply", "Update", "",
		json.RawMessage(`{"f:spec":{"f:podManagementPolicy":{}}}`)})
	d, err := manifests.Diff(want, read(t, live, options), options)
	if err != nil || d.Replace || len(d.Changes) == 0 {
		t.Errorf("got %+v, %v, want an update", d, err)
	}
}

func TestAdapt(t *testing.T) {
	selected := func(o manifests.Object) (out []string) {
		for _, at := range [][]string{{"metadata", "labels"}, {"spec", "selector", "matchLabels"},
			{"spec", "template", "metadata", "labels"}} {
			var v any = map[string]any(o)
			for _, name := range at {
				v = v.(map[string]any)[name]
			}
			if _, has := v.(map[string]any)[manifests.InstanceLabel]; has {
				out = append(out, strings.Join(at, "."))
			}
		}
		return out
	}
	want := manifest(t, manifests.Deployment)
	old := read(t, lived(t, want), options)
	for _, at := range [][]string{{"metadata", "labels"}, {"spec", "selector", "matchLabels"},
		{"spec", "template", "metadata", "labels"}} {
		setAt(want, append(at, manifests.InstanceLabel), "a")
	}
	if got := selected(manifests.Adapt(want, old, options)); got != nil {
		t.Errorf("the label of instances is left in %q", got)
	}
	if d, err := manifests.Diff(want, old, options); err != nil || len(d.Changes) > 0 || d.Replace {
		t.Errorf("got %+v, %v, want no difference", d, err)
	}
	migrate := options
	migrate.MigrateSelector = true
	if d, err := manifests.Diff(want, old, migrate); err != nil || !d.Replace {
		t.Errorf("got %+v, %v, want a replacement", d, err)
	}
	for name, is := range map[string]*manifests.Live{"new": nil, "with the label": read(t, lived(t, want), options)} {
		if got := selected(manifests.Adapt(want, is, options)); len(got) != 3 {
			t.Errorf("%s: the label of instances is only in %q", name, got)
		}
	}
}

func TestRead(t *testing.T) {
	tests := []struct {
		name, raw string
		kind      manifests.Kind
		err       string
	}{
		{"no JSON", `{`, manifests.Service, "reading a Service: unexpected EOF"},
		{"null", `null`, manifests.Service, "reading a Service: it is null"},
		{"no uid", `{"kind": "Service", "metadata": {"name": "a", "resourceVersion": "1"}}`, manifests.Service,
			"it has no name, uid or resourceVersion"},
		{"no version", `{"kind": "Service", "metadata": {"name": "a", "uid": "1"}}`, manifests.Service,
			"it has no name, uid or resourceVersion"},
		{"another kind", `{"kind": "Service", "metadata": {"name": "a", "uid": "1", "resourceVersion": "1"}}`,
			manifests.Deployment, `it is a "Service"`},
	}
	for _, tt := range tests {
		if _, err := manifests.Read(tt.kind, []byte(tt.raw), options); err == nil || !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.err)
		}
	}
}

// Only what we set fields of and nothing owns may be deleted, whatever its labels say.
func TestDeletable(t *testing.T) {
	tests := []struct {
		name   string
		change func(meta map[string]any)
		want   bool
	}{
		{"applied by us", func(map[string]any) {}, true},
		{"a copied mark", func(meta map[string]any) { meta["managedFields"] = nil }, false},
		{"of another field manager", func(meta map[string]any) {
			meta["managedFields"].([]any)[0].(map[string]any)["manager"] = "kubectl"
		}, false},
		{"with an owner", func(meta map[string]any) { meta["ownerReferences"] = []any{map[string]any{"uid": "x"}} }, false},
	}
	for _, tt := range tests {
		o := lived(t, manifest(t, manifests.Deployment))
		meta := o["metadata"].(map[string]any)
		meta["annotations"].(map[string]any)["qontract.integration"] = "i"
		tt.change(meta)
		is := read(t, o, options)
		if got := is.Deletable(); got != tt.want || is.Thing("k").Mark.Integration != "i" {
			t.Errorf("%s: got %t with %+v, want %t", tt.name, got, is.Thing("k").Mark, tt.want)
		}
	}
}

// Fields of managers that cannot be read are an error and no agreement.
func TestUnreadableFields(t *testing.T) {
	want := manifest(t, manifests.Deployment)
	o := lived(t, want)
	o["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)["fieldsV1"] = map[string]any{"x": 1}
	container(want)["image"] = "other"
	if d, err := manifests.Diff(want, read(t, o, options), options); err == nil {
		t.Errorf("got %+v, want an error", d)
	}
}
