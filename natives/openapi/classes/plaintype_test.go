package classes_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/openapi"
	"github.com/app-sre/prcheck/natives/openapi/classes"
	"github.com/app-sre/prcheck/natives/openapi/resources"
)

// The habits and classes of plain types follow from their documents.
func TestPlainTypeCases(t *testing.T) {
	type plainCase struct {
		Input struct {
			Spec     json.RawMessage
			Type     string
			CreateAt string `json:"create_at"`
		}
		Expected struct {
			AnswerEnvelope *string `json:"answer_envelope"`
			ListEnvelope   *string `json:"list_envelope"`
			Update         *string
			Body           *string
			Create         *string
			Verbs          []string
			CreateOnly     []string `json:"create_only"`
			ReadOnly       []string `json:"read_only"`
			WriteOnly      []string `json:"write_only"`
			Mutable        []string
		}
	}
	shared.Each(t, "plain_type", func(t *testing.T, c plainCase) {
		set := openapi.NewSet(func(string, int64) ([]byte, error) { return c.Input.Spec, nil }, openapi.Limits{})
		d, err := set.Document("spec.json")
		if err != nil {
			t.Fatal(err)
		}
		found, err := resources.NewIndex([]*openapi.Document{d}).Find(c.Input.Type)
		if err != nil {
			t.Fatal(err)
		}
		one := found[0]
		if c.Input.CreateAt != "" {
			if one, err = one.CreatedAt(c.Input.CreateAt); err != nil {
				t.Fatal(err)
			}
		}
		shape, err := one.PlainShape()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range []struct {
			want *string
			got  string
		}{{c.Expected.AnswerEnvelope, shape.AnswerEnvelope}, {c.Expected.ListEnvelope, shape.ListEnvelope},
			{c.Expected.Update, shape.Update},
			{c.Expected.Body, shape.Body}, {c.Expected.Create, shape.Create}} {
			if p.want != nil && *p.want != p.got {
				t.Errorf("got %q of %+v, want %q", p.got, shape, *p.want)
			}
		}
		if c.Expected.Verbs != nil {
			compare(t, "verbs", one.Verbs(), c.Expected.Verbs)
		}
		check(t, one, expectation{CreateOnly: c.Expected.CreateOnly, ReadOnly: c.Expected.ReadOnly,
			WriteOnly: c.Expected.WriteOnly})
		classifier, err := classes.New(one)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range c.Expected.Mutable {
			if p, err := classifier.Explain(path); err != nil || !wordsOf(p)["mutable"] {
				t.Errorf("%s: got %+v, %v, want it mutable", path, p, err)
			}
		}
	})
}

// Resources in envelopes are read inside of them, on both sides where both have it.
func TestEnvelopes(t *testing.T) {
	for typ, want := range map[string]string{
		"servers name": "mutable", "servers labels": "mutable", "servers created": "read-only", "servers id": "read-only",
		"servers user_data": "write-only",
		"servers image":     "create-only", "volumes size": "create-only", "networks ip_range": "create-only",
		"ssh_keys public_key": "create-only", "ssh_keys fingerprint": "read-only",
	} {
		name, path, _ := strings.Cut(typ, " ")
		index := indexOf(t, shared.Path(t, "data", "specs", "hetzner-2026-02-20"))
		found, err := index.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := classes.New(found[0])
		if err != nil {
			t.Fatal(err)
		}
		if p, err := c.Explain(path); err != nil || !wordsOf(p)[want] {
			t.Errorf("%s: %v, %v, want %s", typ, p, err, want)
		}
	}
}
