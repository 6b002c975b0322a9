package namespaces

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// A mistake of one entry holds this entry, and the others go on.
func TestMistakes(t *testing.T) {
	for more, want := range map[string]string{
		`"delete":"yes"`:                            `error VAL_TYPE c1/a: delete is "yes"; it must be true or false`,
		`"labels":{"x":1}`:                          `error VAL_TYPE c1/a: labels must be a map of texts, but "x" is none`,
		`"labels":"{\"x\":1}"`:                      `error VAL_TYPE c1/a: labels must be a map of texts, but "x" is none`,
		`"labels":[1]`:                              `error VAL_TYPE c1/a: labels must be a map of texts`,
		`"labels":{"qontract.integration":"me"}`:    `error VAL_TYPE c1/a: labels must not name "qontract.integration", which says who owns a namespace`,
		`"labels":{},"annotations":{"x":{"y":"z"}}`: `error VAL_TYPE c1/a: annotations must be a map of texts, but "x" is none`,
	} {
		w := newWorld(t)
		w.cluster.put("a", map[string]string{"x": "1"}, nil)
		head := answer(entryOf("a", more), entryOf("b", ""))
		_ = w.dryRun(t, nil, head)
		if got := strings.Join(w.said, ", "); got != "create c1/b, "+want && got != want+", create c1/b" {
			t.Errorf("%s: got %q, want %q", more, got, want)
		}
		if err := w.run(t, head); err != nil || !slices.Equal(w.cluster.writes(), []string{"create b"}) {
			t.Errorf("%s: the run calls %q, %v", more, w.cluster.writes(), err)
		}
	}
	w := newWorld(t)
	w.cluster.put("a", nil, nil)
	bad := &integration.AnswerError{Data: json.RawMessage(`{"namespaces":[` + entryOf("a", "") + "," + entryOf("b", "") +
		`]}`),
		Errors: []integration.FieldError{{Message: "Boolean cannot represent", Path: []any{"namespaces", 0.0, "delete"}}}}
	partial := func(context.Context, string, map[string]any) ([]byte, error) { return nil, bad }
	if err := w.dryRun(t, nil, partial); err != nil ||
		!slices.Equal(w.said, []string{"error VAL_TYPE c1/a: delete: Boolean cannot represent", "create c1/b"}) {
		t.Errorf("got %q, %v", w.said, err)
	}
	for _, path := range [][]any{nil, {"namespaces"}, {"namespaces", 0.0}, {"other", 0.0, "x"}, {"namespaces", "0", "x"},
		{"namespaces", -1.0, "x"}} {
		bad.Errors[0].Path = path
		if err := w.dryRun(t, nil, partial); err == nil {
			t.Errorf("an error at %v is no error", path)
		}
	}
	w = newWorld(t)
	_ = w.dryRun(t, nil, answer(entryOf("No_Name", ""), entryOf("b", ""), entryOf("b", "")))
	slices.Sort(w.said)
	want := []string{
		`error DUPLICATE c1/b: 2 entries have this key`,
		`error VAL_PATTERN c1/No_Name: "No_Name" is no name of a namespace: lower-case letters, digits and hyphens, at most 63`,
	}
	if !slices.Equal(w.said, want) {
		t.Errorf("got %q, want %q", w.said, want)
	}
}

// A mistake in the settings has its line.
func TestSettings(t *testing.T) {
	text := "version: 1\nintegrations:\n  a:\n    native: namespaces\n    settings:\n      instance: north\n      instances: [south]\n"
	s, err := settings.Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	err = integration.CheckNatives(s, []integration.DryRunner{New()})
	if want := `prcheck.yaml:7: integrations.a.settings.instances: must contain the instance "north" itself`; err == nil ||
		err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// An answer that is not whole is no empty world.
func TestAnswerIsNotWhole(t *testing.T) {
	for _, raw := range []string{`{"namespaces":null}`, `{}`, `{"namespaces":{}}`, `[]`} {
		q := func(context.Context, string, map[string]any) ([]byte, error) { return json.RawMessage(raw), nil }
		if err := newWorld(t).dryRun(t, nil, q); err == nil {
			t.Errorf("%s is taken for a world", raw)
		}
	}
}
