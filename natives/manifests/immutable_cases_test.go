package manifests_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
	"github.com/app-sre/prcheck/natives/reconcile"
)

type immutableCase struct {
	Input struct {
		Kind     string
		Field    string // a JSON pointer, with "FROM→TO" if the values matter
		From, To any
	}
	Expected struct {
		Action, Cascade, Needs, Note, Told, Reason string
		Then                                       string // what happens to claims
		PodsRestarted                              *int   `json:"pods_restarted"`
		NextRun                                    string `json:"next_run"`
		CrashAfter                                 string `json:"crash_after"`
		Order                                      []string
		Writes                                     *int
		Error                                      any
	}
}

// readImmutable reads a case of the area "immutable".
func readImmutable(t *testing.T, input, expected json.RawMessage) (c immutableCase) {
	t.Helper()
	shared.Words(t, input, &c.Input)
	shared.Words(t, expected, &c.Expected)
	if field, change, ok := strings.Cut(c.Input.Field, " "); ok {
		from, to, isChange := strings.Cut(change, "→")
		if !isChange {
			t.Fatalf("the words %q are not known", change)
		}
		c.Input.Field, c.Input.From, c.Input.To = field, from, to
	}
	return c
}

// reasons are the words of our messages for those of the cases.
var reasons = map[string]string{"a claim cannot shrink": "claims only grow"}

// claimWords say how large the claims of a StatefulSet are in the end.
var claimWords = regexp.MustCompile(`^patch the PVCs that its pods have to (\S+)$`)

// changed returns another value of the same type.
func changed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return map[string]any{"changed": "x"}
	case []any:
		return append(slices.Clone(v), "x")
	case float64:
		return v + 1
	case bool:
		return !v
	}
	return "changed"
}

// setPointer sets the value at a JSON pointer to what a function makes of it.
func setPointer(t *testing.T, o map[string]any, pointer string, change func(any) any) {
	t.Helper()
	var v any = o
	parts := jsonpointer.Split(pointer)
	for i, part := range parts {
		isLast := i == len(parts)-1
		switch at := v.(type) {
		case map[string]any:
			if isLast {
				at[part] = change(at[part])
				return
			}
			v = at[part]
		case []any:
			var n int
			if _, err := fmt.Sscan(part, &n); err != nil || n < 0 || n >= len(at) {
				t.Fatalf("%s: there is no item %q", pointer, part)
			}
			if isLast {
				at[n] = change(at[n])
				return
			}
			v = at[n]
		default:
			t.Fatalf("%s: there is no %q", pointer, part)
		}
	}
}

// differing returns a manifest and a live object that differ in the field of a case. A field
// that the manifest does not have is one that the server sets.
func differing(t *testing.T, c immutableCase) (manifests.Object, manifests.Object) {
	t.Helper()
	want := manifest(t, manifests.Named(c.Input.Kind))
	is := lived(t, want)
	if c.Input.Kind == manifests.Service.Name && c.Input.Field == "/spec/clusterIP" && c.Input.To == nil {
		setPointer(t, is, c.Input.Field, func(any) any { return "10.0.0.9" })
		return want, is
	}
	setPointer(t, want, c.Input.Field, func(v any) any {
		if c.Input.To != nil {
			return c.Input.To
		}
		return changed(v)
	})
	if c.Input.From != nil {
		setPointer(t, is, c.Input.Field, func(any) any { return c.Input.From })
	}
	return want, is
}

// actionOf returns the word for what a difference leads to.
func actionOf(d reconcile.Difference) string {
	switch {
	case d.Mistake != (reconcile.Mistake{}):
		return "error"
	case d.Replace:
		return "recreate"
	case len(d.Changes) > 0:
		return "apply"
	}
	return "none"
}

func TestImmutable(t *testing.T) {
	shared.Each(t, "immutable", func(t *testing.T, raw struct{ Input, Expected json.RawMessage }) {
		c := readImmutable(t, raw.Input, raw.Expected)
		want, is := differing(t, c)
		opts := options
		d, err := manifests.Diff(want, read(t, is, opts), opts)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Expected.Needs, "migrate_selector") {
			if actionOf(d) != "error" || !strings.Contains(d.Mistake.Message, "spec.selector") ||
				!strings.Contains(d.Mistake.Message, "migrate_selector: true") {
				t.Errorf("without the setting: %+v, want an error that names the field and the setting", d)
			}
		}
		opts.MigrateSelector = true
		if d, err = manifests.Diff(want, read(t, is, opts), opts); err != nil {
			t.Fatal(err)
		}
		got := actionOf(d)
		if c.Expected.Action != "" && got != c.Expected.Action || c.Expected.Told != "" && got != c.Expected.Told {
			t.Errorf("got %s (%+v), want %s%s", got, d, c.Expected.Action, c.Expected.Told)
		}
		if got == "recreate" {
			checkRecreation(t, c)
		}
		if said := reasons[c.Expected.Reason]; c.Expected.Reason != "" &&
			(said == "" || !strings.Contains(d.Mistake.Message, said)) {
			t.Errorf("got %+v, want the reason %q", d, c.Expected.Reason)
		}
		if strings.Contains(c.Expected.Note, "warning") && len(d.Warnings) != 1 {
			t.Errorf("warnings: %q, want one: %s", d.Warnings, c.Expected.Note)
		}
	})
}

// checkRecreation makes an object, and replaces it on a server.
func checkRecreation(t *testing.T, c immutableCase) {
	t.Helper()
	cl, want := newCluster(t), manifest(t, manifests.Named(c.Input.Kind))
	cl.opts.MigrateSelector = true
	if err := cl.run(t, want); err != nil {
		t.Fatal(err)
	}
	size, uid := claimWords.FindStringSubmatch(c.Expected.Then), ""
	if c.Expected.Then != "" {
		if size == nil {
			t.Fatalf("the words %q are not known", c.Expected.Then)
		}
		uid = cl.addPod(t)
	}
	want, _ = differing(t, c)
	for name, value := range want["spec"].(map[string]any)["selector"].(map[string]any)["matchLabels"].(map[string]any) {
		setAt(want, []string{"spec", "template", "metadata", "labels", name}, value)
	}
	cl.sent = nil
	if c.Expected.Writes != nil && *c.Expected.Writes == 0 {
		return // the comparison was the dry run, and it has no cluster
	}
	if c.Expected.CrashAfter == "delete" {
		cl.left = 1
		if err := cl.run(t, want); !errors.Is(err, errKilled) {
			t.Fatalf("got %v, want it to be killed", err)
		}
		cl.left = 1000
	}
	if err := cl.run(t, want); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, request := range cl.sent {
		word, rest, _ := strings.Cut(request, " ")
		if size != nil && request == "merge persistentvolumeclaims" {
			continue
		}
		if word == "delete" {
			if c.Expected.Cascade != "" && !strings.HasSuffix(strings.ToLower(rest), c.Expected.Cascade) {
				t.Errorf("sent %s, want the cascade %s", request, c.Expected.Cascade)
			}
			order = append(order, "delete", "gone")
			continue
		}
		order = append(order, word)
	}
	wanted := []string{"delete", "gone", "create"}
	if c.Expected.Order != nil {
		wanted = c.Expected.Order
	}
	if !slices.Equal(order, wanted) {
		t.Errorf("the order is %q, want %q", order, wanted)
	}
	if c.Expected.NextRun != "" && order[len(order)-1] != c.Expected.NextRun {
		t.Errorf("the run after the crash does %q, want %s", order, c.Expected.NextRun)
	}
	if size == nil {
		return
	}
	claim := cl.Object(claimPath)["spec"].(map[string]any)["resources"].(map[string]any)["requests"].(map[string]any)
	if claim["storage"] != size[1] {
		t.Errorf("the claim has %v, want %s", claim["storage"], size[1])
	}
	pod := cl.Object(claimedPod)
	if n := c.Expected.PodsRestarted; n != nil &&
		(*n == 0) != (pod != nil && pod["metadata"].(map[string]any)["uid"] == uid) {
		t.Errorf("the pod is %v, want %d that started anew", pod, *n)
	}
}

// claimedPod is the pod of a StatefulSet.
const claimedPod = "/api/v1/namespaces/n/pods/a-0"

// addPod gives a StatefulSet a pod with a claim, and returns the uid of the pod.
func (c *cluster) addPod(t *testing.T) string {
	t.Helper()
	c.Edit(t, "controller", claimPath, func(o map[string]any) {
		o["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "gp2", "volumeName": "v",
			"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
		o["status"] = map[string]any{"phase": "Bound"}
	})
	c.Edit(t, "controller", claimedPod, func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"app": "a"}
		o["spec"] = podOf(manifest(t, manifests.Deployment))
	})
	return c.Object(claimedPod)["metadata"].(map[string]any)["uid"].(string)
}
