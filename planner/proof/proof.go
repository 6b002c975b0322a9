package proof

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/state/dependence"
	"github.com/app-sre/prcheck/trace"
)

// An Input is everything that a proof rests on, apart from the plan.
type Input struct {
	Base, Head *bundle.Bundle
	// BaseServer and HeadServer answer in place of the embedded engine, when the bundles are
	// those of a live server.
	BaseServer, HeadServer Answerer
	Settings               *settings.Settings
	ReadQuery              func(path string) ([]byte, error) // of a query file that the settings name
	Natives                []integration.DryRunner
	Edited                 func(integration string) []string // edits of head to its rules; nil: there are none
	Dependences            Dependences                       // nil: not known
	Traces                 Traces                            // nil: there are none
	Results                Results                           // nil: not known
	Tasks                  Tasks
	Files                  Files // nil: all files are the same
	// OnlyFiles tells whether edits of an integration are all edits of files, which earlier runs may
	// show not to count; nil: none are.
	OnlyFiles func(integration string, edits []string) bool
	// Unread tells whether nobody knows which files an integration reads, although files changed; nil:
	// that is known.
	Unread func(integration string) bool
	// Remembered returns results and dependences as they are in files in which a run counts only if
	// what it read is the same; nil: Results and Dependences are taken as they are.
	Remembered func(same func(integration, read string) bool) (Results, Dependences)
}

// An Answerer answers requests over one bundle as qontract-server does.
type Answerer interface {
	Answer(ctx context.Context, req gql.Request) *gql.Response
}

// Dependences tell what the runs of integrations have shown.
type Dependences interface {
	Beyond(integration string) dependence.Beyond
	Passed(integration, command string) bool
}

// Traces hold what tasks asked when they passed.
type Traces interface {
	Load(ctx context.Context, of trace.TaskKey) (traces []*trace.Trace, unusable []string)
	Broken(ctx context.Context, integration string) string
}

// Results tell which tasks passed before with the same inputs, and with which effects.
type Results interface {
	Passed(ctx context.Context, t plan.Task, within time.Duration) (began time.Time, ok bool)
	LastEffects(ctx context.Context, t plan.Task, within time.Duration, rules string) (*plan.Effects, time.Time)
	Effects(ctx context.Context, t plan.Task, began time.Time, rules string) (*plan.Effects, bool)
}

// Tasks tell how the work of an integration is divided into tasks, and how these are
// started. A proof does not work this out again.
type Tasks interface {
	// Full returns the tasks of a full run.
	Full(ctx context.Context, integration string) []plan.Task
	// Divided returns the tasks of all shards of an integration that a strategy divides; none
	// when no strategy does.
	Divided(integration string) []plan.Task
	// Task returns the task of a shard, or of the whole integration when shard is "".
	Task(integration, shard string) plan.Task
	// NewCommand returns the task that runs the command which head gives an integration beside
	// base's; ok is false if there is none.
	NewCommand(integration string) (t plan.Task, ok bool)
	// IsStartedRight tells whether a planned task is started as the settings and the definition
	// say.
	IsStartedRight(t plan.Task) bool
	// Unknown tells why the command of a task is not known entirely, so that no earlier run
	// of it counts; "" when it is known.
	Unknown(t plan.Task) string
}

// A Gap is a decision that could not be proven.
type Gap struct {
	Integration string `json:"integration"` // or "changes": the list of changed files does not hold
	Why         string `json:"why"`
}

// A Report lists the decisions that leave something out, and the gaps.
type Report struct {
	Proven   []string // integrations of which something is rightly left out
	Believed []string // integrations of which something is left out that rests on what nobody has proven
	Refuted  []Gap    // decisions that do not hold
	// Assumed lists, for each thing that nobody has proven, the integrations of which something is
	// left out that may rest on it.
	Assumed map[plan.Assumption][]string
	// Questions are the requests on whose answers the integrations rest that are proven or believed, or
	// that run in full in shards: answers tell which shards there are.
	Questions []Question
}

// Check replays every decision of a plan for the bundles and the settings of the input.
func Check(ctx context.Context, in Input, p *plan.Plan) (Report, error) {
	c, err := newProver(in)
	if err != nil {
		return Report{}, err
	}
	out := Report{Assumed: map[plan.Assumption][]string{}}
	var divided []string // that run in full, in shards
	if why := c.refuteChanges(p.Changes); why != "" {
		out.Refuted = append(out.Refuted, Gap{"changes", why})
	}
	for _, name := range c.names() {
		if err := ctx.Err(); err != nil {
			return Report{}, err
		}
		d, ok := p.Decision(name)
		if !ok {
			out.Refuted = append(out.Refuted, Gap{name, "the plan says nothing about it"})
			continue
		}
		i, err := c.subject(name)
		if err != nil {
			return Report{}, err
		}
		c.asked.of = name
		why, assumed := c.refute(ctx, i, p, d)
		for _, a := range assumed {
			out.Assumed[a] = append(out.Assumed[a], name)
		}
		switch {
		case why != "":
			out.Refuted = append(out.Refuted, Gap{name, why})
		case d.Believed || len(assumed) > 0:
			out.Believed = append(out.Believed, name)
		case d.Decision != plan.Run || d.Evidence.Reused > 0:
			out.Proven = append(out.Proven, name)
		case slices.ContainsFunc(p.Tasks, func(t plan.Task) bool { return t.Integration == name && t.Shard != "" }):
			divided = append(divided, name)
		}
	}
	out.Questions = c.asked.about(slices.Concat(out.Proven, out.Believed, divided))
	return out, ctx.Err()
}

// A prover holds both bundles, decoded, and what differs between them.
type prover struct {
	Input
	base, head *side
	changed    changes
	asked      *questions
	answered   map[string]answers // by query and list order
	digests    map[string]string  // of answers, by side and request
	trees      map[string][3]tree // of states, by their queries and selectors
	filesSame  map[string]bool    // by integration and id of what a run read
	unrecorded map[string]bool    // integrations of which runs count that nobody recorded
	checkout   *checkout          // head's files; nil until they are needed
	contents   func() [2]string   // digests of all that the bundles hold
	types      func() [2]string   // digests of their types
}

func newProver(in Input) (*prover, error) {
	c := &prover{
		Input: in, asked: &questions{all: map[string]*Question{}}, answered: map[string]answers{},
		filesSame: map[string]bool{}, unrecorded: map[string]bool{}, digests: map[string]string{},
		trees:    map[string][3]tree{},
		contents: sync.OnceValue(func() [2]string { return [2]string{in.Base.ContentsSHA256(), in.Head.ContentsSHA256()} }),
		types:    sync.OnceValue(func() [2]string { return [2]string{in.Base.TypesSHA256(), in.Head.TypesSHA256()} }),
	}
	var err error
	if c.base, err = readSide(in.Base, in.BaseServer, in.Settings.DefinitionSchema()); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	if c.head, err = readSide(in.Head, in.HeadServer, in.Settings.DefinitionSchema()); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	c.changed = compare(c.base, c.head)
	if in.Remembered != nil {
		c.Results, c.Dependences = in.Remembered(c.sameFiles)
	}
	return c, nil
}

// names returns the integrations of both sides, sorted.
func (c *prover) names() []string {
	all := maps.Clone(c.base.definitions)
	maps.Copy(all, c.head.definitions)
	return slices.Sorted(maps.Keys(all))
}

// A subject is an integration with everything that is known about it.
type subject struct {
	name       string
	base, head *definition // nil on a side that does not define it
	use        *definition // that it is run by: base's if it has a pr_check there
	settings   settings.Integration
	edits      []string
	native     bool
	state      *desired // how its desired state is told; nil when nothing tells it
}

// subject returns what is known about an integration.
func (c *prover) subject(name string) (*subject, error) {
	i := &subject{name: name, base: c.base.definitions[name], head: c.head.definitions[name],
		settings: c.Settings.For(name)}
	if i.use = i.base; i.base == nil || i.base.check == nil && i.head != nil {
		i.use = i.head
	}
	if c.Edited != nil {
		i.edits = c.Edited(name)
	}
	var err error
	i.state, err = c.declared(i.settings)
	if n, ok := integration.FindNative(c.Natives, i.settings); ok {
		i.native = true
		i.state = nativeState(i.settings, n, i.state)
	}
	return i, err
}

// A need is what must run of an integration.
type need struct {
	action    plan.Action // plan.Skip: nothing
	keys      []string    // the shards, for plan.Shards
	rung      plan.Rung   // that decided
	reason    plan.Reason
	endsEarly bool // its tasks may end early, since its own comparison sees all that changed
	traced    bool // traces may show that it need not run
	word      bool // the skip rests on the word of the definition about its schemas
	open      bool // the desired states decide
}

func skip(rung plan.Rung, code plan.Code) need {
	return need{action: plan.Skip, rung: rung, reason: plan.Reason{Code: code}}
}

func run(rung plan.Rung, code plan.Code, names ...string) need {
	return need{action: plan.Run, rung: rung, reason: plan.Reason{Code: code, Names: names}}
}

// byRules asks the first two rungs: what do the definitions, the settings and the changed
// files say?
func (c *prover) byRules(i *subject) need {
	if c.Base.SHA256() == c.Head.SHA256() && len(i.edits) == 0 {
		return skip(plan.RungSchema, plan.CodeSameBundle)
	}
	const rung = plan.RungDefinition
	switch {
	case i.head == nil:
		return skip(rung, plan.CodeRemoved)
	case i.base == nil && i.head.check == nil:
		return skip(rung, plan.CodeNewWithoutCheck)
	case i.base == nil && i.head.isOff():
		return skip(rung, plan.CodeNewDisabled)
	case i.base == nil:
		return run(rung, plan.CodeNewDefinition)
	case i.base.check == nil && i.head.check == nil:
		return skip(rung, plan.CodeNoCheck)
	case i.base.isOff() && i.head.isOff():
		return skip(rung, plan.CodeDisabled)
	case i.base.check == nil:
		return run(rung, plan.CodeNewCheck)
	}
	if parts := differingParts(i.base, i.head); len(parts) > 0 {
		return run(rung, plan.CodeDefinitionChanged, parts...)
	}
	if len(i.edits) > 0 {
		n := run(rung, plan.CodeRulesEdited, i.edits...)
		n.traced = i.state == nil && c.editsOnlyFiles(i) && !i.base.says("always_run") && c.ruled(i) == ""
		return n
	}
	if i.base.says("always_run") {
		n := run(rung, plan.CodeAlwaysRun)
		n.endsEarly = !c.hasDoubt(i)
		return n
	}
	return c.bySchema(i)
}

// editsOnlyFiles tells whether head edits nothing of what an integration is planned by, but for
// files that its command may use.
func (c *prover) editsOnlyFiles(i *subject) bool {
	return len(i.edits) == 0 || c.OnlyFiles != nil && c.OnlyFiles(i.name, i.edits)
}

// differingParts returns the parts of a definition that differ, of those that matter.
func differingParts(base, head *definition) []string {
	var out []string
	for _, part := range []string{"pr_check", "schemas", "managed"} {
		old, was := base.file[part]
		now, is := head.file[part]
		if was != is || !reflect.DeepEqual(old, now) {
			out = append(out, part)
		}
	}
	return out
}

// bySchema asks who may read what changed.
func (c *prover) bySchema(i *subject) need {
	const rung = plan.RungSchema
	selected := c.changed.selected(i.use)
	var n need
	switch reached, resources := c.reached(i), c.readable(i); {
	case c.ruled(i) != "":
		n = run(rung, plan.CodePathsRule)
		n.reason.Text = c.ruled(i)
		return n
	case i.state != nil:
		n = c.unconcerned(i)
		n.open = true
		return n
	case len(selected) > 0:
		n = run(rung, plan.CodeAllowedFileChanged, selected...)
		n.endsEarly = !c.hasDoubt(i)
	case len(reached) > 0:
		n = run(rung, plan.CodeDependsOnFile, reached...)
	case len(c.changed.types) > 0:
		n = run(rung, plan.CodeTypesChanged, c.changed.types...)
	case len(resources) > 0:
		n = run(rung, plan.CodeResourceChanged, resources...)
	case i.use.says("no_validate_schemas") && len(c.changed.files) > 0:
		n = run(rung, plan.CodeNotEnforced)
	default:
		n = c.unconcerned(i)
		n.word = len(c.changed.files)+len(c.changed.backrefs) > 0
		return n
	}
	n.traced = true
	return n
}

// hasDoubt tells whether something changed that the integration's own comparison of its
// desired states may not see.
func (c *prover) hasDoubt(i *subject) bool {
	return c.ruled(i) != "" || len(c.reached(i))+len(c.readable(i))+len(c.changed.types) > 0
}

// unconcerned returns the skip of an integration that may read nothing that changed.
func (c *prover) unconcerned(i *subject) need {
	code := plan.CodeNoAllowedFile
	switch {
	case len(c.changed.files) == 0:
		code = plan.CodeOnlyMetadata
	case !slices.ContainsFunc(c.changed.files, func(f file) bool { return !f.resource || !isIgnored(c.Settings, f) }):
		code = plan.CodeAllIgnored
	case len(i.use.schemas) == 0:
		code = plan.CodeNoSchemas
	}
	return skip(plan.RungSchema, code)
}

// reached returns the changed files on which its answers depend, as runs have shown.
func (c *prover) reached(i *subject) []string {
	var known dependence.Beyond
	if c.Dependences != nil {
		known = c.Dependences.Beyond(i.name)
	}
	return c.changed.reached(known)
}

// readable returns the changed resources that it may ask for.
func (c *prover) readable(i *subject) []string {
	return c.changed.readable(c.Settings, i.settings.Resources)
}

// ruled returns a pattern of a paths rule that names it and covers a changed file, or "".
func (c *prover) ruled(i *subject) string {
	for _, f := range c.changed.files {
		for _, rule := range c.Settings.Rules {
			if glob, covers := rule.Match(f.repo()); covers && rule.Runs(i.name) {
				return glob.Pattern + " covers " + f.repo()
			}
		}
	}
	return ""
}

// isBelieved tells whether nothing but the word of the definition stands behind a skip: no
// strict setting, and no run of the same command that passed. It is also believed that a program
// which nobody has recorded reads none of the files that changed.
func (c *prover) isBelieved(i *subject, n need) bool {
	return c.isUnread(i, n) || c.isByWord(i, n)
}

// isUnread tells whether a skip rests on the belief that a program which nobody has recorded reads
// none of the files that changed.
func (c *prover) isUnread(i *subject, n need) bool {
	return c.Unread != nil && c.Unread(i.name) && n.rung != plan.RungDefinition && n.reason.Code != plan.CodeSameAnswers
}

// isByWord tells whether a skip rests on the word of the definition about its schemas.
func (c *prover) isByWord(i *subject, n need) bool {
	if !n.word || i.settings.Strict {
		return false
	}
	if c.Dependences == nil {
		return true
	}
	passed := func(t plan.Task) bool { return c.Dependences.Passed(i.name, t.Command) }
	if passed(c.Tasks.Task(i.name, "")) {
		return false
	}
	shards := c.Tasks.Divided(i.name)
	return len(shards) == 0 || slices.ContainsFunc(shards, func(t plan.Task) bool { return !passed(t) })
}
