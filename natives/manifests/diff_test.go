package manifests_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// What was applied does not differ, of no kind, whatever the server and others added.
func TestAppliedDoesNotDiffer(t *testing.T) {
	for _, kind := range kinds {
		want := manifest(t, kind)
		o := lived(t, want)
		o["status"] = map[string]any{"replicas": 1}
		o["metadata"].(map[string]any)["annotations"].(map[string]any)["note"] = "of somebody"
		own(t, o,
			managed{"kubectl-annotate", "Update", "", json.RawMessage(`{"f:metadata":{"f:annotations":{"f:note":{}}}}`)})
		got, err := manifests.Diff(want, read(t, o, options), options)
		if err != nil || !reflect.DeepEqual(got, reconcile.Difference{}) {
			t.Errorf("%s: got %+v, %v, want no difference", kind, got, err)
		}
	}
}

func TestDiff(t *testing.T) {
	const ours = "prcheck-integrations-manager"
	const paused = "somebody scaled it: .spec.replicas (0 there, 1 wanted) was set through /scale, as kubectl scale and autoscalers do, " +
		"and has no manager since then: scale it back by hand when it may run again"
	type object = manifests.Object
	spec := func(o object) map[string]any { return o["spec"].(map[string]any) }
	meta := func(o object) map[string]any { return o["metadata"].(map[string]any) }
	env := func(o object, i int) map[string]any { return container(o)["env"].([]any)[i].(map[string]any) }
	tests := []struct {
		name string
		want func(o object) // changes the manifest after it was applied
		live func(o object) // changes the live object
		opts func(o *manifests.Options)
		out  string // changes "path old → new", then mistake, replace, warnings
	}{
		{name: "another image", want: func(o object) { container(o)["image"] = "quay.io/x:2" },
			out: "/spec/template/spec/containers/0/image quay.io/x:1 → quay.io/x:2"},
		{name: "a new variable", want: func(o object) {
			container(o)["env"] = append(container(o)["env"].([]any), map[string]any{"name": "NEW", "value": "x"})
		}, out: `/spec/template/spec/containers/0/env/2  → {"name":"NEW","value":"x"}`},
		{name: "a new secret variable is masked", want: func(o object) {
			container(o)["env"] = append(container(o)["env"].([]any), map[string]any{"name": "API_TOKEN", "value": "hunter2"})
		}, out: `/spec/template/spec/containers/0/env/2  → {"name":"API_TOKEN","value":"***"}`},
		{name: "the value of a secret variable is masked", want: func(o object) {
			env(o, 0)["name"], env(o, 0)["value"] = "DB_PASSWORD", "new"
		},
			live: func(o object) { env(o, 0)["name"], env(o, 0)["value"] = "DB_PASSWORD", "old" },
			out:  "/spec/template/spec/containers/0/env/0/value *** → ***"},
		{name: "a password in an address is masked", want: func(o object) { env(o, 0)["value"] = "https://u:hunter2@host/x" },
			out: "/spec/template/spec/containers/0/env/0/value 1 → https://***@host/x"},
		{name: "other order of variables", live: func(o object) { slices.Reverse(container(o)["env"].([]any)) },
			out: `/spec/template/spec/containers/0/env ["REF","X"] → ["X","REF"]`},
		{name: "other order of variables in a list that others own", live: func(o object) {
			slices.Reverse(container(o)["env"].([]any))
			own(t, o,
				managed{"edit", "Update", "",
					json.RawMessage(
						`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"int\"}":{"f:env":{".":{}}}}}}}}`)})
		}, out: `/spec/template/spec/containers/0/env ["REF","X"] → ["X","REF"]`},
		{name: "a variable of others between ours", live: func(o object) {
			container(o)["env"] = slices.Insert(container(o)["env"].([]any), 1, any(map[string]any{"name": "Z"}))
		}},
		{name: "other order of volumes", want: func(o object) {
			podOf(o)["volumes"] = append(podOf(o)["volumes"].([]any), map[string]any{"name": "b", "emptyDir": map[string]any{}})
		}, live: func(o object) {
			podOf(o)["volumes"] = []any{map[string]any{"name": "b", "emptyDir": map[string]any{}},
				podOf(o)["volumes"].([]any)[0]}
		}, out: "/metadata/annotations/prcheck~1manifest-sha256"},
		{name: "other order of arguments", live: func(o object) { slices.Reverse(container(o)["args"].([]any)) },
			out: "/spec/template/spec/containers/0/args/0 b → a\n/spec/template/spec/containers/0/args/1 a → b"},
		{name: "fewer arguments", want: func(o object) { container(o)["args"] = []any{"a"} },
			out: `/spec/template/spec/containers/0/args ["a","b"] → ["a"]`},
		{name: "a container of others", live: func(o object) {
			podOf(o)["containers"] = append(podOf(o)["containers"].([]any), map[string]any{"name": "sidecar", "image": "y"})
		}},
		{name: "another volume in its place", live: func(o object) {
			podOf(o)["volumes"] = []any{map[string]any{"name": "tmp", "secret": map[string]any{"secretName": "x"}}}
		}, out: "/spec/template/spec/volumes/0/emptyDir  → {}"},
		{name: "a removed variable", want: func(o object) { container(o)["env"] = container(o)["env"].([]any)[:1] },
			out: `/spec/template/spec/containers/0/env/1 {"name":"REF","valueFrom":{"secretKeyRef":{"key":"k","name":"s"}}} → `},
		{name: "a removed label", want: func(o object) { delete(meta(o)["labels"].(map[string]any), "app") },
			out: "/metadata/labels/app a → "},
		{name: "a removed limit", want: func(o object) { delete(container(o)["resources"].(map[string]any), "limits") },
			out: `/spec/template/spec/containers/0/resources/limits {"memory":"2Gi"} → `},
		{name: "a removed field that others have as well", want: func(o object) {
			delete(meta(o)["labels"].(map[string]any), "app")
		},
			live: func(o object) {
				own(t, o, managed{"x", "Apply", "", json.RawMessage(`{"f:metadata":{"f:labels":{"f:app":{}}}}`)})
			}, out: "/metadata/annotations/prcheck~1manifest-sha256"},
		{name: "never applied by us", live: func(o object) {
			delete(meta(o), "annotations")
			delete(meta(o), "managedFields")
		},
			out: "/metadata/annotations/prcheck~1manifest-sha256"},
		{name: "fields of kubectl", live: func(o object) {
			own(t, o, managed{"kubectl-client-side-apply", "Update", "",
				json.RawMessage(`{"f:spec":{"f:replicas":{},"f:paused":{}}}`)})
			spec(o)["paused"] = true
		}, out: "/spec/paused true → \n/metadata/managedFields updated by kubectl-client-side-apply → applied by " + ours},
		{name: "an update of our own", live: func(o object) {
			spec(o)["replicas"] = 0
			own(t, o, managed{ours, "Update", "", json.RawMessage(`{"f:spec":{"f:replicas":{}}}`)})
		}, out: "/spec/replicas 0 → 1\n/metadata/managedFields updated by " + ours + " → applied by " + ours},
		{name: "scaled by somebody", live: func(o object) {
			spec(o)["replicas"] = 3
			lose(t, o, "f:spec", "f:replicas")
			own(t, o, managed{"kubectl", "Update", "scale", json.RawMessage(`{"f:spec":{"f:replicas":{}}}`)})
		}, out: "/spec/replicas 3 → 1\nFIELD_CONFLICT kubectl (through /scale) owns .spec.replicas (3 there, 1 wanted): " +
			"undo that change, or name this manager in override_managers of the settings"},
		{name: "scaled by a manager that is overridden", opts: func(o *manifests.Options) {
			o.Override = []string{"kubectl"}
		}, live: func(o object) {
			spec(o)["replicas"] = 0
			lose(t, o, "f:spec", "f:replicas")
			own(t, o, managed{"kubectl", "Update", "scale", json.RawMessage(`{"f:spec":{"f:replicas":{}}}`)})
		}, out: "/spec/replicas 0 → 1"},
		{name: "paused without a manager", live: func(o object) {
			spec(o)["replicas"] = 0
			lose(t, o, "f:spec", "f:replicas")
		},
			out: "/spec/replicas 0 → 1\nFIELD_CONFLICT " + paused},
		{name: "paused without a manager, and another image", live: func(o object) {
			spec(o)["replicas"] = 0
			lose(t, o, "f:spec", "f:replicas")
		},
			want: func(o object) { container(o)["image"] = "quay.io/x:2" },
			out: "/spec/replicas 0 → 1\n/spec/template/spec/containers/0/image quay.io/x:1 → quay.io/x:2\nFIELD_CONFLICT " +
				paused},
		{name: "a number that nobody set", live: func(o object) { lose(t, o, "f:spec", "f:replicas") },
			want: func(o object) { spec(o)["replicas"] = 2 }, out: "/spec/replicas 1 → 2"},
		{name: "a number of an object that was never ours", live: func(o object) {
			delete(meta(o), "managedFields")
			delete(meta(o), "annotations")
			spec(o)["replicas"] = 0
		}, out: "/spec/replicas 0 → 1"},
		{name: "scaled back", live: func(o object) { lose(t, o, "f:spec", "f:replicas") },
			out: "/metadata/managedFields .spec.replicas is not ours → applied by " + ours},
		{name: "undone by value", live: func(o object) {
			lose(t, o, "f:spec", "f:replicas")
			own(t, o, managed{"kubectl-edit", "Update", "", json.RawMessage(`{"f:spec":{"f:replicas":{}}}`)})
		}, out: "/metadata/managedFields .spec.replicas is not ours → applied by " + ours},
		{name: "undone by value, and another image", live: func(o object) {
			own(t, o,
				managed{"kubectl-set", "Update", "",
					json.RawMessage(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"int\"}":{"f:image":{}}}}}}}`)})
		}, want: func(o object) { container(o)["image"] = "quay.io/x:2" },
			out: "/spec/template/spec/containers/0/image quay.io/x:1 → quay.io/x:2\nFIELD_CONFLICT kubectl-set owns " +
				`.spec.template.spec.containers[name="int"].image (quay.io/x:1 there, quay.io/x:2 wanted) as well, since it was set back by hand: ` +
				"name this manager in take_fields_from of the settings for one run, or in override_managers"},
		{name: "a label that somebody removed", live: func(o object) {
			delete(meta(o)["labels"].(map[string]any), "app")
			lose(t, o, "f:metadata", "f:labels", "f:app")
		}, out: "/metadata/labels/app  → a\nFIELD_CONFLICT somebody changed .metadata.labels.app (\"\" there, a wanted), " +
			"which was ours after the last apply and is it no more: undo that change by hand, or change the data"},
		{name: "a label that kubectl apply removed", live: func(o object) {
			delete(meta(o)["labels"].(map[string]any), "app")
			lose(t, o, "f:metadata", "f:labels", "f:app")
			own(t, o, managed{"kubectl-client-side-apply", "Update", "",
				json.RawMessage(`{"f:metadata":{"f:labels":{"f:x":{}}}}`)})
		}, out: "/metadata/labels/app  → a\n/metadata/managedFields updated by kubectl-client-side-apply → applied by " +
			ours},
		{name: "a conflict inside of an atomic value", live: func(o object) {
			container(o)["args"] = []any{"a", "z"}
			lose(t, o, "f:spec", "f:template", "f:spec", "f:containers", `k:{"name":"int"}`, "f:args")
			own(t, o,
				managed{"edit", "Update", "",
					json.RawMessage(`{"f:spec":{"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"int\"}":{"f:args":{}}}}}}}`)})
		},
			out: "/spec/template/spec/containers/0/args/1 z → b\nFIELD_CONFLICT edit owns .spec.template.spec.containers[name=\"int\"].args[1] (z there, b wanted): " +
				"undo that change, or name this manager in override_managers of the settings"},
		{name: "a field of others with our value", live: func(o object) {
			own(t, o, managed{"kubectl", "Update", "scale", json.RawMessage(`{"f:spec":{"f:replicas":{}}}`)})
		}},
		{name: "an empty text that is not ours", want: func(o object) {
			podOf(o)["hostname"] = ""
		}, out: "/spec/template/spec/hostname  → "},
		{name: "another selector", want: func(o object) {
			spec(o)["selector"] = map[string]any{"matchLabels": map[string]any{"app": "b"}}
		},
			out: "/spec/selector/matchLabels/app a → b\nIMMUTABLE_FIELD spec.selector cannot be changed: the settings must say migrate_selector: true, " +
				"then it is deleted and made anew"},
		{name: "a smaller selector", live: func(o object) {
			spec(o)["selector"].(map[string]any)["matchLabels"].(map[string]any)["x"] = "y"
		},
			opts: func(o *manifests.Options) { o.MigrateSelector = true },
			out:  `/spec/selector/matchLabels {"app":"a","x":"y"} → {"app":"a"}` + "\nreplace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want, opts := manifest(t, manifests.Deployment), options
			o := lived(t, want)
			if tt.want != nil {
				tt.want(want)
			}
			if tt.live != nil {
				tt.live(o)
			}
			if tt.opts != nil {
				tt.opts(&opts)
			}
			before := clone(t, want)
			d, err := manifests.Diff(want, read(t, o, opts), opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(d); got != tt.out {
				t.Errorf("got\n%s\nwant\n%s", got, tt.out)
			}
			if !reflect.DeepEqual(clone(t, want), before) {
				t.Error("the manifest was changed")
			}
		})
	}
}

// describe returns a difference as text, without digests.
func describe(d reconcile.Difference) string {
	var lines []string
	for _, c := range d.Changes {
		if strings.Contains(c.Path, "manifest-sha256") {
			lines = append(lines, c.Path)
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s → %s", c.Path, c.Old, c.New))
	}
	if d.Mistake != (reconcile.Mistake{}) {
		lines = append(lines, fmt.Sprintf("%s %s", d.Mistake.Code, d.Mistake.Message))
	}
	if d.Replace {
		lines = append(lines, "replace")
	}
	return strings.Join(append(lines, d.Warnings...), "\n")
}
