package plan

import "slices"

// A Rung is the step of the ladder that decided.
type Rung string

// The rungs in climbing order.
const (
	RungDefinition Rung = "definition"
	RungSchema     Rung = "schema"
	RungFields     Rung = "fields"
	RungState      Rung = "state"
	RungShards     Rung = "shards"
	RungResult     Rung = "result"
)

// A rungText is all that people read about a rung.
type rungText struct {
	rung     Rung
	question string // that it answers
	skipped  string // why it skips integrations
	rulesOut string // what a skip rules out
	replayed string // how planner verify replays a skip
}

// rungs has a row for each rung, in climbing order. The rows name no fields, so that one with a missing cell does
// not compile.
var rungs = []rungText{
	{
		RungDefinition, "is it checked at all, and did its own definition change?",
		"there is nothing to check",
		"Its definition decides alone whether it has a dry run.",
		"reads its definition on both sides",
	},
	{
		RungSchema, "did a file change that it may read?",
		"they may read nothing that changed",
		"No changed file has a schema that it may read: all changes are out of its reach.",
		"compares every file of both sides, and asks for each that differs who may read it",
	},
	{
		RungFields, "do its queries read a field that changed?",
		"they ask for nothing that changed",
		"Files that it may read changed, but each of its queries gets the same answers on both sides: no changed field can " +
			"be in one.",
		"answers its queries as a whole on both sides",
	},
	{
		RungState, "does its desired state differ?",
		"they would see the same",
		"Its desired state was worked out as a whole on both sides, and it is the same: head tells it what base tells it.",
		"works out its desired state on both sides, or asks head all that its last run asked",
	},
	{
		RungShards, "to which shards does the difference belong?",
		"none of their shards is affected",
		"Its desired state differs, but what each of its shards sees is the same on both sides.",
		"builds what each shard sees on both sides",
	},
	{
		RungResult, "did this very input pass already?",
		"they passed with the same input before",
		"All of its tasks passed before with exactly the inputs that they would have now.",
		"works out the inputs of its tasks, and looks for a run that passed with them",
	},
}

// Rungs lists every rung in climbing order.
func Rungs() []Rung {
	out := make([]Rung, len(rungs))
	for i, r := range rungs {
		out[i] = r.rung
	}
	return out
}

// Question returns the question that the rung answers.
func (r Rung) Question() string { return r.text().question }

// Skipped returns why the rung skips integrations, as the rest of a sentence about several.
func (r Rung) Skipped() string { return r.text().skipped }

// RulesOut returns what a skip by the rung rules out, as a sentence about one integration.
func (r Rung) RulesOut() string { return r.text().rulesOut }

// Replayed returns how planner verify replays a skip by the rung, as the rest of a sentence.
func (r Rung) Replayed() string { return r.text().replayed }

// text returns the row of the rung, an empty one if there is no such rung.
func (r Rung) text() rungText {
	i := slices.IndexFunc(rungs, func(t rungText) bool { return t.rung == r })
	if i < 0 {
		return rungText{}
	}
	return rungs[i]
}
