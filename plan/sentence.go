package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// sentences has the sentence of each code. Words in braces stand for the values
// of a [Reason]:
//
//	{names}   all names: "pr_check, schemas"
//	{first}   the first name, and how many more there are: "/a.yml and 2 more"
//	{quoted}  the first name in quotes: "v1 2"
//	{keys}    the names as those of shards: shard "one"
//	{count}   the number
//	{of}      the number that the first one is compared with
//	{text}    the text
//	{at}      the time, to the minute
var sentences = map[Code]string{
	// definition
	CodeSameBundle:        "base and head are the same bundle",
	CodeAllIgnored:        "every change is a resource under paths.ignore",
	CodeRemoved:           "head removes its definition, so there is nothing to dry-run after the merge",
	CodeNewWithoutCheck:   "it is new and has no pr_check",
	CodeNewDisabled:       "it is new and its pr_check is disabled",
	CodeNewDefinition:     "it is new: only head defines it",
	CodeNewCheck:          "it is new: only head gives it a pr_check",
	CodeNoCheck:           "it has no pr_check",
	CodeDisabled:          "its pr_check is disabled",
	CodeDefinitionChanged: "its own definition changed ({names}); it runs as base defines it",
	CodeRulesEdited:       "head edits a rule or a file that it uses ({first})",
	CodeAlwaysRun:         "its pr_check says always_run",

	CodeDistrusted: "an audit found that the rung {first} was wrong about it ({text}); planner upkeep confirm lets the rung " +
		"count again",

	// schema
	CodePathsRule:          "a paths rule names it: {text}",
	CodeAllowedFileChanged: "it may read {first}, which changed, and has no queries to look closer",
	CodeDependsOnFile:      "{first} changed, and its answers depend on such files although its schemas do not allow them",
	CodeTypesChanged:       "{first} changed, and without queries nothing shows that it is not concerned",
	CodeResourceChanged:    "resource {first} changed, and nothing shows that it does not read it",
	CodeNotEnforced: "its schemas are not enforced (no_validate_schemas), so they do not show that it is not " +
		"concerned",
	CodeOnlyMetadata:  "nothing but metadata changed",
	CodeNoSchemas:     "it may read no schema at all",
	CodeNoAllowedFile: "no changed file has one of the {count} schemas it may read",

	// fields
	CodeNoReadField: "its queries read no field that changed",

	// state
	CodeStateUnproven:  "it is not proven that its desired state is the same: {text}",
	CodeSameState:      "its desired state is the same on base and head",
	CodeStateDiffers:   "its desired state differs between base and head",
	CodeForbiddenReads: "its queries read files of schemas that it is not allowed to read",

	// shards
	CodeNotByShard:    "its desired state differs, and not for single shards only: {text}",
	CodeTooManyShards: "its desired state differs for {count} shards, more than the {of} that are worth running singly",
	CodeShardsDiffer:  "its desired state differs for {keys} only",

	// state and shards, by traces
	CodeSameAnswers: "head answers all that it asked when it last passed as it did then",
	CodeSameQueries: "base and head answer all its recorded queries alike",
	CodeAllShardsProven: "for each of its {count} shards, head answers all that it asked when it last passed as it " +
		"did then",
	CodeSomeShardsProven: "traces prove that {count} of its {of} shards need not run",
	CodeNoTrace:          "no trace of a run that passed is there",
	CodeTraceUnproven:    "its trace proves nothing: {text}",
	CodeQueriesDiffer:    "its recorded queries do not show that nothing changed: {text}",
	CodeQueriesUnusable:  "its recorded queries cannot be compared",
	CodeNoShardProven:    "no trace proves that one of its shards can be left out",
	CodePromiseBroken:    "it broke its promise to ask always the same ({text}); planner upkeep confirm lets it count again",
	CodeUnknownVariable:  "its command has the value of {first}, which no plan knows",
	CodeUnknownFile:      "the files that its command may use are not known: {text}",
	CodeTracesNotAsked:   "{text}, so no trace is asked",

	// result
	CodePassedBefore:     "each of its {count} tasks passed with the same inputs, the first {at}",
	CodeSomePassedBefore: "{count} of its {of} tasks passed with the same inputs and do not run again",

	// why a result does not hold in a merge train
	CodeNotNeeded:     "its task is left out without it, at the rung {first}",
	CodeOldResult:     "its inputs are the same, but it is too old or does not count",
	CodeOtherCommand:  "its task is started in another way",
	CodeOwnCommits:    "the merge request has other commits than in that pipeline",
	CodeOthersChanged: "other changes since that pipeline changed what it sees",
	CodeOthersFiles:   "other changes since that pipeline changed what it may read: {first}",

	// the division of a full run
	CodeFannedOut:        "fanned out over its {count} shards",
	CodeFannedOutStatic:  "fanned out over its {count} static shards",
	CodeFannedOutTasks:   "fanned out over its {count} shards, in {of} tasks",
	CodeStaticTogether:   "its static shards stay together, since exec does not hand over both {shards} and {shard_id}",
	CodeWrapperExists:    "not fanned out: there is an integration {quoted}",
	CodeShardsUnknown:    "not fanned out: its shards are not known",
	CodeNoShards:         "not fanned out: it has no shards",
	CodeTooManyTasks:     "not fanned out: that would be {count} tasks, more than {of}",
	CodeStrategiesDiffer: "not fanned out: base and head deploy it by different sharding strategies",
	CodeIndivisible:      "not fanned out: {text}",

	// why a task cannot be started
	CodeNoExec: "no exec in prcheck.yaml says how to start it",
	CodeUntrustedDefinition: "only head defines it, so it has no trusted command; merge its definition first, or set " +
		"trust.new_integrations",
	CodeUntrustedCheck: "only head gives it a pr_check, so it has no trusted command; merge its definition first, or " +
		"set trust.new_integrations",
	CodeUnsafeDefinition: "only head defines it, and its name is not one to put into a command",
	CodeUnsafeCheck:      "only head gives it a pr_check, and its name is not one to put into a command",
	CodeUnsafeCommand: "only head defines it, and its pr_check.cmd begins with {quoted}, which is not the name of a " +
		"command",
	CodeUntrustedImage:    "only head defines it, and it names an image of its own, which nobody has trusted yet",
	CodeInvalidImage:      "its pr_check.imageRef {quoted} is not the tag of an image",
	CodeInvalidShardImage: "the imageRef {quoted} of its shard in managed is not the tag of an image",
	CodeNoProgram:         "its pr_check.cmd names no program",
	CodeNotWords: "its pr_check.cmd is not a plain list of words: {text}; no shell runs it, so quote what is " +
		"meant as it is",
	CodeUnlistedVariable: "its pr_check.cmd uses ${first}, which exec.variables of prcheck.yaml does not list",
}

// singular has the sentences that are worded otherwise when the count is one.
var singular = map[Code]string{
	CodeNoAllowedFile: "no changed file has {first}, all that it may read",
	CodePassedBefore:  "its task passed with the same inputs, {at}",
}

// placeholder matches the words in braces.
var placeholder = lazyregexp.New(`\{[a-z]+\}`)

// String returns the sentence of the reason, without a full stop; "" for the zero
// Reason. It is the one place where the sentences of decisions are made.
func (r Reason) String() string {
	text, ok := singular[r.Code]
	if !ok || r.Count != 1 {
		text = sentences[r.Code]
	}
	return placeholder.ReplaceAllStringFunc(text, r.value)
}

// value returns the value that a placeholder stands for. Other words in braces stay.
func (r Reason) value(word string) string {
	switch word {
	case "{names}":
		return strings.Join(r.Names, ", ")
	case "{first}":
		return firstAndMore(r.Names)
	case "{quoted}":
		return strconv.Quote(r.Names[0])
	case "{keys}":
		return shardNames(r.Names)
	case "{count}":
		return strconv.Itoa(r.Count)
	case "{of}":
		return strconv.Itoa(r.Of)
	case "{text}":
		return r.Text
	case "{at}":
		return r.At.UTC().Format("2006-01-02 15:04 UTC")
	}
	return word
}

// firstAndMore returns the first name and how many more there are.
func firstAndMore(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

// shardNames returns up to three shards by name, and else the first and their number.
func shardNames(keys []string) string {
	switch {
	case len(keys) == 1:
		return fmt.Sprintf("shard %q", keys[0])
	case len(keys) <= 3:
		return fmt.Sprintf("shards %q", keys)
	}
	return fmt.Sprintf("%d shards, %q and others", len(keys), keys[0])
}
