package plan

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"
	"time"
)

// The sentence of every code. This is the one test that holds sentences; tests of
// decisions compare codes.
var rendered = []struct {
	reason Reason
	want   string
}{
	{Reason{}, ""},

	{Reason{Code: CodeSameBundle}, "base and head are the same bundle"},
	{Reason{Code: CodeAllIgnored}, "every change is a resource under paths.ignore"},
	{Reason{Code: CodeRemoved}, "head removes its definition, so there is nothing to dry-run after the merge"},
	{Reason{Code: CodeNewWithoutCheck}, "it is new and has no pr_check"},
	{Reason{Code: CodeNewDisabled}, "it is new and its pr_check is disabled"},
	{Reason{Code: CodeNewDefinition}, "it is new: only head defines it"},
	{Reason{Code: CodeNewCheck}, "it is new: only head gives it a pr_check"},
	{Reason{Code: CodeNoCheck}, "it has no pr_check"},
	{Reason{Code: CodeDisabled}, "its pr_check is disabled"},
	{Reason{Code: CodeDefinitionChanged, Names: []string{"pr_check", "schemas"}},
		"its own definition changed (pr_check, schemas); it runs as base defines it"},
	{Reason{Code: CodeRulesEdited, Names: []string{"a", "b", "c"}},
		"head edits a rule or a file that it uses (a and 2 more)"},
	{Reason{Code: CodeRulesEdited, Names: []string{"{text}"}, Text: "no"},
		"head edits a rule or a file that it uses ({text})"},
	{Reason{Code: CodeDistrusted, Names: []string{"state"}, Text: "last on 2026-11-21"},
		"an audit found that the rung state was wrong about it (last on 2026-11-21); planner upkeep confirm lets the rung count again"},
	{Reason{Code: CodeAlwaysRun}, "its pr_check says always_run"},

	{Reason{Code: CodePathsRule, Text: "docs/* covers docs/a"}, "a paths rule names it: docs/* covers docs/a"},
	{Reason{Code: CodeAllowedFileChanged, Names: []string{"/a.yml"}},
		"it may read /a.yml, which changed, and has no queries to look closer"},
	{Reason{Code: CodeTypesChanged, Names: []string{"T", "U"}},
		"T and 1 more changed, and without queries nothing shows that it is not concerned"},
	{Reason{Code: CodeDependsOnFile, Names: []string{"/a.yml", "/b.yml"}},
		"/a.yml and 1 more changed, and its answers depend on such files although its schemas do not allow them"},
	{Reason{Code: CodeResourceChanged, Names: []string{"/a.txt"}},
		"resource /a.txt changed, and nothing shows that it does not read it"},
	{Reason{Code: CodeNotEnforced},
		"its schemas are not enforced (no_validate_schemas), so they do not show that it is not concerned"},
	{Reason{Code: CodeOnlyMetadata}, "nothing but metadata changed"},
	{Reason{Code: CodeNoSchemas}, "it may read no schema at all"},
	{Reason{Code: CodeNoAllowedFile, Names: []string{"/a-1.yml"}, Count: 1},
		"no changed file has /a-1.yml, all that it may read"},
	{Reason{Code: CodeNoAllowedFile, Names: []string{"/a-1.yml", "/b-1.yml"}, Count: 2},
		"no changed file has one of the 2 schemas it may read"},

	{Reason{Code: CodeNoReadField}, "its queries read no field that changed"},
	{Reason{Code: CodeStateUnproven, Text: "query q: no"},
		"it is not proven that its desired state is the same: query q: no"},
	{Reason{Code: CodeSameState}, "its desired state is the same on base and head"},
	{Reason{Code: CodeStateDiffers}, "its desired state differs between base and head"},
	{Reason{Code: CodeForbiddenReads}, "its queries read files of schemas that it is not allowed to read"},
	{Reason{Code: CodeNotByShard, Text: "it has no shards"},
		"its desired state differs, and not for single shards only: it has no shards"},
	{Reason{Code: CodeTooManyShards, Count: 7, Of: 5},
		"its desired state differs for 7 shards, more than the 5 that are worth running singly"},
	{Reason{Code: CodeShardsDiffer, Names: []string{"one"}}, `its desired state differs for shard "one" only`},
	{Reason{Code: CodeShardsDiffer, Names: []string{"one", "two"}},
		`its desired state differs for shards ["one" "two"] only`},
	{Reason{Code: CodeShardsDiffer, Names: []string{"a", "b", "c", "d"}},
		`its desired state differs for 4 shards, "a" and others only`},

	{Reason{Code: CodeNotNeeded, Names: []string{"schema"}}, "its task is left out without it, at the rung schema"},
	{Reason{Code: CodeOldResult}, "its inputs are the same, but it is too old or does not count"},
	{Reason{Code: CodeOtherCommand}, "its task is started in another way"},
	{Reason{Code: CodeOwnCommits}, "the merge request has other commits than in that pipeline"},
	{Reason{Code: CodeOthersChanged}, "other changes since that pipeline changed what it sees"},
	{Reason{Code: CodeOthersFiles, Names: []string{"/a.yml", "/b.yml"}},
		"other changes since that pipeline changed what it may read: /a.yml and 1 more"},

	{Reason{Code: CodeSameAnswers}, "head answers all that it asked when it last passed as it did then"},
	{Reason{Code: CodeSameQueries}, "base and head answer all its recorded queries alike"},
	{Reason{Code: CodeAllShardsProven, Count: 1},
		"for each of its 1 shards, head answers all that it asked when it last passed as it did then"},
	{Reason{Code: CodeSomeShardsProven, Count: 1, Of: 2}, "traces prove that 1 of its 2 shards need not run"},
	{Reason{Code: CodeNoTrace}, "no trace of a run that passed is there"},
	{Reason{Code: CodeTraceUnproven, Text: "x"}, "its trace proves nothing: x"},
	{Reason{Code: CodeQueriesDiffer, Text: "x"}, "its recorded queries do not show that nothing changed: x"},
	{Reason{Code: CodeQueriesUnusable}, "its recorded queries cannot be compared"},
	{Reason{Code: CodeNoShardProven}, "no trace proves that one of its shards can be left out"},
	{Reason{Code: CodePromiseBroken, Text: "x"},
		"it broke its promise to ask always the same (x); planner upkeep confirm lets it count again"},
	{Reason{Code: CodeUnknownVariable, Names: []string{"IID"}}, "its command has the value of IID, which no plan knows"},
	{Reason{Code: CodeUnknownFile, Text: "x"}, "the files that its command may use are not known: x"},
	{Reason{Code: CodeTracesNotAsked, Text: "x"}, "x, so no trace is asked"},

	{Reason{Code: CodePassedBefore, Count: 1, At: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))},
		"its task passed with the same inputs, 2026-01-02 03:04 UTC"},
	{Reason{Code: CodePassedBefore, Count: 2, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		"each of its 2 tasks passed with the same inputs, the first 2026-01-02 03:04 UTC"},
	{Reason{Code: CodeSomePassedBefore, Count: 1, Of: 2},
		"1 of its 2 tasks passed with the same inputs and do not run again"},

	{Reason{Code: CodeFannedOut, Count: 3}, "fanned out over its 3 shards"},
	{Reason{Code: CodeFannedOutStatic, Count: 3}, "fanned out over its 3 static shards"},
	{Reason{Code: CodeFannedOutTasks, Count: 2, Of: 3}, "fanned out over its 2 shards, in 3 tasks"},
	{Reason{Code: CodeStaticTogether},
		"its static shards stay together, since exec does not hand over both {shards} and {shard_id}"},
	{Reason{Code: CodeWrapperExists, Names: []string{"x-wrapper"}}, `not fanned out: there is an integration "x-wrapper"`},
	{Reason{Code: CodeShardsUnknown}, "not fanned out: its shards are not known"},
	{Reason{Code: CodeNoShards}, "not fanned out: it has no shards"},
	{Reason{Code: CodeTooManyTasks, Count: 501, Of: 500}, "not fanned out: that would be 501 tasks, more than 500"},
	{Reason{Code: CodeStrategiesDiffer}, "not fanned out: base and head deploy it by different sharding strategies"},
	{Reason{Code: CodeIndivisible, Text: "x"}, "not fanned out: x"},

	{Reason{Code: CodeNoExec}, "no exec in prcheck.yaml says how to start it"},
	{Reason{Code: CodeUntrustedDefinition},
		"only head defines it, so it has no trusted command; merge its definition first, or set trust.new_integrations"},
	{Reason{Code: CodeUntrustedCheck},
		"only head gives it a pr_check, so it has no trusted command; merge its definition first, or set trust.new_integrations"},
	{Reason{Code: CodeUnsafeDefinition}, "only head defines it, and its name is not one to put into a command"},
	{Reason{Code: CodeUnsafeCheck}, "only head gives it a pr_check, and its name is not one to put into a command"},
	{Reason{Code: CodeUnsafeCommand, Names: []string{"-x"}},
		`only head defines it, and its pr_check.cmd begins with "-x", which is not the name of a command`},
	{Reason{Code: CodeUntrustedImage},
		"only head defines it, and it names an image of its own, which nobody has trusted yet"},
	{Reason{Code: CodeInvalidImage, Names: []string{"a/b"}}, `its pr_check.imageRef "a/b" is not the tag of an image`},
	{Reason{Code: CodeInvalidShardImage, Names: []string{"a/b"}},
		`the imageRef "a/b" of its shard in managed is not the tag of an image`},
	{Reason{Code: CodeNoProgram}, "its pr_check.cmd names no program"},
	{Reason{Code: CodeNotWords, Text: "x"},
		"its pr_check.cmd is not a plain list of words: x; no shell runs it, so quote what is meant as it is"},
	{Reason{Code: CodeUnlistedVariable, Names: []string{"HOME"}},
		"its pr_check.cmd uses $HOME, which exec.variables of prcheck.yaml does not list"},
}

func TestSentences(t *testing.T) {
	tested := map[Code]bool{}
	for _, r := range rendered {
		tested[r.reason.Code] = true
		if got := r.reason.String(); got != r.want {
			t.Errorf("%+v:\ngot  %s\nwant %s", r.reason, got, r.want)
		}
	}
	for _, code := range codes(t) {
		if sentences[code] == "" || !tested[code] {
			t.Errorf("%s: it has the sentence %q, which this test knows: %v", code, sentences[code], tested[code])
		}
	}
}

// codes returns all constants of the type Code. No two of them are the same.
func codes(t *testing.T) []Code {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "reason.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out []Code
	known := map[Code]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if code := Code(text); err != nil || known[code] {
			t.Errorf("%s: %v, or there are two of them", text, err)
		} else {
			known[code] = true
			out = append(out, code)
		}
		return true
	})
	if len(out) != len(sentences) {
		t.Errorf("there are %d codes and %d sentences", len(out), len(sentences))
	}
	return out
}
