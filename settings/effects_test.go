package settings

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

func TestEffects(t *testing.T) {
	s := read(t, `version: 1
effects:
  use: [qontract-reconcile, terraform]
  rules:
    - {match: '^would create (?P<subject>.+)$', kind: create}
    - {match: '^would (drop|remove) (.+)$', kind: delete, subject: '${2} ($1) for $$5'}
    - {match: '^just looking', kind: none}
  compare: base
  budget: 90s
  require: {delete: "deletes ok", other: "checked::yes"}
integrations:
  own: {effects: {rules: [{match: sent, kind: other}], use: [kubectl]}}
  short: {effects: [{match: made, kind: create}]}
  quiet: {effects: none}
  file: {effects: none, exec: {env: {OUT: "{effects}"}}}
  usual: {}
`)
	general := []string{`"^would create (?P<subject>.+)$" create $subject`,
		`"^would (drop|remove) (.+)$" delete ${2} ($1) for $$5`, `"^just looking"  `, "qontract-reconcile", "terraform"}
	for name, want := range map[string][]string{
		"own":   append([]string{`"sent" other `, "kubectl"}, general...),
		"short": append([]string{`"made" create `}, general...),
		"quiet": nil, "file": nil, "usual": general, "unnamed": general,
	} {
		if got := rulesAsText(s.For(name)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]bool{"own": true, "quiet": false, "file": true, "unnamed": true} {
		it := s.For(name)
		if got := it.FindsEffects(); got != want || (it.EffectsDigest() != "") != want {
			t.Errorf("%s: got %v and digest %q, want %v", name, got, it.EffectsDigest(), want)
		}
	}
	policy := EffectPolicy{true, 90 * time.Second, map[plan.EffectKind]string{"delete": "deletes ok",
		"other": "checked::yes"}}
	if got := s.EffectPolicy(); !reflect.DeepEqual(got, policy) {
		t.Errorf("got %+v, want %+v", got, policy)
	}
	if got := new(Settings).EffectPolicy(); !reflect.DeepEqual(got, EffectPolicy{Budget: DefaultEffectBudget}) {
		t.Errorf("no settings: got %+v", got)
	}
}

func rulesAsText(it Integration) []string {
	var out []string
	for _, rule := range it.Effects {
		text := rule.Ready
		if rule.Match != nil {
			text = `"` + rule.Match.String() + `" ` + string(rule.Kind) + " " + rule.Subject
		}
		out = append(out, text)
	}
	return out
}

// The digest covers what decides which effects are found, and not where it is written.
func TestEffectsDigest(t *testing.T) {
	digestOf := func(text string) string { return read(t, "version: 1\n"+text).For("a").EffectsDigest() }
	usual := digestOf("effects: {rules: [{match: made, kind: create}]}")
	same := []string{"# moved\neffects: [{match: made, kind: create}]",
		"integrations: {a: {effects: [{match: made, kind: create}]}}",
		"effects: {rules: [{match: made, kind: create}], compare: base}\nintegrations: {a: {baseline: none}}"}
	for _, text := range same {
		if got := digestOf(text); got != usual {
			t.Errorf("%s: got another digest", text)
		}
	}
	seen := map[string]string{usual: "the usual rule"}
	for _, text := range []string{"effects: [{match: made, kind: change}]", "effects: [{match: made!, kind: create}]",
		"effects: {rules: [{match: made, kind: create}], compare: base}",
		"effects: [{match: made, kind: create, subject: x}]",
		"effects: {use: [terraform]}", "effects: {use: [kubectl]}", "exec: {env: {OUT: '{effects}'}}",
		"effects: [{match: made, kind: create}]\nexec: {env: {OUT: '{effects}'}}"} {
		got := digestOf(text)
		if other, ok := seen[got]; ok || got == "" {
			t.Errorf("%s: the digest %q is also that of %s", text, got, other)
		}
		seen[got] = text
	}
}

// effectRule puts a rule on line 3 of a file.
func effectRule(text string) string { return "effects:\n  - " + text }

var effectMistakes = []struct{ name, text, want string }{
	{"a word", "effects: all",
		`2: effects: must be a list of rules, or a mapping with use and rules, got the string "all"`},
	{"nothing", "effects: {}", "2: effects: is empty; it needs use or rules"},
	{"no rules", "effects: []", "2: effects: is empty; it needs at least one entry"},
	{"unknown key", "effects: {uses: [terraform]}", `2: effects: unknown key "uses" (did you mean "use"?)`},
	{"unknown ready rules", "effects: {use: [teraform]}",
		`2: effects.use: there are no ready rules "teraform" (did you mean "terraform"?); there are qontract-reconcile, terraform, vault-manager, kubectl`},
	{"ready rules twice", "effects: {use: [kubectl, kubectl]}", `2: effects.use[1]: "kubectl" is already on line 2`},
	{"no pattern", effectRule("{kind: create}"), "3: effects[0]: match is missing"},
	{"no kind", effectRule("{match: a}"), "3: effects[0]: kind is missing"},
	{"unknown kind", effectRule("{match: a, kind: remove}"),
		`3: effects[0].kind: must be create or change or delete or other or none, got "remove"`},
	{"broken pattern", effectRule("{match: 'a(b', kind: create}"),
		`3: effects[0].match: pattern "a(b" is no regular expression: missing closing )`},
	{"look-behind", effectRule("{match: '(?<!x)a', kind: create}"),
		`3: effects[0].match: pattern "(?<!x)a" is no regular expression: invalid named capture`},
	{"a back reference", effectRule(`{match: '(a+)+\1', kind: create}`),
		`3: effects[0].match: pattern "(a+)+\\1" is no regular expression: invalid escape sequence`},
	{"the empty line", effectRule("{match: '^x*', kind: create}"),
		`3: effects[0].match: pattern "^x*" matches every line, so that every line would be an effect or none`},
	{"every line", effectRule("{match: '.', kind: none}"),
		`3: effects[0].match: pattern "." matches every line, so that every line would be an effect or none`},
	{"every line that has text", effectRule(`{match: '\S+$', kind: other}`),
		`3: effects[0].match: pattern "\\S+$" matches every line, so that every line would be an effect or none`},
	{"long pattern", effectRule("{match: '" + strings.Repeat("x", 501) + "', kind: create}"),
		"3: effects[0].match: pattern " + phrase.Quote(strings.Repeat("x", 501)) + " is longer than 500 bytes"},
	{"a huge pattern", effectRule("{match: '((a{100}){100}){100}', kind: create}"),
		`3: effects[0].match: pattern "((a{100}){100}){100}" is no regular expression: invalid repeat count`},
	{"unknown group", effectRule("{match: 'made (?P<name>.+)', kind: create, subject: $nam}"),
		`3: effects[0].subject: the pattern has no group "nam" (did you mean "name"?)`},
	{"unknown number", effectRule("{match: 'made (.+)', kind: create, subject: '${2}'}"),
		`3: effects[0].subject: the pattern has no group "2"`},
	{"a dollar", effectRule("{match: 'made (.+)', kind: create, subject: 'for $ 5'}"),
		"3: effects[0].subject: a $ stands alone; write $$ for a dollar sign, or $name for a group of the pattern"},
	{"subject of no effect", effectRule("{match: a, kind: none, subject: b}"),
		"3: effects[0].subject: is never used, since kind is none"},
	{"empty subject", effectRule("{match: a, kind: create, subject: ''}"), "3: effects[0].subject: is empty"},
	{"a rule in a word", effectRule("a"), `3: effects[0]: must be a mapping, got the string "a"`},
	{"many rules", "effects: [" + strings.Repeat("{match: a, kind: none}, ", 101) + "]",
		"2: effects: has more than 100 rules"},
	{"compare", "effects: {use: [terraform], compare: head}", `2: effects.compare: must be none or base, got "head"`},
	{"budget", "effects: {compare: base, budget: 5}",
		`2: effects.budget: must be a duration such as 90s or 5m, got the number "5"`},
	{"budget of nothing", "effects: {compare: base, budget: 0s}", `2: effects.budget: must be from 1s to 24h, got "0s"`},
	{"budget without comparison", "effects: {use: [kubectl], budget: 5m}",
		`2: effects.budget: is never used without "compare: base"`},
	{"label of an unknown kind", "effects: {require: {deletes: ok}}",
		`2: effects.require: unknown key "deletes" (did you mean "delete"?)`},
	{"empty label", "effects: {require: {delete: ''}}", "2: effects.require.delete: is empty"},
	{"two labels", "effects: {require: {delete: 'a,b'}}",
		`2: effects.require.delete: "a,b" cannot be a label: a label has at most 255 bytes, no comma, and no blank at its ends`},
	{"own policy", "integrations:\n  a: {effects: {use: [kubectl], compare: base}}",
		`3: integrations.a.effects: unknown key "compare"`},
	{"own word", "integrations:\n  a: {effects: all}",
		`3: integrations.a.effects: must be none, a list of rules, or a mapping with use and rules, got the string "all"`},
	{"audits", "audit: {on_miss: trust}", `2: audit.on_miss: must be report or distrust, got "trust"`},
	{"order", "owners: {order: none}", `2: owners.order: must be asked or ignored, got "none"`},
	{"unordered schema", "owners: {unordered: {app: [a]}}", `2: owners.unordered: "app" is no schema; write it as $schema of ` +
		`its files has it, such as /app-sre/app-1.yml`},
	{"unordered selector", "owners: {unordered: {/a.yml: ['a[']}}",
		`2: owners.unordered./a.yml: the selector "a[" cannot be read: it ends too early`},
	{"unordered nothing", "owners: {unordered: {/a.yml: []}}",
		`2: owners.unordered./a.yml: is empty; it needs at least one entry`},
	{"edits", "owners: {edits: yes}", `2: owners.edits: must be ignored or counted, got "yes"`},
	{"own nothing", "integrations:\n  a: {effects: {}}", "3: integrations.a.effects: is empty; it needs use or rules"},
}

func TestEffectsMistakes(t *testing.T) {
	for _, c := range effectMistakes {
		t.Run(c.name, func(t *testing.T) {
			s, err := Read("prcheck.yaml", []byte("version: 1\n"+c.text+"\n"))
			if err == nil {
				t.Fatalf("read %+v", s)
			}
			if want := "prcheck.yaml:" + c.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s", err, want)
			}
		})
	}
}
