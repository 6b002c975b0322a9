package effects_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/runner/effects"
	"github.com/app-sre/prcheck/settings"
)

const record = "[2026-11-20 10:00:01] [INFO] [DRY-RUN] [a.py:b:1] - "

// Deletions are kept before all others, and equal effects are counted.
func TestTooManyEffects(t *testing.T) {
	var out strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&out, "%s['create_user', 'u%d']\n", record, i)
	}
	for i := range 500 {
		fmt.Fprintf(&out, "%s['delete_user', 'u%d']\n", record, i)
	}
	fmt.Fprintf(&out, "%s['delete_user', 'u7']\n%s['update_user', 'x']\n", record, record)
	e := find(t, ready(settings.EffectsOfReconcile), out.String())
	if len(e.Items) != 2000 || e.Count(plan.EffectCreate) != 3000 || e.Count(plan.EffectDelete) != 501 ||
		e.Count(plan.EffectChange) != 1 {
		t.Errorf("got %d items, %d to create, %d to delete, %d to change", len(e.Items), e.Count(plan.EffectCreate),
			e.Count(plan.EffectDelete), e.Count(plan.EffectChange))
	}
	isTwice := func(i plan.Effect) bool { return i.Subject == "delete_user u7" && i.Times == 2 }
	if e.Beyond[plan.EffectCreate] != 1500 || e.Beyond[plan.EffectDelete] != 0 || !slices.ContainsFunc(e.Items, isTwice) {
		t.Errorf("beyond %v, items %+v", e.Beyond, e.Items[:9])
	}
}

// A gigabyte of output is not kept, and its effects cannot be told.
func TestTooMuchOutput(t *testing.T) {
	f := effects.NewFinder(ready(settings.EffectsOfReconcile), mask.New(nil))
	piece := []byte(record + "['delete_user', 'jane']\n" + strings.Repeat(strings.Repeat("x", 1<<15)+"\n", 1<<5))
	for range 1 << 10 {
		if n, err := f.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	f.Announce(plan.Effect{Kind: plan.EffectDelete, Subject: "x"})
	if got := describe(f.Effects()); got != "unknown: the task printed more than 64 MiB" {
		t.Errorf("got %q", got)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	e := find(t, ready(settings.EffectsOfReconcile),
		record+"Creating user "+long+"\n"+record+"['delete_user', '"+long+"']\n"+record+"['delete_user', 'jane']\n")
	got := describe(e)
	if !strings.HasPrefix(got, "delete delete_user jane\ncreate user xxx") ||
		strings.Count(got, "is longer than 64 KiB; its rest was not read") != 2 ||
		!strings.Contains(got, "problem: a list that cannot be read: ['delete_user', 'xxx") {
		t.Errorf("got %s", got)
	}
	for _, item := range e.Items {
		if utf8.RuneCountInString(item.Subject) > 200 {
			t.Errorf("a subject has %d characters", utf8.RuneCountInString(item.Subject))
		}
	}
}

// Subjects are masked and have nothing that a terminal acts on, however a program writes it.
func TestSubjectsAreHarmless(t *testing.T) {
	const secret = "s3cret-of-jane"
	lines := []string{
		"token " + secret,
		"token \x1b[1ms3cret\x1b[0m-of-jane",
		"token " + base64.StdEncoding.EncodeToString([]byte(secret)),
		"title \x1b]0;evil\x07 bell\a back\b \u202eright\u2066 \u009b31m",
	}
	rules, err := settings.Read("prcheck.yaml",
		[]byte("version: 1\neffects: {use: [qontract-reconcile], rules: [{match: '^(token|title) .{0,9}', kind: create}, {match: '^whole (.+)', kind: create, subject: $1}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	out := strings.Join(lines, "\n") + "\nwhole " + strings.Join(lines, "\nwhole ") + "\n" + record +
		`['create_user', 's3cret\x2dof-jane', 'a\x1b[2Jb\u202e']` + "\n"
	f := effects.NewFinder(rules.For("a").Effects, mask.New([]string{secret}))
	_, _ = io.WriteString(f, out)
	f.Announce(plan.Effect{Kind: plan.EffectCreate, Subject: "native " + secret + "\x1b[31m"})
	f.Announce(plan.Effect{Kind: "evil", Subject: secret})
	f.ReadFile(strings.NewReader(`{"kind":"create","subject":"file s3cret\u002dof-jane \u001b[31m"}` + "\n" +
		`{"kind":"no","subject":"` + secret + `"}`))
	got := describe(f.Effects())
	for _, part := range []string{"s3cret", "of-jane", base64.StdEncoding.EncodeToString([]byte(secret))[:8], "\x1b", "\a",
		"\b", "\u202e", "\u2066", "\u009b", "[31m", "\n\n"} {
		if strings.Contains(got, part) {
			t.Errorf("%q is in the effects:\n%s", part, got)
		}
	}
	if n := strings.Count(got, "***"); n < 6 || !strings.Contains(got, "token *** ×6") {
		t.Errorf("only %d secrets were masked:\n%s", n, got)
	}
}

// What a program writes into its file counts line by line.
func TestReadFile(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"nothing": {"", "nothing"},
		"some":    {"{\"kind\":\"delete\",\"subject\":\"user jane\"}\n\n{\"kind\":\"create\",\"subject\":\"role\\nx\",\"more\":1}\r\n{\"kind\":\"delete\",\"subject\":\"user jane\"}", "delete user jane ×2\ncreate role x\nproblem: line 3 of the file {effects}: an effect of a program has no field \"more\""},
		"no JSON": {"hello\n{\"kind\":\"other\",\"subject\":\"mail\"}\n",
			"other mail\nproblem: line 1 of the file {effects} is no JSON object with kind and subject: hello"},
		"cut short": {`{"kind":"delete","subject":"ja`,
			`problem: line 1 of the file {effects} is no JSON object with kind and subject: {"kind":"delete","subject":"ja`},
		"a list": {"[1]", "problem: line 1 of the file {effects} is no JSON object with kind and subject: [1]"},
		"unknown kind": {`{"kind":"remove","subject":"x"}`,
			`problem: line 1 of the file {effects} has no known kind (create, change, delete, other): {"kind":"remove","subject":"x"}`},
		"no subject": {`{"kind":"delete","subject":" "}`,
			`problem: line 1 of the file {effects} has no subject: {"kind":"delete","subject":" "}`},
		"a long line": {strings.Repeat("x", 1<<20) + "\n{\"kind\":\"delete\",\"subject\":\"x\"}",
			"delete x\nproblem: line 1 of the file {effects} is longer than 64 KiB; it does not count"},
		"too much": {strings.Repeat(`{"kind":"delete","subject":"`+strings.Repeat("x", 30<<10)+`"}`+"\n", 600),
			"unknown: the task wrote more than 16 MiB of effects"},
		"one long line": {strings.Repeat("x", 17<<20), "unknown: the task wrote more than 16 MiB of effects"},
	} {
		f := effects.NewFinder(nil, mask.New(nil))
		f.ReadFile(strings.NewReader(c.file))
		if got := describe(f.Effects()); got != c.want {
			t.Errorf("%s: got %.300q, want %q", name, got, c.want)
		}
	}
	f := effects.NewFinder(nil, mask.New(nil))
	f.ReadFile(strings.NewReader(strings.Repeat("x\n", 50)))
	if e := f.Effects(); len(e.Problems) != 21 || e.Problems[20] != "30 more problems" {
		t.Errorf("got %q", e.Problems)
	}
	f = effects.NewFinder(nil, mask.New(nil))
	f.ReadFile(strings.NewReader(`{"kind":"delete","subject":"x"}`))
	f.MissFile("the file is a link\x1b[1m")
	if got := describe(f.Effects()); got != "unknown: the file is a link" {
		t.Errorf("got %q", got)
	}
}

// A runner that was left behind may still write. What it writes does not count any more.
func TestLateOutput(t *testing.T) {
	f := effects.NewFinder(ready(settings.EffectsOfReconcile), mask.New(nil))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 100 {
				_, _ = io.WriteString(f, record+"['delete_user', 'jane']\n")
				f.Announce(plan.Effect{Kind: plan.EffectCreate, Subject: "x"})
			}
		})
	}
	all.Wait()
	first := describe(f.Effects())
	_, _ = io.WriteString(f, record+"['delete_user', 'joe']\n")
	f.Announce(plan.Effect{Kind: plan.EffectCreate, Subject: "y"})
	f.ReadFile(strings.NewReader(`{"kind":"delete","subject":"x"}`))
	f.MissFile("late")
	if got := describe(f.Effects()); got != first || first != "delete delete_user jane ×400\ncreate x ×400" &&
		first != "create x ×400\ndelete delete_user jane ×400" {
		t.Errorf("got %q, then %q", first, got)
	}
}

func TestCompare(t *testing.T) {
	list := func(texts ...string) *plan.Effects {
		e := &plan.Effects{Items: []plan.Effect{}}
		for _, text := range texts {
			item := plan.Effect{}
			if _, err := fmt.Sscanf(text, "%s %s %d", &item.Kind, &item.Subject, &item.Times); err != nil && item.Subject == "" {
				t.Fatal(text)
			}
			e.Items = append(e.Items, item)
		}
		return e
	}
	beyond := list("create x")
	beyond.Beyond = map[plan.EffectKind]int{plan.EffectDelete: 1}
	for name, c := range map[string]struct {
		head, base *plan.Effects
		want       string
	}{
		"the same": {list("create x", "delete y"), list("delete y", "create x"),
			"delete y pending\ncreate x pending"},
		"new and gone": {list("create x", "delete y"), list("delete z", "create x"),
			"delete y new\ndelete z gone\ncreate x pending"},
		"another kind":        {list("delete x"), list("change x"), "delete x new\nchange x gone"},
		"more often":          {list("create x 3"), list("create x"), "create x ×2 new\ncreate x pending"},
		"less often":          {list("create x 2"), list("create x 5"), "create x ×2 pending\ncreate x ×3 gone"},
		"nothing on base":     {list("create x"), list(), "create x new"},
		"nothing":             {list(), list(), "nothing"},
		"base is unknown":     {list("create x"), effects.Unknown("the task failed"), "create x; on base: the task failed"},
		"base was not looked": {list("create x"), nil, "create x; nobody looked for effects on base"},
		"head is unknown":     {effects.Unknown("the task failed"), list("create x"), "unknown: the task failed"},
		"too many": {beyond, list("create x"),
			"create x\n1 more to delete; there are too many effects to compare"},
	} {
		e := effects.Compare(c.head, c.base)
		got := describe(e)
		if e.Uncompared != "" {
			got += "; " + e.Uncompared
		}
		if got != c.want || e.Compared == (e.Uncompared != "" || e.Unknown != "") {
			t.Errorf("%s: got %q (compared: %v), want %q", name, got, e.Compared, c.want)
		}
	}
}

// A native may read a secret after it announced an effect. Nothing shows it all the same, and a
// flood of announcements ends.
func TestAnnouncements(t *testing.T) {
	masker := mask.New(nil)
	f := effects.NewFinder(nil, masker)
	f.Announce(plan.Effect{Kind: plan.EffectCreate, Subject: "user hunter22"})
	f.Announce(plan.Effect{Kind: "hunter22"})
	masker.Add("hunter22")
	const want = "create user ***\nproblem: an effect of kind \"***\" with the subject \"\" does not count: it needs a known kind and a subject"
	if got := describe(f.Effects()); got != want {
		t.Errorf("got %q", got)
	}
	f = effects.NewFinder(nil, masker)
	subject := strings.Repeat("x", 10<<20)
	for i := range 5_000 {
		f.Announce(plan.Effect{Kind: plan.EffectDelete, Subject: subject[i%100:]})
	}
	if got := describe(f.Effects()); got != "unknown: the task announced more than 64 MiB" {
		t.Errorf("got %q", got)
	}
}

// Effects whose subjects differ only beyond what is shown, or beyond what is read of a line, are
// different effects.
func TestCompareBeyondTheCut(t *testing.T) {
	line := func(n int, end string) string {
		return "[2026-11-20 10:00:01] [INFO] [DRY-RUN] [a.py:b:1] - Deleting user " + strings.Repeat("x", n) + end + "\n"
	}
	for _, n := range []int{10, 300, 70 << 10} {
		base := find(t, ready(settings.EffectsOfReconcile), line(n, "a"))
		same := effects.Compare(find(t, ready(settings.EffectsOfReconcile), line(n, "a")), base)
		other := effects.Compare(find(t, ready(settings.EffectsOfReconcile), line(n, "b")), base)
		if len(same.Items) != 1 || same.Items[0].Since != plan.SinceBase {
			t.Errorf("%d characters: got %+v, want it pending", n, same.Items)
		}
		if len(other.Items) != 2 || other.Items[0].Since != plan.SinceChange || other.Items[1].Since != plan.SinceGone {
			t.Errorf("%d characters: got %+v, want one new and one gone", n, other.Items)
		}
	}
}

// What the data of both sides alone say is new, whatever base announces, and base's effect is still its own.
func TestCompareKeepsTheData(t *testing.T) {
	effect := func(known plan.How, since plan.Since) plan.Effect {
		return plan.Effect{Kind: plan.EffectDelete, Subject: "x", Since: since, Known: plan.Known{How: known}}
	}
	base := &plan.Effects{Items: []plan.Effect{effect(plan.KnownLive, "")}}
	got := effects.Compare(&plan.Effects{Items: []plan.Effect{effect(plan.KnownData, plan.SinceChange)}}, base).Items
	want := effect(plan.KnownData, plan.SinceChange)
	if len(got) != 2 || !reflect.DeepEqual(got[0], want) || got[1].Since != plan.SinceGone {
		t.Errorf("got %+v", got)
	}
}
