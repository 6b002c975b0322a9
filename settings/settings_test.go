package settings

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/plan"
)

func TestRead(t *testing.T) {
	raw, err := os.ReadFile("testdata/prcheck.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read("prcheck.yaml", raw)
	if err != nil {
		t.Fatal(err)
	}
	general := Exec{
		Argv:    []string{"reconcile", "--config", "{config}", "--dry-run", "{cmd}", "{shard_args}"},
		Config:  "[graphql]\nserver = \"{graphql_url}\"\n",
		Env:     map[string]string{"COMPARE_SHA": "{base_sha}"},
		PassEnv: []string{"HOME", "PATH"},
		Timeout: 15 * time.Minute,

		Variables: map[string]string{"mr": "{env.CI_MR}"},
		ImageRef:  "latest",
		When: map[Condition]ExecAddition{
			State: {Env: map[string]string{"BUCKET": "{env.bucket}"}, PassEnv: []string{"ACCOUNT"}},
		},
	}
	own := general
	own.Argv = []string{"own", "--only={shard}", "{cmd}"}
	own.PassEnv = []string{}
	own.Timeout = 90 * time.Second
	effects := []EffectRule{
		{Match: regexp.MustCompile("^would create (?P<subject>.+)$"), Kind: plan.EffectCreate, Subject: "$subject", Line: 49},
		{Ready: EffectsOfReconcile, Line: 47},
	}
	want := &Settings{
		effects: effectSettings{effects,
			EffectPolicy{true, 3 * time.Minute, map[plan.EffectKind]string{plan.EffectDelete: "deletions-reviewed"}}},
		File:   "prcheck.yaml",
		Exec:   general,
		Ignore: []Glob{{"docs/**", 16}, {"**/*.md", 16}},
		Rules: []Rule{{
			When: []Glob{{"resources/jenkins/**", 18}, {"resources/{a,b}.j2", 18}},
			Run:  []Name{{"jenkins-job-builder", 19}, {"template-tester", 19}},
			Line: 18,
		}},
		TrustNewIntegrations: true,
		integrations: map[string]Integration{
			"terraform-users": {
				Name: "terraform-users",
				Exec: general,
				Queries: []QueryFile{
					{"queries/terraform-users.graphql", 22}, {"queries/accounts.graphql", 22},
				},
				Shards: &Shards{
					By: []Selector{
						selectorAt(t, "accounts[*].name", 24),
						selectorAt(t, "roles[*].aws_groups[*].account.name", 24),
					},
					Arg: "--account-name", Collection: true, Max: 10, FanOut: true, Line: 24,
				},
				ListOrder: OrderSignificant, ListOrderSet: true, Trace: TraceStatic, Reuse: DefaultReuse, Effects: effects,
				Line: 21,
			},
			"own-program": {
				Name: "own-program", Exec: own, Reuse: DefaultReuse, Effects: effects, Line: 31,
				Shards: &Shards{
					By: []Selector{selectorAt(t, "state.*.shard", 36)}, Max: DefaultMaxShards, Line: 36,
				},
			},
			"bound": {
				Name: "bound", Exec: general, Reuse: DefaultReuse, Effects: effects, Line: 37, Native: "namespaces",
				Deletes: Deletes{Max: number(5), Percent: number(10), Floor: number(1),
					Approved: []Approval{{"c1/old", "2026-01-31", 40}}},
				Adopt:    []string{"c1/*"},
				TakeOver: []string{"c2/**"},
				NativeKeys: []Name{{"native", 38}, {"settings", 39}, {"deletes", 40}, {"adopt", 41}, {"take_over", 42},
					{"take_over_from", 43}, {"server_dry_run", 44}},

				TakeOverFrom: "openshift-namespaces", ServerDryRun: true, Own: s.For("bound").Own,
			},
		},
		digest: digest(raw), text: raw,
	}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("got  %+v\nwant %+v", s, want)
	}
}

func number(n int) *int { return &n }

func selectorAt(t *testing.T, text string, line int) Selector {
	t.Helper()
	s, err := ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	s.Line = line
	return s
}

func TestZeroSettings(t *testing.T) {
	var s Settings
	want := Integration{Name: "any", Exec: Exec{Timeout: DefaultTimeout}, Reuse: DefaultReuse}
	if got := s.For("any"); !reflect.DeepEqual(got, want) {
		t.Errorf("For: got %+v, want %+v", got, want)
	}
	if s.IsIgnored("a") || s.RulesFor("a") != nil || s.Names() != nil || s.Digest() != "" {
		t.Errorf("zero settings select or ignore something: %+v", s)
	}
}

func TestUnnamedIntegration(t *testing.T) {
	s := read(t, "version: 1\nexec: {argv: [x], timeout: 1m}\nintegrations: {b: {}, a: {}}\n")
	want := Integration{Name: "other", Exec: Exec{Argv: []string{"x"}, Timeout: time.Minute}, Reuse: DefaultReuse}
	if got := s.For("other"); !reflect.DeepEqual(got, want) {
		t.Errorf("For: got %+v, want %+v", got, want)
	}
	if got, want := s.Names(), []string{"a", "b"}; !reflect.DeepEqual(got, want) {
		t.Errorf("Names: got %v, want %v", got, want)
	}
}

func read(t *testing.T, text string) *Settings {
	t.Helper()
	s, err := Read("prcheck.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := refusal([]byte(text)); err != nil {
		t.Errorf("the schema refuses what the reader accepts: %v", err)
	}
	return s
}

func TestPaths(t *testing.T) {
	s := read(t, `version: 1
paths:
  ignore: ["docs/**", "**/*.md"]
  select:
    - {when: ["resources/jenkins/**"], run: [jjb]}
    - {when: ["data/x.yml", "resources/**/*.j2"], run: [tester, jjb]}
`)
	tests := []struct {
		path    string
		ignored bool
		rules   []int // lines of the rules
	}{
		{"docs/a/b.txt", true, nil},
		{"README.md", true, nil},
		{"data/deep/in/x.md", true, nil},
		{"data/docs/a.yml", false, nil},
		{"data/x.yml", false, []int{6}},
		{"resources/jenkins/job.yaml", false, []int{5}},
		{"resources/jenkins/job.j2", false, []int{5, 6}},
		{"resources/top.j2", false, []int{6}},
		{"", false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			if got := s.IsIgnored(tt.path); got != tt.ignored {
				t.Errorf("Ignored: got %v, want %v", got, tt.ignored)
			}
			var lines []int
			for _, r := range s.RulesFor(tt.path) {
				lines = append(lines, r.Line)
			}
			if !reflect.DeepEqual(lines, tt.rules) {
				t.Errorf("RulesFor: got lines %v, want %v", lines, tt.rules)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	e := Exec{Argv: []string{"{name}", "{cmd}", "--in={shard}", "{shard_args}", "{config}", "{task}"}}
	tests := []struct {
		name, arg, shard string
		cmd              []string
		want             string
	}{
		{"one shard", "--account", "app-sre", []string{"users", "-v"},
			"users|users|-v|--in=app-sre|--account|app-sre|{config}|{task}"},
		{"all shards", "--account", "", []string{"users"}, "users|users|--in=|{config}|{task}"},
		{"one word", "--account=", "app-sre", nil, "users|--in=app-sre|--account=app-sre|{config}|{task}"},
		{"braces in a value stay", "--account", "{name}", []string{"{shard}"},
			"users|{shard}|--in={lbrace}name}|--account|{lbrace}name}|{config}|{task}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(e.Expand("users", tt.cmd, tt.arg, tt.shard), "|"); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	if got := (Exec{}).Expand("users", []string{"x"}, "", ""); got != nil {
		t.Errorf("without argv: got %v, want nothing", got)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	_, err := Read("a.yaml", []byte("version: 1\nfoo: 1\n"))
	want := Error{File: "a.yaml", Line: 2, Msg: `unknown key "foo"`}
	var got *Error
	if !errors.As(err, &got) || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestManyMistakes(t *testing.T) {
	_, err := Read("a.yaml", []byte("version: 1\n"+strings.Repeat("trust: 1\n", 31)))
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxMistakes+1 || lines[maxMistakes] != "a.yaml: 11 more mistakes" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func FuzzRead(f *testing.F) {
	raw, err := os.ReadFile("testdata/prcheck.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	for _, tt := range mistakes {
		if len(tt.text) < 4096 { // large seeds make fuzzing crawl
			f.Add([]byte(tt.text))
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := Read("prcheck.yaml", raw)
		if (s == nil) == (err == nil) {
			t.Fatalf("settings %v and error %v", s, err)
		}
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "prcheck.yaml:") {
					t.Errorf("a line without its place: %q", line)
				}
			}
			return
		}
		if err := refusal(raw); err != nil && !bytes.ContainsRune(raw, '!') { // a tag can make a number of any text
			t.Errorf("the schema refuses what the reader accepts: %v", err)
		}
		s.IsIgnored("data/some/path.yml")
		s.RulesFor("resources/some/path.yml")
		for _, name := range s.Names() {
			it := s.For(name)
			if it.Exec.Timeout <= 0 {
				t.Errorf("%s: no timeout", name)
			}
			if it.Shards != nil && (it.Shards.Max < 1 || len(it.Shards.By) == 0) {
				t.Errorf("%s: shards %+v", name, *it.Shards)
			}
			it.Exec.Expand(name, []string{"cmd"}, "--arg", "shard")
			it.Targets("shard")
		}
	})
}
