package plan

import "time"

// A Reason says why something was decided: a code, and the values that its sentence
// names. The comment of each code lists its values. [Reason.String] makes the
// sentence. The zero Reason means that there is no reason.
type Reason struct {
	Code  Code
	Names []string  // files, fields, shards and the like
	Count int       // a number, such as that of the affected shards …
	Of    int       // … and the number that it is compared with
	Text  string    // a text from elsewhere, such as an error
	At    time.Time // a time
}

// A Code names why something was decided. Programs compare codes; the sentence
// that belongs to a code is for people and may be worded anew.
type Code string

// The codes of the rung definition. The first two are decided at the rung
// schema, but before anything else, since they hold for all integrations.
const (
	CodeSameBundle        Code = "same_bundle"          // base and head are one bundle
	CodeAllIgnored        Code = "all_changes_ignored"  // every change is a resource under paths.ignore
	CodeRemoved           Code = "removed"              // head does not define it
	CodeNewWithoutCheck   Code = "new_without_pr_check" // only head defines it, without a pr_check
	CodeNewDisabled       Code = "new_disabled"         // only head defines it, with a disabled pr_check
	CodeNewDefinition     Code = "new_definition"       // only head defines it
	CodeNewCheck          Code = "new_pr_check"         // only head gives it a pr_check
	CodeNoCheck           Code = "no_pr_check"          // it has no pr_check
	CodeDisabled          Code = "disabled"             // its pr_check is disabled
	CodeDefinitionChanged Code = "definition_changed"   // Names: the changed fields of its definition
	CodeRulesEdited       Code = "rules_edited"         // Names: the edits of head to the rules for it
	CodeAlwaysRun         Code = "always_run"           // its pr_check says so
	// Names: the rung that an audit found to be wrong about it; Text: when
	CodeDistrusted Code = "distrusted"
)

// The codes of the rung schema.
const (
	CodePathsRule          Code = "paths_rule"           // Text: the rule and the path that it covers
	CodeAllowedFileChanged Code = "allowed_file_changed" // Names: the changed files that it may read
	// Names: changed files of other schemas on which its answers depend
	CodeDependsOnFile   Code = "depends_on_changed_file"
	CodeTypesChanged    Code = "types_changed"           // Names: the changed JSON schemas and GraphQL types
	CodeResourceChanged Code = "resource_changed"        // Names: changed resources that it may read
	CodeNotEnforced     Code = "schemas_not_enforced"    // no_validate_schemas lets it read anything
	CodeOnlyMetadata    Code = "only_metadata_changed"   // no change is one of content
	CodeNoSchemas       Code = "no_allowed_schemas"      // its definition allows no schema
	CodeNoAllowedFile   Code = "no_allowed_file_changed" // Names, Count: the schemas that it may read
)

// The codes of the rungs fields, state and shards, by desired states.
const (
	CodeNoReadField   Code = "no_read_field_changed"   // its queries read no field that changed
	CodeStateUnproven Code = "state_not_proven"        // Text: the first doubt about its desired state
	CodeSameState     Code = "same_state"              // its desired state is the same on both sides
	CodeStateDiffers  Code = "state_differs"           // its desired state differs, and it has no shards
	CodeNotByShard    Code = "difference_not_by_shard" // Text: why the difference is not that of single shards
	CodeTooManyShards Code = "too_many_shards"         // Count: affected shards; Of: the largest number run singly
	CodeShardsDiffer  Code = "shards_differ"           // Names: the affected shards
	// a doubt: its queries read files of schemas that its definition does not allow
	CodeForbiddenReads Code = "reads_not_allowed"
)

// The codes of the rungs state and shards, by traces.
const (
	CodeSameAnswers      Code = "same_answers"          // head answers as a trace recorded
	CodeSameQueries      Code = "same_recorded_queries" // both sides answer its recorded queries alike
	CodeAllShardsProven  Code = "all_shards_proven"     // Count: shards, each with a trace that proves a skip
	CodeSomeShardsProven Code = "some_shards_proven"    // Count: shards that need not run; Of: all shards
)

// The codes of the rung result. The second is a remark, since it skips nothing.
const (
	CodePassedBefore     Code = "passed_before"      // Count: its tasks; At: when the first of them passed
	CodeSomePassedBefore Code = "some_passed_before" // Count: tasks that passed before; Of: all its tasks
)

// The codes of why a result of a merge request's own pipeline does not hold in its merge
// train.
const (
	CodeNotNeeded     Code = "not_needed"     // Names: the rung that leaves its task out without the result
	CodeOldResult     Code = "old_result"     // the inputs are the same, but the result does not count
	CodeOtherCommand  Code = "other_command"  // its task is started in another way
	CodeOwnCommits    Code = "own_commits"    // the merge request has other commits
	CodeOthersChanged Code = "others_changed" // other changes changed the inputs
	CodeOthersFiles   Code = "others_files"   // Names: files that other changes changed, and that it may read
)

// The codes of remarks about traces.
const (
	CodeNoTrace         Code = "no_trace"                  // no run that passed left a trace
	CodeTraceUnproven   Code = "trace_proves_nothing"      // Text: the doubt
	CodeQueriesDiffer   Code = "recorded_queries_differ"   // Text: the first difference
	CodeQueriesUnusable Code = "recorded_queries_unusable" // they cannot be compared
	CodeNoShardProven   Code = "no_shard_proven"           // no trace proves that a shard can be left out
	CodePromiseBroken   Code = "static_promise_broken"     // Text: how it broke the promise of trace: static
	CodeUnknownVariable Code = "command_variable_unknown"  // Names: the variable whose value the command has
	CodeUnknownFile     Code = "command_file_unknown"      // Text: why a file of the command cannot be read
	CodeTracesNotAsked  Code = "traces_not_asked"          // Text: why no trace was looked at
)

// The codes of remarks about the division of a full run.
const (
	CodeFannedOut        Code = "fanned_out"                   // Count: shards
	CodeFannedOutStatic  Code = "fanned_out_static"            // Count: static shards
	CodeFannedOutTasks   Code = "fanned_out_tasks"             // Count: shards; Of: tasks, since some have static shards
	CodeStaticTogether   Code = "static_shards_together"       // a task would not learn which static shard it is
	CodeWrapperExists    Code = "not_fanned_out_wrapper"       // Names: the integration with the name of the tasks
	CodeShardsUnknown    Code = "not_fanned_out_unknown"       // its shards are not known
	CodeNoShards         Code = "not_fanned_out_no_shards"     // it has no shards
	CodeTooManyTasks     Code = "not_fanned_out_too_many"      // Count: tasks; Of: the largest number
	CodeStrategiesDiffer Code = "not_fanned_out_strategies"    // base and head deploy it by different strategies
	CodeIndivisible      Code = "not_fanned_out_not_divisible" // Text: why its strategy gives no shards
)

// The codes of why a task cannot be started.
const (
	CodeNoExec              Code = "no_exec"                   // the settings do not say how to start a task
	CodeUntrustedDefinition Code = "untrusted_definition"      // only head defines it
	CodeUntrustedCheck      Code = "untrusted_pr_check"        // only head gives it a pr_check
	CodeUnsafeDefinition    Code = "unsafe_name_of_definition" // the same, and its name is no plain word
	CodeUnsafeCheck         Code = "unsafe_name_of_pr_check"   // the same, and its name is no plain word
	CodeUnsafeCommand       Code = "unsafe_command"            // Names: the first word of a command of head
	CodeUntrustedImage      Code = "untrusted_image"           // only head defines it, with an image of its own
	CodeInvalidImage        Code = "invalid_image"             // Names: the imageRef of pr_check
	CodeInvalidShardImage   Code = "invalid_image_of_shard"    // Names: the imageRef of its shard
	CodeNoProgram           Code = "no_program"                // its command names no program
	CodeNotWords            Code = "command_not_words"         // Text: why its command is not a list of words
	CodeUnlistedVariable    Code = "command_variable_unlisted" // Names: the variable that the settings do not list
)
