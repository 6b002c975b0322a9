package cloud_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/cloud"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
	"github.com/app-sre/prcheck/natives/reconcile"
)

// longest is the most bytes that a message about one entry may have. It quotes a few names.
const longest = 8 << 10

// Whatever a query answers: reading ends, with a model or an error, and what the model says is
// bounded and always the same.
func FuzzAnswers(f *testing.F) {
	api := text(object{"list": []any{object{"path": "/a.yml", "name": "a", "family": "arm",
		"endpoint": "https://arm.example", "specifications": []any{"/s.json"}}}})
	row := func(r object) string { return text(object{"list": []any{r}}) }
	good := row(object{"path": "/r.yml", "api": object{"path": "/a.yml"}, "type": cloudtest.Store, "name": "x",
		"parent": cloudtest.Group, "body": `{"location":"west"}`})
	for _, seed := range [][3]string{
		{api, good, cloudtest.Specification},
		{api, good,
			`{"swagger":"2.0","paths":{"/a/{b}":{"get":null,"put":{"parameters":[{"in":"body","schema":{"$ref":"#/paths"}}]}}}}`},
		{api, good, "<html>no specification</html>"},
		{api, `{"list":[null]}`, ""}, {`{"list":[null, {}]}`, good, "{}"}, {"[]", good, "{}"}, {`{"list":null}`, good, "{}"},
		{api, "", "{}"},
		{api, row(object{"path": "/r.yml", "api": object{"path": "/a.yml"}, "type": "@", "parent": "/r.yml",
			"resourceId": "/", "body": strings.Repeat("[", 300)}), cloudtest.Specification},
		{api,
			row(object{"path": "/r.yml", "body": "{}", "bodyText": "{}", "delete": "yes",
				"needs": []any{object{"path": ""}, nil}, "secrets": []any{nil, object{"at": "~"}}}), "{}"},
		{strings.Replace(api, "arm.example", "u:p@h/?q#f", 1), strings.Replace(good, "westus", "\xff\x00", 1),
			cloudtest.Specification},
	} {
		f.Add(seed[0], seed[1], seed[2], "", 0)
	}
	f.Add(api, good, cloudtest.Specification, "list", 0)
	f.Add(api, good, cloudtest.Specification, "list", 1<<30)
	f.Fuzz(func(t *testing.T, apis, rows, spec, wrongField string, wrongAt int) {
		query := func(_ context.Context, text string, _ map[string]any) ([]byte, error) {
			switch {
			case strings.Contains(text, "__type"):
				return []byte(`{}`), nil
			case strings.Contains(text, "cloud_apis_v1"):
				return []byte(apis), nil
			case strings.Contains(text, "cloud_resources_v1") && wrongField != "":
				return nil, &integration.AnswerError{Data: json.RawMessage(rows),
					Errors: []integration.FieldError{{Message: "wrong", Path: []any{wrongField, float64(wrongAt), "name"}}}}
			case strings.Contains(text, "cloud_resources_v1"):
				return []byte(rows), nil
			}
			return json.Marshal(object{"list": []any{object{"path": "/s.json", "content": spec}}})
		}
		always(t, query)
	})
}

// Whatever the texts of two entries of a good API are, no entry is lost, and one that is
// usable has an address below a shard.
func FuzzEntries(f *testing.F) {
	for _, seed := range [][5]string{
		{cloudtest.Store, "a", cloudtest.Group, "", `{"location": "west", "properties": {"peer": {"$ref": "/r/b.yml"}}}`},
		{cloudtest.Store, "a/../b", cloudtest.Group + "/", "", `{"$ref": "/r/a.yml"}`},
		{cloudtest.Rule, "%2f", "/r/b.yml", "", `{"l": [{"$ref": "/r/b.yml", "x": 1}, {"$ref": 1}]}`},
		{cloudtest.Rule, "r", "b", storeID + "/rules/r", `{"n": 1e999999999, "m": 9007199254740993}`},
		{"acme.CACHE/stores@", "~1", "a", "//", `{"a": 1, "a": 2}`},
		{"Acme.Cache/stores@9999-99-99", strings.Repeat("x", 2000), "/r/a.yml", "/subscriptions/s", "null"},
		{"*", "\x00\xff", "", strings.Repeat("/a", 500), strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300)},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	// One parse for all runs: only what is asked for changes.
	w := cloudtest.New("https://arm.example")
	rest := w.Query(f)
	f.Fuzz(func(t *testing.T, typ, name, parent, id, body string) {
		api := object{"path": cloudtest.API}
		rows := text(object{"list": []any{
			object{"path": "/r/a.yml", "api": api, "type": typ, "name": name, "parent": parent, "resourceId": id,
				"bodyText": body},
			object{"path": "/r/b.yml", "api": api, "type": cloudtest.Store, "name": "b", "parent": cloudtest.Group, "body": "{}",
				"needs": []any{object{"path": "/r/a.yml"}}},
		}})
		query := func(ctx context.Context, text string, variables map[string]any) ([]byte, error) {
			if strings.Contains(text, "cloud_resources_v1") {
				return []byte(rows), nil
			}
			return rest(ctx, text, variables)
		}
		m := always(t, query)
		if m == nil || len(m.Resources) != 2 {
			t.Fatalf("got %+v", m)
		}
	})
}

// always reads twice, checks what holds of every model, and returns it; nil if there is none.
func always(t *testing.T, query integration.QueryFunc) *cloud.Model {
	t.Helper()
	m, err := new(cloud.Reader).Read(t.Context(), query)
	again, err2 := new(cloud.Reader).Read(t.Context(), query)
	if (m == nil) != (err != nil) || fmt.Sprint(err) != fmt.Sprint(err2) {
		t.Fatalf("got %v with %v, then %v", m, err, err2)
	}
	if err != nil {
		return nil
	}
	if outline(m) != outline(again) {
		t.Errorf("first %s, then %s", outline(m), outline(again))
	}
	keys := map[reconcile.Key]bool{}
	for _, r := range m.Resources {
		keys[r.Key] = true
	}
	for _, r := range m.Resources {
		_, isObject := r.Body.(object)
		switch {
		case !isObject && r.Mistake.IsZero():
			t.Errorf("%q: the body is %v, without a mistake", r.File, r.Body)
		case r.Key == "" && r.Mistake.IsZero():
			t.Errorf("%q: it has no key, and no mistake", r.File)
		case r.Key != "" && (r.Of == nil || r.Root == "" || r.Digest == "" || r.API == nil):
			t.Errorf("%q: it has a key, and lacks a part: %+v", r.File, r)
		case len(r.Mistake.Message) > longest:
			t.Errorf("%q: a message of %d bytes", r.File, len(r.Mistake.Message))
		case !strings.HasPrefix(string(r.Key), r.Root):
			t.Errorf("%q: the key %q is not below %q", r.File, r.Key, r.Root)
		}
		for _, k := range slices.Concat(r.Needs, r.Across) {
			if !keys[k] {
				t.Errorf("%q needs %q, which nobody is", r.File, k)
			}
		}
	}
	for _, f := range m.Findings {
		if len(f.Message) > longest {
			t.Errorf("a finding of %d bytes", len(f.Message))
		}
	}
	return m
}

// outline returns what a model says of its entries.
func outline(m *cloud.Model) string {
	var out []any
	for _, r := range m.Resources {
		out = append(out, object{"file": r.File, "key": r.Key, "mistake": r.Mistake, "needs": r.Needs, "across": r.Across,
			"digest": r.Digest, "body": r.Body})
	}
	return text(out) + text(m.Findings)
}

// A long cycle of parents is told in a short message, and found in time.
func TestLongCycle(t *testing.T) {
	const n = 5000
	w := cloudtest.New("https://arm.example")
	var rows []any
	for i := range n {
		rows = append(rows, object{"path": fmt.Sprintf("/r/%d.yml", i), "api": object{"path": cloudtest.API},
			"type": cloudtest.Rule, "name": "r",
			"parent": fmt.Sprintf("/r/%d.yml", (i+1)%n)})
	}
	rest, answer := w.Query(t), text(object{"list": rows})
	m := always(t, func(ctx context.Context, text string, variables map[string]any) ([]byte, error) {
		if strings.Contains(text, "cloud_resources_v1") {
			return []byte(answer), nil
		}
		return rest(ctx, text, variables)
	})
	if r := find(t, m, "/r/0.yml"); r.Mistake.Code != reconcile.CodeCycle ||
		!strings.HasSuffix(r.Mistake.Message, "and 4995 more") {
		t.Errorf("got %+v", r.Mistake)
	}
}
