package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestFlagsFrom(t *testing.T) {
	for _, c := range []struct {
		name, value string
		args        []string
		code        int
		out, err    string
	}{
		{"a blank in a flag", `["a b", "c"]`, []string{"add", "--flags-from", "FLAGS"}, ExitOK, "a b+c\n", ""},
		{"written with =", "\n [\"--times\", \"2\"]\n", []string{"add", "a", "--flags-from=FLAGS", "b"}, ExitOK, "a+b\n", ""},
		{"no flags", "[]", []string{"add", "a", "b", "--flags-from", "FLAGS"}, ExitOK, "a+b\n", ""},
		{"an empty variable", "", []string{"add", "a", "b", "--flags-from", "FLAGS"}, ExitOK, "a+b\n", ""},
		{"after --", `["x"]`, []string{"add", "--", "--flags-from", "FLAGS"}, ExitOK, "--flags-from+FLAGS\n", ""},
		{"nothing is split or filled in", `["*.go; rm -rf /", "'$(id)'"]`, []string{"add", "--flags-from", "FLAGS"}, ExitOK,
			"*.go; rm -rf /+'$(id)'\n", ""},
		{"no name", "", []string{"add", "a", "b", "--flags-from"}, ExitUsage, "",
			"demo: flag needs an argument: --flags-from (run 'demo add --help')\n"},
		{"words", "--times 2", []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			`demo: the variable FLAGS (of --flags-from): must be a JSON array of strings; write ["--times","2"]` + "\n"},
		{"an object", `{"times": 2}`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			`demo: the variable FLAGS (of --flags-from): must be a JSON array of strings such as ["--jobs", "4"]` + "\n"},
		{"null", "null", []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			`demo: the variable FLAGS (of --flags-from): must be a JSON array of strings such as ["--jobs", "4"]` + "\n"},
		{"more behind it", `["a"] ["b"]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			`demo: the variable FLAGS (of --flags-from): must be a JSON array of strings such as ["--jobs", "4"]` + "\n"},
		{"a number", `["--times", 2]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: the variable FLAGS (of --flags-from): item 2 must be a string, got 2; put it in quotes\n"},
		{"an item of nothing", `["a", null]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: the variable FLAGS (of --flags-from): item 2 must be a string, got null; put it in quotes\n"},
		{"NUL", `["a\u0000"]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: the variable FLAGS (of --flags-from): item 1 holds a NUL character\n"},
		{"itself", `["--flags-from=FLAGS"]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: the variable FLAGS (of --flags-from): item 1 is --flags-from, which a variable cannot hold\n"},
		{"a variable", `["--to", "s3://${BUCKET}/x"]`, []string{"add", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: the variable FLAGS (of --flags-from): item 2 names the variable ${BUCKET}, which is not filled in here; write its value\n"},
		{"an unknown flag", `["--tiems", "2"]`, []string{"add", "a", "b", "--flags-from", "FLAGS"}, ExitUsage, "",
			"demo: unknown flag: --tiems, did you mean \"--times\"? (run 'demo add --help')\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			env := Env{Args: c.args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
				Getenv: func(name string) string {
					return map[string]string{"FLAGS": c.value}[name]
				}}
			code := Run(context.Background(), "demo", env, func(ctx context.Context, env Env) error {
				return Execute(ctx, env, tree(env))
			})
			if code != c.code || out.String() != c.out || errs.String() != c.err {
				t.Errorf("got %d\n%s%s, want %d\n%s%s", code, out.String(), errs.String(), c.code, c.out, c.err)
			}
		})
	}
}
