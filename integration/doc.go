// Package integration says what an integration is: its definition in a bundle,
// its settings in prcheck.yaml, and the interface of one written in Go.
//
// # Settings
//
// [ReadSettings] reads prcheck.yaml, strictly: unknown or repeated keys, wrong
// types, patterns and selectors that cannot match, aliases and merge keys are
// mistakes with a line. Whether the names in it exist is for those to check who
// have a bundle; the lines they need are kept. An integration's own exec stands
// over the general one key by key: a key that it holds replaces the general
// key as a whole, also env and pass_env.
//
// A word in braces is filled in. {cmd} and {shard_args} become any number of
// words, so each must be a word of its own in argv:
//
//	{cmd}          the command of the definition, split into words
//	{shard_args}   shards.arg and the shard, nothing when all shards run
//	{name}         the integration's name
//	{shard}        the shard, empty when all shards run
//	{shards}       how many static shards share the work, 1 when none do
//	{shard_id}     which of these it is, from 0
//	{task}         the task's id
//	{config}       path of the private file that holds exec.config
//	{graphql_url}  GraphQL address for the head bundle
//	{base_url}     GraphQL address for the base bundle
//	{base_sha}     sha256 of the base bundle
//	{head_sha}     sha256 of the head bundle
//
// The first six are filled in when the plan is made ([Exec.Expand], [Exec.Number]),
// the rest when the task starts. Braces around anything that is not a plain word, as in
// JSON or an inline table, are left alone.
//
// # Selectors
//
// A [Selector] such as roles[*].aws_groups[*].account.name leads through a
// desired state to the shard keys. Its last wildcard names the owner element:
// whatever stands in it belongs to the key below it. Positions and filters are
// refused, since a list item is never known by its position.
//
// # Native integrations
//
// A [Native] integration is written in Go. It may tell its desired state
// ([Stater]) and its shards ([Sharder]); both are found by type assertion, and
// without them it is simply run in full. See [Stater] for what a desired state
// must not do.
package integration
