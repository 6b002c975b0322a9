package edit

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
)

func TestEditCases(t *testing.T) {
	shared.Each(t, "edit", func(t *testing.T, c struct {
		Input struct {
			Before, Ref string
			Hashes      []struct {
				Channel, Hash string
				Parent        string `json:"parent_saas"`
			}
			Target struct{ Namespace, Template, Name string }
		}
		Expected struct {
			After string
			Error bool
		}
	}) {
		change := Change{Template: c.Input.Target.Template, Namespace: c.Input.Target.Namespace, Name: c.Input.Target.Name,
			Ref: c.Input.Ref}
		for _, h := range c.Input.Hashes {
			change.Notes = append(change.Notes, Note{h.Channel, h.Parent, h.Hash})
		}
		got, err := Apply([]byte(c.Input.Before), change)
		if (err != nil) != c.Expected.Error || string(got) != c.Expected.After {
			t.Errorf("got %v\n%s\nwant\n%s", err, got, c.Expected.After)
		}
		if err == nil {
			again, err := Apply(got, change)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("the second time: got %v\n%s", err, again)
			}
		}
	})
}

const before = `# a saas file
$schema: /app-sre/saas-file-2.yml
resourceTemplates:
  - name: web
    targets:
      - $ref: /elsewhere.yml
      - namespace: {$ref: /ns/stage.yml}
        ref: main
      - namespace:
          $ref: /ns/prod.yml
        ref: 'OLD'   # é
        promotion:
          subscribe:
            - "stage"
          # nothing more
      - namespaceSelector: {jsonPathSelectors: {include: [x]}}
        name: all
        ref: "OLD"
`

func TestApply(t *testing.T) {
	prod := Change{Template: "web", Namespace: "/ns/prod.yml", Ref: "NEW"}
	noted := prod
	noted.Notes = []Note{{"stage", "up", "12e45678"}, {"a b", "yes", "cafe"}}
	for name, c := range map[string]struct {
		change Change
		edits  []string // from, to
	}{
		"single quotes stay": {prod, []string{"'OLD'   # é", "'NEW'   # é"}},
		"of a selector":      {Change{Template: "web", Name: "all", Ref: "NEW"}, []string{`"OLD"`, `"NEW"`}},
		"has it already":     {Change{Template: "web", Namespace: "/ns/stage.yml", Ref: "main"}, nil},
		"what looks like a number gets quotes": {Change{Template: "web", Namespace: "/ns/stage.yml",
			Ref: "1234567890123456789012345678901234567890"},
			[]string{"main", "'1234567890123456789012345678901234567890'"}},
		"a list below lists that are indented": {noted, []string{"'OLD'", "'NEW'", `            - "stage"` + "\n",
			`            - "stage"
          promotion_data:
            - channel: stage
              data:
                - parent_saas: up
                  target_config_hash: "12e45678"
                  type: parent_saas_config
            - channel: "a b"
              data:
                - parent_saas: "yes"
                  target_config_hash: cafe
                  type: parent_saas_config
`}},
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.NewReplacer(c.edits...).Replace(before)
			if got, err := Apply([]byte(before), c.change); err != nil || string(got) != want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

func TestApplyTellsTargetsApart(t *testing.T) {
	const file = `resourceTemplates:
- name: web
  targets:
  - {namespace: {$ref: /ns}, ref: A, promotion: {auto: true, subscribe: [a]}}
  - {namespace: {$ref: /ns}, ref: B, promotion: {auto: true, subscribe: [b, a]}}
  - {namespace: {$ref: /ns}, ref: C, promotion: {auto: false, subscribe: [b]}}
  - {namespaceSelector: {jsonPathSelectors: {include: [x]}}, ref: D, promotion: {auto: true, subscribe: [a]}}
  - {namespaceSelector: {jsonPathSelectors: {include: [x], exclude: [y]}}, ref: E, promotion: {auto: true, subscribe: [a]}}
  - {namespaceSelector: {jsonPathSelectors: {include: [x], exclude: [y]}}, ref: F, promotion: {auto: true, subscribe: [b]}}
  - {name: alone, namespaceSelector: {jsonPathSelectors: {include: [z]}}, ref: G}
`
	for name, c := range map[string]struct {
		change Change
		want   string // the ref that changes, "" if it is refused
	}{
		"by one channel":               {Change{Namespace: "/ns", Channels: []string{"a"}}, "A"},
		"by channels in another order": {Change{Namespace: "/ns", Channels: []string{"a", "b"}}, "B"},
		"one that is not promoted":     {Change{Namespace: "/ns", Channels: []string{"b"}}, ""},
		"without channels":             {Change{Namespace: "/ns"}, ""},
		"by a selector":                {Change{Channels: []string{"a"}, Selector: &Selector{Include: []string{"x"}}}, "D"},
		"by what a selector leaves": {Change{Channels: []string{"a"},
			Selector: &Selector{Include: []string{"x"}, Exclude: []string{"y"}}}, "E"},
		"by channels alone":   {Change{Channels: []string{"b"}}, "F"},
		"by half of it":       {Change{Channels: []string{"b"}, Selector: &Selector{Include: []string{"other"}}}, ""},
		"by another selector": {Change{Channels: []string{"a"}, Selector: &Selector{Include: []string{"x", "y"}}}, ""},
		"without a selector":  {Change{Channels: []string{"a"}}, ""},
		"one that is alone":   {Change{Name: "alone", Channels: []string{"a"}, Selector: &Selector{}}, "G"},
	} {
		t.Run(name, func(t *testing.T) {
			c.change.Template, c.change.Ref = "web", "NEW"
			got, err := Apply([]byte(file), c.change)
			want := ""
			if c.want != "" {
				want = strings.Replace(file, "ref: "+c.want, "ref: NEW", 1)
			}
			if string(got) != want || (err == nil) != (c.want != "") {
				t.Errorf("got %v\n%s", err, got)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	const head = "namespace: {$ref: /ns}\nref: OLD\n"
	for name, c := range map[string]struct{ before, after string }{
		"flow mapping": {"promotion: {auto: true, subscribe: [c]}",
			"promotion: {auto: true, subscribe: [c], promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: h, type: parent_saas_config}]}]}"},
		"flow list": {"promotion:\n  promotion_data: []\n",
			"promotion:\n  promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: h, type: parent_saas_config}]}]\n"},
		"flow list with a comma": {"promotion:\n  promotion_data: [\n    {channel: d, data: []}, # it's the first\n  ]\n",
			"promotion:\n  promotion_data: [\n    {channel: d, data: []}, {channel: c, data: [{parent_saas: up, target_config_hash: h, type: parent_saas_config}]}, # it's the first\n  ]\n"},
		"flow list of lines": {"promotion:\n  promotion_data: [\n    {channel: d, data: []}\n  ]\n",
			"promotion:\n  promotion_data: [\n    {channel: d, data: []}, {channel: c, data: [{parent_saas: up, target_config_hash: h, type: parent_saas_config}]}\n  ]\n"},
		"quotes in flow": {"promotion: {a: 'it''s }', b: \"}\\\"\", c: it's}",
			"promotion: {a: 'it''s }', b: \"}\\\"\", c: it's, promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: h, type: parent_saas_config}]}]}"},
		"hash in flow": {
			"promotion: {promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: \"g\"}]}]}",
			"promotion: {promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: \"h\"}]}]}"},
		"one more channel": {"promotion:\n  promotion_data:\n  - channel: d\n    data:\n    - parent_saas: up\n      target_config_hash: g # of d\n  auto: true\n", "promotion:\n  promotion_data:\n  - channel: d\n    data:\n    - parent_saas: up\n      target_config_hash: g # of d\n  - channel: c\n    data:\n    - parent_saas: up\n      target_config_hash: h\n      type: parent_saas_config\n  auto: true\n"},
		"another parent": {
			"promotion:\n  promotion_data:\n  - channel: c\n    data:\n    - parent_saas: p\n      target_config_hash: g",
			"promotion:\n  promotion_data:\n  - channel: c\n    data:\n    - parent_saas: p\n      target_config_hash: g\n  - channel: c\n    data:\n    - parent_saas: up\n      target_config_hash: h\n      type: parent_saas_config"},
		"a text at the end":      {"promotion:\n  note: |\n    text\n", ""},
		"noted twice":            {"promotion: {promotion_data: [{channel: c, data: [{parent_saas: up, target_config_hash: a}, {parent_saas: up, target_config_hash: b}]}]}", ""},
		"promotion_data is null": {"promotion:\n  promotion_data:\n", ""},
		"no promotion":           {"delete: false\n", ""},
		"an alias":               {"promotion: {promotion_data: [{channel: c, data: &d [{parent_saas: up, target_config_hash: a}]}, {channel: e, data: *d}]}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Apply([]byte(head+c.before), Change{Namespace: "/ns", Ref: "NEW", Notes: []Note{{"c", "up", "h"}}})
			want := ""
			if c.after != "" {
				want = strings.Replace(head, "OLD", "NEW", 1) + c.after
			}
			if (err != nil) != (want == "") || string(got) != want {
				t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for name, c := range map[string]struct{ file, why string }{
		"another namespace": {"namespace: {$ref: /other}\nref: OLD\n", "not the target"},
		"no saas file":      {"a: 1\n", "not the target"},
		"a list":            {"- a\n", "no mapping"},
		"nothing":           {"", "no YAML"},
		"no YAML":           {"a: [\n", "no YAML"},
		"two documents":     {"namespace: {$ref: /ns}\nref: OLD\n---\na: 1\n", "one document"},
		"anchor of the ref": {"namespace: {$ref: /ns}\nref: &r OLD\nother: *r\n", "anchor"},
		"alias as the ref":  {"other: &r OLD\nnamespace: {$ref: /ns}\nref: *r\n", "alias"},
		"merge key":         {"<<: {a: b}\nnamespace: {$ref: /ns}\nref: OLD\n", "merge key"},
		"ref twice":         {"namespace: {$ref: /ns}\nref: OLD\nref: OLD2\n", "second time"},
		"no ref":            {"namespace: {$ref: /ns}\n", "no ref"},
		"ref is a list":     {"namespace: {$ref: /ns}\nref: [a]\n", "wrong kind"},
		"several lines":     {"namespace: {$ref: /ns}\nref: |\n  OLD\n", "several lines"},
		"escapes":           {"namespace: {$ref: /ns}\nref: \"O\\x4cD\"\n", "escapes"},
		"a tag":             {"namespace: {$ref: /ns}\nref: !!str OLD\n", "tag"},
		"not UTF-8":         {"namespace: {$ref: /ns}\nref: \xff\n", "UTF-8"},
		"byte order mark":   {"\ufeffnamespace: {$ref: /ns}\nref: OLD\n", "byte order"},
		"an anchor above": {"resourceTemplates: &a\n- name: t\n  targets:\n  - namespace: {$ref: /ns}\n    ref: OLD\n",
			"anchor"},
		"a target is aliased": {
			"resourceTemplates:\n- name: t\n  targets:\n  - &a {namespace: {$ref: /ns}, ref: OLD}\n  - *a\n", "an"},
		"twice": {"resourceTemplates:\n- name: t\n  targets:\n  - {namespace: {$ref: /ns}, ref: OLD}\n  - {namespace: {$ref: /ns}, ref: OLD}\n", "2 targets"},
		"another name": {"resourceTemplates:\n- name: t\n  targets:\n  - {name: x, namespace: {$ref: /ns}, ref: OLD}\n",
			"0 targets"},
		"too large": {strings.Repeat("#", maxFile) + "\n", "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Apply([]byte(c.file), Change{Template: "t", Namespace: "/ns", Ref: "NEW"})
			var refused *Refusal
			if !errors.As(err, &refused) || got != nil || !strings.Contains(refused.Reason, c.why) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if _, err := Apply([]byte("namespace: {$ref: /ns}\nref: OLD\n"),
		Change{Namespace: "/ns", Ref: "NEW # comment"}); err == nil {
		t.Error("a ref with a comment was written")
	}
}

func TestApplyRefusesWhatSomebodyChanged(t *testing.T) {
	file := []byte("namespace: {$ref: /ns}\nref: NEWER\n")
	var refused *Refusal
	if _, err := Apply(file, Change{Namespace: "/ns", Was: "OLD", Ref: "NEW"}); !errors.As(err, &refused) ||
		!refused.Moved {
		t.Errorf("got %v", err)
	}
	for _, was := range []string{"", "NEWER"} {
		if _, err := Apply(file, Change{Namespace: "/ns", Was: was, Ref: "NEW"}); err != nil {
			t.Errorf("%q: got %v", was, err)
		}
	}
}

func TestIsPlain(t *testing.T) {
	for text, want := range map[string]bool{
		"main": true, "c-0-0": true, "0123456789abcdef": true, "0b1f": true, "a.b/c_d": true, "v1.2.3": true,
		"": false, "123": false, "1e5": false, "12e45678": false, "1.5": false, "2026-01-02": false, "1_000": false,
		"0x1f": false, "0o17": false, "0b01": false,
		"yes": false, "Null": false, "a b": false, "a: b": false, "-a": false, "#a": false, "é": false,
	} {
		if got := isPlain(text); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
