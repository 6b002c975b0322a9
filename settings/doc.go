// Package settings reads prcheck.yaml: how integrations are started, and what is known about
// each of them. One decoder reads all of it, also what only native integrations use, and keeps the
// line of each value.
//
// [Read] reads prcheck.yaml strictly. Unknown or repeated keys, wrong types,
// patterns and selectors that cannot match, aliases and merge keys are mistakes, each
// with its line. Read does not check whether the named integrations, datafiles
// and query files exist. That needs a bundle, and the lines for such messages are kept.
//
// The exec of an integration replaces the general exec key by key. A key that it sets
// replaces the whole value of the general key, also for env and pass_env.
//
// A placeholder is a word in braces that is replaced by a value. {cmd}, {flags} and
// {shard_args} become any number of arguments, so each must be an argument of its own:
//
//	{cmd}          the command of the definition, split into words
//	{flags}        the flags of exec.when whose conditions hold
//	{shard_args}   shards.arg and the shard; nothing if the task runs all shards
//	{name}         the name of the integration
//	{shard}        the shard; empty if the task runs all shards
//	{shards}       the number of static shards; 1 if there are none
//	{shard_id}     the number of the static shard, from 0
//	{image_ref}    the image of the definition, or exec.image_ref
//	{task}         the id of the task
//	{config}       the path of the private file that holds exec.config
//	{effects}      the path of a file into which the task may write its effects
//	{graphql_url}  the GraphQL address of the head bundle
//	{graphql_token}  the header Authorization that opens this address and {base_url} (env and config only)
//	{base_url}     the GraphQL address of the base bundle
//	{base_sha}     the sha256 of the base bundle
//	{head_sha}     the sha256 of the head bundle
//	{env.NAME}     the variable NAME of the environment in which the runner was started
//
// The placeholders before {task} are replaced when the plan is made
// ([Exec.ForConditions], [Exec.ForStaticShard], [Exec.Expand]). The others are replaced
// when the task starts. Other braces stay as they are, for example those of JSON.
//
// # Selectors
//
// A [Selector] is a path through a desired state to the shard keys, such as
// roles[*].aws_groups[*].account.name. Its last wildcard names the owner elements.
// Everything in an owner element belongs to the key below it. A selector cannot name
// items by position or filter, since the position of a list item may change.
package settings
