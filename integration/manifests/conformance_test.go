package manifests_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration/manifests"
	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/reconcile"
)

// The words of the area "equal".
var (
	variableWords   = regexp.MustCompile(`^env (\S+) (?:value "(.*)"|without value)$`)
	annotationWords = regexp.MustCompile(`^(template )?(annotation|label) ([^\s=]+)(?:=(.*))?$`)
	fieldWords      = regexp.MustCompile(`^([A-Za-z0-9_.]+)=(.*)$`)
)

// setWords sets in an object what the words of a case say.
func setWords(t *testing.T, o manifests.Object, words string) {
	t.Helper()
	if m := variableWords.FindStringSubmatch(words); m != nil {
		variable := map[string]any{"name": m[1]}
		if strings.Contains(words, " value \"") {
			variable["value"] = m[2]
		}
		container(o)["env"] = []any{variable}
		return
	}
	if m := annotationWords.FindStringSubmatch(words); m != nil {
		at := []string{"metadata", m[2] + "s", m[3]}
		if m[1] != "" {
			at = append([]string{"spec", "template"}, at...)
		}
		setAt(o, at, m[4])
		return
	}
	if m := fieldWords.FindStringSubmatch(words); m != nil {
		var value any = m[2]
		if err := json.Unmarshal([]byte(m[2]), &value); err != nil {
			value = m[2]
		}
		at := strings.Split(m[1], ".")
		switch at[0] {
		case "memory", "cpu":
			setAt(container(o), []string{"resources", "requests", at[0]}, m[2])
		case "resources":
			setAt(container(o), at, m[2])
		case "image", "imagePullPolicy", "args", "command":
			setAt(container(o), at, value)
		case "metadata", "spec":
			setAt(o, at, value)
		default:
			setAt(o["spec"].(map[string]any), at, value)
		}
		return
	}
	switch words {
	case "unset", "set by server", "": // what the live object has anyway
	default:
		if !strings.HasPrefix(words, "no ") {
			t.Fatalf("the words %q are not known", words)
		}
	}
}

func setAt(o map[string]any, at []string, value any) {
	for _, name := range at[:len(at)-1] {
		below, ok := o[name].(map[string]any)
		if !ok {
			below = map[string]any{}
			o[name] = below
		}
		o = below
	}
	o[at[len(at)-1]] = value
}

// The cases of this area that have no desired and live side are about generic resources.
func TestEqual(t *testing.T) {
	type sides struct{ Desired, Live string }
	type equalCase struct {
		Input    sides
		Expected json.RawMessage
	}
	shared.Each(t, "equal", func(t *testing.T, c equalCase) {
		if c.Input == (sides{}) {
			t.Skip("a case of generic resources")
		}
		var expected struct{ Equal bool }
		if err := json.Unmarshal(c.Expected, &expected); err != nil {
			t.Fatal(err)
		}
		want := manifest(t, manifests.Deployment)
		setWords(t, want, c.Input.Desired)
		is := lived(t, want)
		setWords(t, is, c.Input.Live)
		d, err := manifests.Diff(want, read(t, is, options), options)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(d.Changes) == 0; got != expected.Equal {
			t.Errorf("equal: %t (%+v), want %t", got, d, expected.Equal)
		}
	})
}

type immutableCase struct {
	Input struct {
		Kind     string
		Field    string
		From, To any
	}
	Expected struct {
		Action, Cascade, Needs, Note, Told string
		NextRun                            string `json:"next_run"`
		CrashAfter                         string `json:"crash_after"`
		Order                              []string
		Writes                             *int
		Error                              any
	}
}

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
	shared.Each(t, "immutable", func(t *testing.T, c immutableCase) {
		want, is := differing(t, c)
		opts := options
		d, err := manifests.Diff(want, read(t, is, opts), opts)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Expected.Needs, "migrate_selector") {
			if actionOf(d) != "error" || !strings.Contains(d.Mistake.Message, "spec.selector") || !strings.Contains(d.Mistake.Message, "migrate_selector: true") {
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
}
