package settings

import (
	"strings"
	"testing"
)

func TestDifferingKeys(t *testing.T) {
	const base = `version: 1
limits: {aws: {max: 2}}
exec: {argv: [run, "{cmd}", "{shard_args}"], env: {A: b}}
paths: {ignore: ["docs/**"], select: [{when: ["resources/**"], run: [b]}]}
integrations:
  a: {queries: [a.graphql], list_order: significant, shards: {by: ["x[*].name"], arg: --x}, limits: [aws]}
  b: {exec: {argv: [own, "{cmd}"]}, trace: static}
`
	for _, c := range []struct {
		name, from, to string
		want           string // the keys for the integrations a, b and one without settings
	}{
		{"nothing", "", "", "||"},
		{"a comment and other lines", "version: 1", "# hello\n\nversion: 1", "||"},
		{"written otherwise", "ignore: [\"docs/**\"]", "ignore: ['docs/**']", "||"},
		{"the general command", "[run,", "[evil,", "exec||exec"},
		{"the general environment", "A: b", "A: c", "exec|exec|exec"},
		{"its own command", "[own,", "[evil,", "|exec|"},
		{"its queries", "a.graphql", "b.graphql", "queries||"},
		{"its list order", "list_order: significant, ", "", "list_order||"},
		{"the default order, said", "list_order: significant", "list_order: ignored", "list_order||"},
		{"its selector", "x[*].name", "x[*].path", "shards||"},
		{"its option", "arg: --x", "arg: --y", "shards||"},
		{"its bound", "arg: --x", "arg: --x, max: 5", "shards||"},
		{"no shards", `, shards: {by: ["x[*].name"], arg: --x}`, "", "shards||"},
		{"its promise", "trace: static", "trace: exact", "|trace|"},
		{"what is ignored", "docs/**", "**", "paths.ignore|paths.ignore|paths.ignore"},
		{"what selects it", "resources/**", "nothing", "|paths.select|"},
		{"whom a rule selects", "run: [b]", "run: [a]", "paths.select|paths.select|"},
		{"what defines integrations", "version: 1", "version: 1\ndefinition_schema: /other-1.yml",
			"definition_schema|definition_schema|definition_schema"},
		{"strict schemas", "version: 1", "version: 1\nschemas: strict", "schemas|schemas|schemas"},
		{"its strict schemas", "trace: static", "trace: static, schemas: strict", "|schemas|"},
		{"its resources", "trace: static", "trace: static, resources: none", "|resources|"},
		{"the checkout", "version: 1", "version: 1\ncheckout: {data: d}", "checkout|checkout|checkout"},
		{"the checkout, as it is by default", "version: 1", "version: 1\ncheckout: {data: data}", "||"},
		{"what passes by itself", "version: 1", "version: 1\ntransient: [slow]", "transient|transient|transient"},
		{"what passes by itself in one", "trace: static", "trace: static, transient: [slow]", "|transient|"},
		{"the time on base", "version: 1", "version: 1\nmax_baseline_seconds: 5",
			"max_baseline_seconds|max_baseline_seconds|max_baseline_seconds"},
		{"a limit that nobody uses", "aws: {max: 2}", "aws: {max: 2}, gcp: {max: 1}", "||"},
		{"the bound of a limit", "aws: {max: 2}", "\n  aws: {max: 3}", "limits||"},
		{"its limits", "trace: static", "trace: static, limits: [aws]", "|limits|"},
		{"reuse", "version: 1", "version: 1\nreuse: none", "reuse|reuse|reuse"},
		{"its reuse", "trace: static", "trace: static, reuse: 2h", "|reuse|"},
		{"programs", "version: 1", "version: 1\nprograms: none", "programs|programs|programs"},
		{"reuse, as it is by default", "trace: static", "trace: static, reuse: 60m", "||"},
		{"effects", "version: 1", "version: 1\neffects: {use: [terraform]}", "effects|effects|effects"},
		{"its effects", "trace: static", "trace: static, effects: [{match: a, kind: create}]", "|effects|"},
		{"a label for effects", "version: 1", "version: 1\neffects: {require: {delete: ok}}", "effects|effects|effects"},
		{"the budget of effects, as it is by default", "version: 1", "version: 1\neffects: {compare: none}", "||"},
		{"where secrets are", "version: 1", "version: 1\nsecrets: {env: {prefix: A}}", "secrets|secrets|secrets"},
		{"its native", "trace: static", "trace: static, native: n", "|native|"},
		{"its own settings", "trace: static", "trace: static, settings: {x: [1]}", "|settings|"},
		{"its own settings, none", "trace: static", "trace: static, settings: {}", "|settings|"},
		{"its deletions", "trace: static", "trace: static, deletes: {max: 3}", "|deletes|"},
		{"its deletions, as they are by default", "trace: static", "trace: static, deletes: {}", "||"},
		{"an approved deletion", "trace: static", "trace: static, deletes: {approved: [{key: x, until: 2026-01-31}]}",
			"|deletes|"},
		{"what it adopts", "trace: static", "trace: static, adopt: [x]", "|adopt|"},
		{"what it takes over", "trace: static", "trace: static, take_over: [x]", "|take_over|"},
		{"whether clusters try writes", "trace: static", "trace: static, server_dry_run: true", "|server_dry_run|"},
		{"that clusters do not try writes", "trace: static", "trace: static, server_dry_run: false", "||"},
		{"from whom it takes over", "trace: static", "trace: static, take_over_from: x", "|take_over_from|"},
		{"trust", "version: 1", "version: 1\ntrust: {new_integrations: true}", "trust|trust|trust"},
		{"CI files", "version: 1", "version: 1\ntrust: {ci_files: [x]}", "trust|trust|trust"},
		{"everything gone", base, "version: 1\n",
			"exec,paths.ignore,queries,limits,list_order,shards|exec,paths.ignore,paths.select,trace|exec,paths.ignore"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(base, c.from) {
				t.Fatalf("the settings do not contain %q", c.from)
			}
			read := func(text string) *Settings {
				s, err := Read("prcheck.yaml", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			one, two := read(base), read(strings.Replace(base, c.from, c.to, 1))
			differ := func(one, two *Settings) string {
				var out []string
				for _, name := range []string{"a", "b", "c"} {
					out = append(out, strings.Join(one.DifferingKeys(two, name), ","))
				}
				return strings.Join(out, "|")
			}
			if got := differ(one, two); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := differ(two, one); got != c.want {
				t.Errorf("the other way around: got %q, want %q", got, c.want)
			}
		})
	}
}

// The settings of natives are compared by what they say, not by how it is written.
func TestDifferingNativeKeys(t *testing.T) {
	const base = "version: 1\nintegrations:\n  a:\n    settings: {x: 1, y: [a, b], z: {m: n, o: p}}\n    deletes: {approved: [{key: x, until: 2026-01-31}]}\n"
	for _, c := range []struct{ name, from, to, want string }{
		{"written otherwise", "{x: 1, y: [a, b], z: {m: n, o: p}}",
			"\n      z: {o: p, m: n}\n      y: ['a', \"b\"] # letters\n      x: 1", ""},
		{"other lines of approvals", "[{key: x, until: 2026-01-31}]", "[\n      {until: '2026-01-31', key: x}]", ""},
		{"another order of a list", "[a, b]", "[b, a]", "settings"},
		{"a text in place of a number", "x: 1", "x: '1'", "settings"},
		{"a key below", "o: p", "o: q", "settings"},
		{"a key less", ", o: p", "", "settings"},
		{"another day", "2026-01-31", "2027-01-31", "deletes"},
		{"another key", "key: x", "key: y", "deletes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(base, c.from, c.to, 1)
			got := strings.Join(read(t, base).DifferingKeys(read(t, text), "a"), ",")
			if text == base || got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestIsCIFile(t *testing.T) {
	own, err := Read("prcheck.yaml", []byte("version: 1\ntrust: {ci_files: ['ci/**']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][2]bool{ // with the default, with trust.ci_files
		".gitlab-ci.yml":          {true, false},
		".gitlab/ci/test.yml":     {true, false},
		"ci/checks.gitlab-ci.yml": {true, true},
		"ci/run.sh":               {false, true},
		"data/.gitlab-ci.txt":     {false, false},
		"x/.gitlab/ci.yml":        {false, false},
	} {
		if got := [2]bool{new(Settings).IsCIFile(path), own.IsCIFile(path)}; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
