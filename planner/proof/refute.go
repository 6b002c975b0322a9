package proof

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/settings"
)

// A dossier is the decision about one integration, with all that must run.
type dossier struct {
	*prover
	*subject
	plan     *plan.Plan
	decision plan.Decision
	need     need
	lifts    func(plan.Task) bool // whether traces show that a task need not run; nil: none do
	seen     *desired             // the desired state that the tasks see, for their inputs
	compared *desired             // the desired state whose comparison decided; nil when none did
}

// refute returns why a decision does not hold; "" when it holds, and then what it assumes.
func (c *prover) refute(ctx context.Context, i *subject, p *plan.Plan,
	d plan.Decision) (why string, assumed []plan.Assumption) {
	o := dossier{prover: c, subject: i, plan: p, decision: d, need: c.byRules(i), seen: i.state}
	if o.need.open {
		state := *i.state
		if slices.ContainsFunc(o.tasks(), func(t plan.Task) bool { return covers(t, plan.Task{}) }) {
			state.shards = nil // no shard is left out, so it does not matter which ones differ
		}
		o.need, o.compared = c.afterState(ctx, i, state, o.need), &state
	}
	recorded := (*desired)(nil)
	if o.need, o.lifts, recorded = c.byTraces(ctx, i, o.need); recorded != nil {
		o.seen, o.compared = recorded, recorded
	}
	for _, check := range []func(context.Context) string{o.earlyExit, o.newCommand, o.leftOut, o.everyShard, o.reason,
		o.evidence, o.traces, o.results, o.inputsOfTasks} {
		if why := check(ctx); why != "" {
			return why, nil
		}
	}
	return "", o.assumed(ctx)
}

// afterState returns what the desired states leave of a need. Where they are the same, it is
// the schemas that explain the skip, if nothing that they allow changed.
func (c *prover) afterState(ctx context.Context, i *subject, state desired, below need) need {
	n := c.byState(ctx, state)
	if n.action == plan.Skip && len(c.changed.selected(i.use))+len(c.changed.types) == 0 {
		return skip(below.rung, below.reason.Code)
	}
	return n
}

// earlyExit holds that no task may end early when something changed that the integration's
// own comparison may not see, or when its desired state is known to differ.
func (o dossier) earlyExit(context.Context) string {
	for _, t := range o.tasks() {
		early := slices.Contains(t.When, string(settings.EarlyExit)) || slices.Contains(t.When, string(settings.AffectedOnly))
		if early && !o.need.endsEarly {
			return fmt.Sprintf("its task %q may end early, though it must run to its end", t.ID)
		}
		if !o.Tasks.IsStartedRight(t) {
			return fmt.Sprintf("its task %q is not started as the settings and its definition say", t.ID)
		}
	}
	return ""
}

// tasks returns the planned tasks of the integration, without that of a new command.
func (o dossier) tasks() []plan.Task {
	var out []plan.Task
	for _, t := range o.plan.Tasks {
		if t.Integration == o.name && !t.NewCommand {
			out = append(out, t)
		}
	}
	return out
}

// leftOut holds that every part that must run has a task, a trace that shows that it need
// not run, or an earlier result with the same inputs.
func (o dossier) leftOut(ctx context.Context) string {
	needed := o.needed(ctx)
	var missing []plan.Task
	covered := o.isCovered(ctx)
	for _, t := range needed {
		if !covered(t) {
			missing = append(missing, t)
		}
	}
	if divided := o.Tasks.Divided(o.name); len(missing) > 0 && o.need.action == plan.Run && len(divided) > 0 {
		if every(divided, covered) {
			return ""
		}
	}
	switch sentence := o.need.reason.String(); {
	case len(missing) == 0:
		return ""
	case o.decision.Decision == plan.Run:
		return noTaskFor(missing[0]) + "it must run in full"
	case o.need.action == plan.Run && o.decision.Decision == plan.Shards:
		return "planned for single shards, but must run in full: " + sentence
	case o.need.action == plan.Run:
		return "planned to be skipped, but must run in full: " + sentence
	case o.decision.Decision == plan.Skip:
		return "planned to be skipped, but " + sentence
	}
	return noTaskFor(missing[0]) + "its desired state differs"
}

// noTaskFor says that a part has no task.
func noTaskFor(t plan.Task) string {
	if t.Label() == "" {
		return "there is no task for the whole of it, but "
	}
	return fmt.Sprintf("shard %q is left out, but ", t.Label())
}

// needed returns the tasks that do what must run. A plan that says that an integration runs in
// full needs all its tasks.
func (o dossier) needed(ctx context.Context) []plan.Task {
	switch {
	case o.need.action == plan.Run || o.decision.Decision == plan.Run:
		return o.Tasks.Full(ctx, o.name)
	case o.need.action == plan.Skip:
		return nil
	}
	var out []plan.Task
	for _, key := range o.need.keys {
		out = append(out, o.shard(key)...)
	}
	return out
}

// shard returns the tasks of a shard: its static shards, or the whole shard.
func (o dossier) shard(key string) []plan.Task {
	parts := slices.DeleteFunc(slices.Clone(o.Tasks.Divided(o.name)), func(t plan.Task) bool { return t.Shard != key })
	if len(parts) == 0 {
		parts = []plan.Task{o.Tasks.Task(o.name, key)}
	}
	return parts
}

// isCovered tells whether a task has a task in the plan, a trace that shows that it need not
// run, or an earlier result with the same inputs.
func (o dossier) isCovered(ctx context.Context) func(plan.Task) bool {
	return func(t plan.Task) bool { return o.isPlanned(t) || o.isLifted(t) || o.isReused(ctx, t) }
}

// covers tells whether one task does all the work of another one: the whole integration, the
// whole shard, or the same static shard.
func covers(t, other plan.Task) bool {
	whole := t.Shard == "" && t.Static == plan.Fraction{}
	return whole || t.Shard == other.Shard && (t.Static == plan.Fraction{} || t.Static == other.Static)
}

func (o dossier) isPlanned(t plan.Task) bool {
	return slices.ContainsFunc(o.tasks(), func(p plan.Task) bool { return covers(p, t) })
}

// isLifted tells whether traces show that the shard of a task need not run: traces of the
// whole shard, or of each of its static shards.
func (o dossier) isLifted(t plan.Task) bool {
	if o.lifts == nil {
		return false
	}
	return o.lifts(o.Tasks.Task(o.name, t.Shard)) || every(o.shard(t.Shard), o.lifts)
}

// isReused tells whether a task that does all the work of another one passed with the same
// inputs.
func (o dossier) isReused(ctx context.Context, t plan.Task) bool {
	for _, c := range []plan.Task{t, o.Tasks.Task(o.name, t.Shard), o.Tasks.Task(o.name, "")} {
		if o.hasPassed(ctx, c) {
			return true
		}
	}
	return false
}

// hasPassed tells whether a task passed before with the inputs that it has now, and may be
// left out for that.
func (o dossier) hasPassed(ctx context.Context, t plan.Task) bool {
	if o.Results == nil || o.settings.Reuse <= 0 || o.use.check == nil || o.use.says("always_run") || o.native ||
		t.Blocked != "" || !o.editsOnlyFiles(o.subject) || o.Tasks.Unknown(t) != "" {
		return false
	}
	t.Inputs = o.inputs(ctx, o.subject, o.seen, t)
	_, ok := o.Results.Passed(ctx, t, math.MaxInt64) // the plan may be older than results count
	if rules := o.settings.EffectsDigest(); ok && rules != "" {
		effects, _ := o.Results.LastEffects(ctx, t, math.MaxInt64, rules)
		ok = effects != nil
	}
	return ok
}

// sameReason lists reasons that say the same in other words.
var sameReason = map[plan.Code]plan.Code{
	plan.CodeNoReadField: plan.CodeSameState, plan.CodeSameQueries: plan.CodeSameAnswers,
	plan.CodeAllShardsProven: plan.CodeSameAnswers,
}

// reason holds that a skip has the reason that the rules give, and that it is marked when it
// is only believed. A plan may mark more than is needed.
func (o dossier) reason(context.Context) string {
	d := o.decision
	code := cmp.Or(sameReason[d.Code], d.Code)
	switch {
	case d.Decision != plan.Skip || o.need.action != plan.Skip:
		return ""
	case o.isBelieved(o.subject, o.need) && !d.Believed:
		return "planned as proven, but the skip is only believed"
	case d.Believed && d.Rung != plan.RungSchema && (o.Unread == nil || !o.Unread(o.name)):
		return fmt.Sprintf("marked as believed at the rung %s, where nothing is believed", d.Rung)
	case code == "" || code == o.need.reason.Code || code == plan.CodePassedBefore && len(d.Evidence.Passed) > 0:
		return "" // where no work is needed, a planner in doubt may look at results
	}
	return fmt.Sprintf("skipped for the reason %q, but the reason is %q", d.Code, o.need.reason.Code)
}

// traces holds that each trace that the evidence names as a proof is one.
func (o dossier) traces(ctx context.Context) string {
	for _, e := range o.decision.Evidence.Traces {
		if e.Doubt != "" {
			continue
		}
		t, ok := o.taskOf(ctx, e.Shard)
		if !ok || o.lifts == nil {
			return "its evidence names a trace, but no trace counts for it"
		}
		found := false
		for _, tr := range o.load(ctx, t) {
			found = found || tr.Digest == e.Digest && o.shows(ctx, o.subject, tr, len(o.edits) > 0)
		}
		if !found {
			return fmt.Sprintf("its evidence names the trace %q, which is not remembered or shows nothing", e.Digest)
		}
	}
	return ""
}

// results holds that each earlier result that the evidence names has the inputs of today.
func (o dossier) results(ctx context.Context) string {
	for _, e := range o.decision.Evidence.Passed {
		t, ok := o.taskOf(ctx, e.Shard)
		if !ok || o.inputs(ctx, o.subject, o.seen, t) != e.Inputs {
			return fmt.Sprintf("its evidence names a result of %q with other inputs than it has now", o.name+e.Shard)
		}
		t.Inputs = e.Inputs
		if effects, _ := o.effects(ctx, t, e.Began); !isSameJSON(effects, e.Effects) {
			return fmt.Sprintf("its evidence names other effects of %q than are remembered", o.name+e.Shard)
		}
		if !o.hasPassed(ctx, t) {
			return fmt.Sprintf("its evidence names a result of %q that is not remembered or does not count", o.name+e.Shard)
		}
	}
	return ""
}

// effects returns the effects of an earlier run, if somebody looks for effects.
func (o dossier) effects(ctx context.Context, t plan.Task, began time.Time) (*plan.Effects, bool) {
	rules := o.settings.EffectsDigest()
	if rules == "" || o.Results == nil {
		return nil, false
	}
	return o.Results.Effects(ctx, t, began, rules)
}

// taskOf returns the task with a label.
func (o dossier) taskOf(ctx context.Context, label string) (plan.Task, bool) {
	for _, t := range slices.Concat(o.Tasks.Divided(o.name), o.Tasks.Full(ctx, o.name)) {
		if t.Label() == label {
			return t, true
		}
	}
	t := o.Tasks.Task(o.name, label)
	return t, t.Label() == label
}

// inputsOfTasks holds that the planned tasks have the inputs by which their results will be
// remembered. Both bundles as they are, to the byte, always count.
func (o dossier) inputsOfTasks(ctx context.Context) string {
	for _, t := range o.tasks() {
		if t.Inputs != o.bundleInputs(t) && t.Inputs != o.inputs(ctx, o.subject, nil, t) &&
			t.Inputs != o.inputs(ctx, o.subject, o.seen, t) {
			return fmt.Sprintf("its task %q has inputs that are not those of what it sees", t.ID)
		}
	}
	return ""
}

// evidence holds that the facts of a decision are those of the bundles and the settings, so
// that nobody is shown a proof that is not one.
func (o dossier) evidence(context.Context) string {
	e := o.decision.Evidence
	if paths := o.definitionPaths(); len(e.Definition) > 0 && !slices.Equal(e.Definition, paths) {
		return fmt.Sprintf("its evidence says that it is defined in %s, but it is defined in %s",
			strings.Join(e.Definition, " and "), strings.Join(paths, " and "))
	}
	if e.Allowed != 0 && !o.allows(e.Allowed) {
		return fmt.Sprintf("its evidence says that it may read %d schemas, which is not what its definition says", e.Allowed)
	}
	if why := o.evidenceOfState(e.State); why != "" {
		return why
	}
	if path := o.unchanged(e.Paths); path != "" {
		return fmt.Sprintf("its evidence says that %q changed, which is the same on both sides", path)
	}
	return o.evidenceOfQueries(e.Queries)
}

// refuteChanges returns why the list of changed files is not that of the bundles; "" when it is.
func (c *prover) refuteChanges(listed plan.Changes) string {
	data, resources := map[string]bool{}, map[string]bool{}
	for _, f := range listed.Datafiles {
		if f.Kind != plan.Metadata {
			data[f.Path] = true
		}
	}
	for _, f := range listed.Resources {
		if f.Kind != plan.Metadata {
			resources[f.Path] = true
		}
	}
	for _, f := range c.changed.files {
		of := data
		if f.resource {
			of = resources
		}
		if !of[f.path] {
			return fmt.Sprintf("the plan does not list %q, which changed", f.path)
		}
		delete(of, f.path)
	}
	if same := slices.Sorted(maps.Keys(data)); len(same) > 0 {
		return fmt.Sprintf("the plan lists the datafile %q, which is the same on both sides", same[0])
	}
	for _, p := range slices.Sorted(maps.Keys(resources)) {
		if !slices.Contains(c.changed.backrefs, p) {
			return fmt.Sprintf("the plan lists the resource %q, which is the same on both sides", p)
		}
	}
	return ""
}

// allows tells whether the definition allows a number of schemas, if one that it names twice
// counts once or twice.
func (o dossier) allows(n int) bool {
	if o.use == nil {
		return false
	}
	named, _ := o.use.file["schemas"].(list)
	return n == len(o.use.schemas) || n == len(named)
}

// definitionPaths returns where the integration is defined, base before head.
func (o dossier) definitionPaths() []string {
	var out []string
	for _, d := range []*definition{o.subject.base, o.subject.head} {
		if d != nil && !slices.Contains(out, d.path) {
			out = append(out, d.path)
		}
	}
	return out
}

// unchanged returns the first path at which nothing changed; "" when there is none.
func (o dossier) unchanged(paths []string) string {
	changed := map[string]bool{}
	for _, f := range o.changed.files {
		changed[f.path] = true
	}
	for _, p := range slices.Concat(o.changed.backrefs, o.changed.types) {
		changed[p] = true
	}
	for _, p := range paths {
		if !changed[p] {
			return p
		}
	}
	return ""
}

// evidenceOfState holds that the digests of the desired states say what the replay found.
func (o dossier) evidenceOfState(s *plan.State) string {
	switch {
	case s == nil:
	case o.need.action == plan.Skip && o.need.reason.Code == plan.CodeSameState && s.Base != s.Head:
		return "its evidence says that its desired states differ, but they are the same"
	case (o.need.reason.Code == plan.CodeStateDiffers || o.need.reason.Code == plan.CodeShardsDiffer) && s.Base == s.Head:
		return "its evidence says that its desired states are the same, but they differ"
	}
	return ""
}

// evidenceOfQueries holds that the queries of the evidence are those that the settings declare.
func (o dossier) evidenceOfQueries(shown []plan.QueryDifference) string {
	if o.state == nil || o.state.native != nil {
		return ""
	}
	declared := map[string]string{}
	for _, q := range o.state.queries {
		sum := sha256.Sum256([]byte(q.request.Query))
		declared[q.name] = hex.EncodeToString(sum[:])
	}
	for _, q := range shown {
		switch sum, ok := declared[q.Name]; {
		case !ok:
			return fmt.Sprintf("its evidence names the query %q, which the settings do not declare for it", q.Name)
		case sum != q.SHA256:
			return fmt.Sprintf("its evidence names another text of the query %q than the settings declare", q.Name)
		}
	}
	return ""
}

// newCommand holds that the command which head gives the integration runs, if base trusts it, and
// that no other one does.
func (o dossier) newCommand(context.Context) string {
	want, must := o.Tasks.NewCommand(o.name)
	must = must && o.need.action != plan.Skip
	runs := false
	for _, t := range o.plan.Tasks {
		if t.Integration != o.name || !t.NewCommand {
			continue
		}
		if !must || runs || t.ID != want.ID || t.Command != want.Command || !slices.Equal(t.Argv, want.Argv) ||
			t.Blocked != want.Blocked {
			return fmt.Sprintf("its task %q is not the command that head gives it", t.ID)
		}
		runs = true
	}
	if must && !runs {
		return "the command that head gives it is not run, although the settings trust it"
	}
	return ""
}
