package effects_test

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
)

// ready returns the rules that consist of some ready rules.
func ready(names ...string) []settings.EffectRule {
	var out []settings.EffectRule
	for _, name := range names {
		out = append(out, settings.EffectRule{Ready: name})
	}
	return out
}

// find returns the effects in an output.
func find(t *testing.T, rules []settings.EffectRule, output string, secrets ...string) *plan.Effects {
	t.Helper()
	f := effects.NewFinder(rules, mask.New(secrets))
	for part := range strings.SplitAfterSeq(output, "\n") {
		half := len(part) / 2
		for _, p := range []string{part[:half], part[half:]} {
			if n, err := f.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("Write: got %d, %v", n, err)
			}
		}
	}
	return f.Effects()
}

// describe returns effects as text: one a line, then what is beyond, then the problems.
func describe(e *plan.Effects) string {
	if e.Unknown != "" {
		return "unknown: " + e.Unknown
	}
	var out []string
	for _, item := range e.Items {
		text := fmt.Sprintf("%s %s", item.Kind, item.Subject)
		if item.Times > 0 {
			text += fmt.Sprintf(" ×%d", item.Times)
		}
		if item.Since != "" {
			text += " " + string(item.Since)
		}
		out = append(out, text)
	}
	for _, kind := range plan.EffectKinds() {
		if n := e.Beyond[kind]; n > 0 {
			out = append(out, fmt.Sprintf("%d more to %s", n, kind))
		}
	}
	for _, p := range e.Problems {
		out = append(out, "problem: "+p)
	}
	if len(out) == 0 {
		return "nothing"
	}
	return strings.Join(out, "\n")
}

// The files in testdata have lines of output, each followed by "=> " and what it announces.
func TestReadyRules(t *testing.T) {
	total := 0
	for _, name := range []string{settings.EffectsOfReconcile, settings.EffectsOfTerraform, settings.EffectsOfVaultManager,
		settings.EffectsOfKubectl} {
		raw, err := os.ReadFile("testdata/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for i, line := range strings.Split(string(raw), "\n") {
			want, isWant := strings.CutPrefix(line, "=> ")
			switch {
			case isWant:
				total++
				got, _, _ := strings.Cut(describe(find(t, ready(name), strings.Join(lines, "\n")+"\n")),
					"\nproblem: the output of terraform ends")
				if got != want {
					t.Errorf("testdata/%s.txt:%d: %s\ngot  %s\nwant %s", name, i, strings.Join(lines, "\n"), got, want)
				}
				lines = nil
			case line != "" && !strings.HasPrefix(line, "# "):
				lines = append(lines, line)
			}
		}
	}
	if total < 100 {
		t.Errorf("only %d forms were tested", total)
	}
}

// Rules count in their order, and the first that matches a line decides.
func TestOrderOfRules(t *testing.T) {
	s, err := settings.Read("prcheck.yaml", []byte(`version: 1
effects:
  use: [qontract-reconcile, terraform]
  rules:
    - {match: "'delete_user', '(?P<account>[^']+)', '(?P<user>[^']+)'", kind: other, subject: '${user}@$account for $$1'}
    - {match: '# aws_iam_user\.', kind: none}
    - {match: 'says nothing( about it)?$', kind: change, subject: $1}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := describe(find(t, s.For("any").Effects, strings.Join([]string{
		"[2026-11-20 10:00:01] [INFO] [DRY-RUN] [a.py:b:1] - ['delete_user', 'app-sre', 'jane']",
		"[2026-11-20 10:00:01] [INFO] [DRY-RUN] [a.py:b:1] - ['delete_role', 'app-sre', 'jane']",
		"  # aws_iam_user.jane will be created",
		"  # aws_iam_role.jane will be created",
		"Plan: 2 to add, 0 to change, 0 to destroy.",
		"it says nothing",
		"it says nothing",
	}, "\n")))
	want := `delete delete_role app-sre jane
create aws_iam_role.jane
change it says nothing ×2
other jane@app-sre for $1`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The sums of a plan are compared with its resources.
func TestSumsOfTerraform(t *testing.T) {
	const plan = "  # a.b will be created\n  # c.d must be replaced\n  # e.f will be updated in-place\n  # g.h will be destroyed\n"
	for name, c := range map[string]struct{ output, want string }{
		"the same": {plan + "\nPlan: 2 to add, 1 to change, 2 to destroy.\n", ""},
		"two plans": {plan + "Plan: 2 to add, 1 to change, 2 to destroy.\n" + plan +
			"Plan: 1 to import, 2 to add, 1 to change, 2 to destroy.\n",
			""},
		"others": {plan + "Plan: 3 to add, 1 to change, 2 to destroy.\n",
			"problem: terraform plans 3 to add, 1 to change and 2 to destroy, but its output names 2, 1 and 2 resources"},
		"no sums": {plan, "problem: the output of terraform ends without the sums of its plan"},
		"sums only": {"Plan: 2 to add, 0 to change, 1 to destroy.\n",
			"delete a resource that the plan of terraform does not name\ncreate a resource that the plan of terraform does not name ×2"},
		"no change": {"Plan: 0 to add, 0 to change, 0 to destroy.\n", "nothing"},
	} {
		f := effects.NewFinder(ready(settings.EffectsOfTerraform), mask.New(nil))
		_, _ = io.WriteString(f, c.output)
		got := describe(f.Effects())
		if again := describe(f.Effects()); again != got {
			t.Errorf("%s: got %q, then %q", name, got, again)
		}
		if strings.HasPrefix(c.want, "problem") || c.want == "" {
			_, got, _ = strings.Cut(got, "problem: ")
			if got != "" {
				got = "problem: " + got
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// Parts at which a native did not look are kept up to a bound. Beyond it, parts of one kind are one part.
func TestUnlook(t *testing.T) {
	masker := mask.New([]string{"hunter22"})
	f := effects.NewFinder(nil, masker)
	var want []plan.Unlooked
	for i := range 100 {
		part := plan.Unlooked{What: "a", Part: fmt.Sprint("p", i), Entries: 1, Why: "late"}
		f.Unlook(part)
		want = append(want, part)
	}
	for i := range 3 {
		f.Unlook(plan.Unlooked{What: "a", Part: "more", Entries: 10 + i, Why: "late"})
		f.Unlook(plan.Unlooked{What: "b", Part: "more", Entries: 20 + i, Why: "late"})
	}
	const why = "more parts were not looked at than are kept"
	want = append(want, plan.Unlooked{What: "a", Entries: 33, Why: why}, plan.Unlooked{What: "b", Entries: 63, Why: why})
	if got := f.Effects().Unlooked; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	f.Unlook(plan.Unlooked{What: "late"})
	if got := f.Effects().Unlooked; len(got) != len(want) {
		t.Errorf("after the end there are %d, want %d", len(got), len(want))
	}

	f = effects.NewFinder(nil, masker)
	f.Unlook(plan.Unlooked{What: "a", Part: "of hunter22 and later1", Entries: 1,
		Why: "denied \x1b[1mto hunter22 and later1"})
	masker.Add("later1")
	got := f.Effects().Unlooked
	if len(got) != 1 || got[0].Part != "of *** and ***" || got[0].Why != "denied to *** and ***" {
		t.Errorf("got %+v", got)
	}
	f = effects.NewFinder(nil, masker)
	f.MissFile("it is a link")
	f.Unlook(plan.Unlooked{What: "a"})
	if got := f.Effects(); got.Unknown != "it is a link" || got.Unlooked != nil {
		t.Errorf("got %+v", got)
	}
}

// What a native says of an effect stays: since when, how it is known, and how often. Of two that are the same the first
// one counts.
func TestAnnounceKeeps(t *testing.T) {
	f := effects.NewFinder(nil, mask.New([]string{"hunter22"}))
	f.Announce(plan.Effect{Kind: plan.EffectDelete, Subject: "x", Times: 3, Since: plan.SinceChange,
		Known: plan.Known{How: plan.KnownData, Why: "of hunter22"}})
	f.Announce(plan.Effect{Kind: plan.EffectDelete, Subject: "y", Times: 1, Known: plan.Known{How: plan.KnownLive}})
	f.Announce(plan.Effect{Kind: plan.EffectDelete, Subject: "x", Times: 2, Known: plan.Known{How: plan.KnownLive}})
	want := []plan.Effect{
		{Kind: plan.EffectDelete, Subject: "x", Times: 5, Since: plan.SinceChange,
			Known: plan.Known{How: plan.KnownData, Why: "of ***"}},
		{Kind: plan.EffectDelete, Subject: "y", Known: plan.Known{How: plan.KnownLive}},
	}
	if got := f.Effects().Items; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A line that belongs to a rule is not read by a later one, also if it announces nothing.
func TestClaimedLines(t *testing.T) {
	lines := map[string]string{
		settings.EffectsOfKubectl: "diff -u -N /tmp/LIVE-1/v1.Service.shop.new /tmp/MERGED-2/v1.Service.shop.new\n@@ -0,0 +1,20 @@\n" +
			"configmap/prices unchanged (server dry run)\nservice/till configured (server dry run)",
		settings.EffectsOfTerraform: "  # aws_iam_user.jane will be created\nPlan: 1 to add, 0 to change, 0 to destroy.\n" +
			`{"@level":"info","type":"planned_change","change":{"resource":{"addr":"a.b"},"action":"noop"}}` + "\n" +
			`{"@level":"info","type":"change_summary","changes":{"add":0,"change":0,"remove":0,"operation":"plan"}}`,
		settings.EffectsOfVaultManager: `level=info msg="[Dry Run] [Vault Policy] policy to be written='x'"`,
		settings.EffectsOfReconcile: record + "['create_user', 'x']\n" + record + "hello\n" +
			"[2026-11-20 10:00:01] [ERROR] [DRY-RUN] [a.py:b:1] - no",
	}
	for name, output := range lines {
		s, err := settings.Read("prcheck.yaml",
			[]byte("version: 1\neffects: {use: ["+name+"], rules: [{match: '[a-z0-9].*[a-z0-9]', kind: other}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		rules := s.For("any").Effects
		if rules[0].Ready == "" { // rules of one's own come first
			rules = []settings.EffectRule{rules[1], rules[0]}
		}
		if got := describe(find(t, rules, output+"\n")); strings.Contains(got, "other ") {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
}

// Empty lines are lines, wherever a write begins and ends.
func TestEmptyLines(t *testing.T) {
	f := effects.NewFinder(ready(settings.EffectsOfReconcile), mask.New(nil))
	for _, part := range []string{"\n" + record + "['delete_user', 'a']\n\n", "\n\n", record + "['delete_user', 'b']"} {
		_, _ = io.WriteString(f, part)
	}
	if got := describe(f.Effects()); got != "delete delete_user a\ndelete delete_user b" {
		t.Errorf("got %q", got)
	}
}
