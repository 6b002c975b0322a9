package planner

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/names"
	"github.com/app-sre/prcheck/internal/shellwords"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

// Task returns the task that a plan would have for an integration that must run:
// the whole of it, or one shard. The task does everything: early exit is left out of
// its conditions. Its command is that of the task in a plan, for which its trace
// counts. It is an error when no bundle of the input defines the integration, or when
// it has no pr_check to start.
func Task(in Input, name, shard string) (plan.Task, error) {
	l, err := newLadder(in)
	if err != nil {
		return plan.Task{}, err
	}
	for _, o := range l.outcomes() {
		if o.Name != name {
			continue
		}
		if o.Use.Check == nil {
			return plan.Task{}, fmt.Errorf("integration %q has no pr_check, so no plan has a task for it", name)
		}
		p := l.divider.withImage(o, part{shard: shard})
		o.Decided = false // it must not end early, or leave shards out
		t := l.tasks.build(o, taskName(name), p)
		o.Decided = true // a task of a plan may, and does no more than this one
		t.Command = l.tasks.build(o, taskName(name), p).Command
		t.Inputs = l.inputs.bundles(t)
		return t, nil
	}
	return plan.Task{}, fmt.Errorf("no bundle defines an integration named %q", name)
}

// A taskBuilder makes the tasks of integrations.
type taskBuilder struct {
	settings     *settings.Settings
	natives      map[string]integration.DryRunner
	programs     func(settings.Programs) (string, error)
	edits        rules.Edits
	typesChanged bool // JSON schemas or GraphQL types differ
}

// A unit is a task together with the part of the integration that it does.
type unit struct {
	part part
	task plan.Task
}

// units makes the tasks of some work.
func (b *taskBuilder) units(o schemafilter.Outcome, w work) []unit {
	var out []unit
	for _, p := range w.parts {
		out = append(out, unit{p, b.build(o, w.prefix, p)})
	}
	return out
}

// build makes the task of a part. Its id begins with prefix, which has no slash.
func (b *taskBuilder) build(o schemafilter.Outcome, prefix string, p part) plan.Task {
	it := b.settings.For(o.Name)
	t := plan.Task{
		ID: prefix, Integration: o.Name, Shard: p.shard, Static: p.static,
		Timeout: it.Exec.Timeout.String(), Argv: []string{}, Memory: it.Exec.Memory,
	}
	if label := t.Label(); label != "" {
		t.ID += "/" + label
	}
	if o.Use.Check != nil {
		t.Order = o.Use.Check.Order
	}
	blocked := o.Blocked
	if t.Native = b.isNative(o.Name); !t.Native {
		s := b.start(o, p.image)
		it.Exec = s.exec.ForStaticShard(p.static.Numbers())
		argv, why := b.argv(o, it, p.shard)
		t.Argv, t.When = argv, s.conditions
		blocked = firstReason(blocked, s.blocked, why)
	}
	t.Blocked = blocked.String()
	t.Command = b.commandDigest(o, it, p.image, t)
	return t
}

// isNative tells whether an integration is part of the program.
func (b *taskBuilder) isNative(name string) bool {
	_, ok := b.natives[name]
	return ok
}

// firstReason returns the first reason that is not zero.
func firstReason(reasons ...plan.Reason) plan.Reason {
	for _, r := range reasons {
		if r.Code != "" {
			return r
		}
	}
	return plan.Reason{}
}

// commandDigest digests everything that decides how a task is started. Traces and
// results count for one command only. A task whose rules head edits has another digest, since
// its results say nothing about the task without the edit. Files that the settings declare are a
// part of the command. Other files are not: which of them count, runs show; see [Files].
func (b *taskBuilder) commandDigest(o schemafilter.Outcome, it settings.Integration, image string, t plan.Task) string {
	images := []string{it.Exec.ImageRef}
	if o.Use.Check != nil {
		images = append(images, cmp.Or(image, o.Use.Check.ImageRef))
	}
	how := map[string]any{
		"argv": t.Argv, "config": it.Exec.Config, "env": it.Exec.Env, "pass_env": it.Exec.PassEnv, "image": images,
	}
	if edited := b.editedRules(o); len(edited) > 0 {
		how["edited"] = edited
	}
	if prepare := b.settings.Prepare(); len(prepare) > 0 && len(t.Argv) > 0 {
		how["prepare"] = prepare
	}
	if b.programs != nil && len(t.Argv) > 0 && it.Programs.Globs != nil {
		if programs, err := b.programs(it.Programs); err == nil && programs != "" {
			how["programs"] = programs // for an error see unknownCommand
		}
	}
	raw, err := json.Marshal(how)
	if err != nil { // strings and maps of strings always encode
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// editedRules returns the edits of head to the rules of an integration, without those of files.
func (b *taskBuilder) editedRules(o schemafilter.Outcome) []string {
	return slices.DeleteFunc(slices.Clone(o.Conclusion.Evidence.Edited), func(edit string) bool {
		return b.edits.OnlyFiles(o.Name, []string{edit})
	})
}

// unknownCommand returns why the planner does not know a task's command entirely:
// it has the value of a variable, or may use a file that cannot be read. The reason is
// zero when the command is known. Otherwise no earlier run of the task counts.
func (b *taskBuilder) unknownCommand(t plan.Task) plan.Reason {
	if names := settings.EnvPlaceholderNames(t.Argv...); len(names) > 0 {
		return plan.Reason{Code: plan.CodeUnknownVariable, Names: names[:1]}
	}
	if declared := b.settings.For(t.Integration).Programs; b.programs != nil && declared.Globs != nil {
		if _, err := b.programs(declared); err != nil {
			return plan.Reason{Code: plan.CodeUnknownFile, Text: err.Error()}
		}
	}
	return plan.Reason{}
}

// taskName returns an integration's name as the first part of a task id. It has no
// slash, so that the first slash of the id ends it.
func taskName(name string) string {
	if !strings.ContainsAny(name, "%/") {
		return name
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(name)
}

// imageTag matches the tag of an image: the part of its name after the colon.
var imageTag = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// A start is how a task is started: the settings, with the conditions and the image
// that its definition adds to them.
type start struct {
	exec       settings.Exec
	conditions []string    // the conditions of its definition that the settings have a use for
	blocked    plan.Reason // zero when the task can be started
}

// start returns how a task of an integration is started. image is that of its shard,
// which goes before that of pr_check; "" when the shard has none.
func (b *taskBuilder) start(o schemafilter.Outcome, image string) start {
	exec := b.settings.For(o.Name).Exec
	check := o.Use.Check
	if check == nil {
		return start{exec: exec.ForConditions(nil, "")}
	}
	conditions := check.Conditions(b.mayLeaveOut(o))
	s := start{blocked: b.untrustedImage(o, check, image)}
	for _, c := range conditions {
		if _, ok := exec.When[c]; ok {
			s.conditions = append(s.conditions, string(c))
		}
	}
	if image = cmp.Or(image, check.ImageRef); s.blocked.Code != "" {
		image = ""
	}
	s.exec = exec.ForConditions(conditions, image)
	return s
}

// untrustedImage returns why a task cannot be started from its image; zero when it
// can.
func (b *taskBuilder) untrustedImage(o schemafilter.Outcome, check *integration.Check, image string) plan.Reason {
	switch {
	case image != "" && !imageTag.MatchString(image):
		return plan.Reason{Code: plan.CodeInvalidShardImage, Names: []string{image}}
	case image != "" || check.ImageRef == "":
		return plan.Reason{}
	case !imageTag.MatchString(check.ImageRef):
		return plan.Reason{Code: plan.CodeInvalidImage, Names: []string{check.ImageRef}}
	case o.FromHead():
		return plan.Reason{Code: plan.CodeUntrustedImage}
	}
	return plan.Reason{}
}

// mayLeaveOut tells whether a task may end early, or leave shards out, when the
// integration itself sees no difference between base and head. The integration
// sees its desired state alone. So it may leave something out only when nothing
// else is a reason to run: a changed definition, edited rules, a paths rule, a
// doubt, or changed types and schemas. Nor may it when the planner has compared the
// desired states and found a difference: the integration could only be wrong.
func (b *taskBuilder) mayLeaveOut(o schemafilter.Outcome) bool {
	e := o.Conclusion.Evidence
	return o.Decided && !o.FromHead() && len(e.Fields) == 0 && len(e.Edited) == 0 && e.Rule == "" && len(e.Doubts) == 0 &&
		!b.typesChanged
}

// argv returns the argument vector of a task. If there is none, blocked says why.
func (b *taskBuilder) argv(o schemafilter.Outcome, it settings.Integration,
	shard string) (argv []string, blocked plan.Reason) {
	var command []string
	if o.Use.Check != nil {
		command, blocked = b.commandWords(o, it.Exec)
	}
	argv = append([]string{}, it.Exec.Expand(o.Name, command, shardOption(o, it), shard)...)
	switch {
	case len(argv) > 0 && argv[0] != "":
		return argv, blocked
	case len(it.Exec.Argv) == 0:
		return []string{}, firstReason(blocked, plan.Reason{Code: plan.CodeNoExec})
	}
	return []string{}, firstReason(blocked, plan.Reason{Code: plan.CodeNoProgram})
}

// shardOption returns the command line option that hands a shard to an integration;
// "" when there is none.
func shardOption(o schemafilter.Outcome, it settings.Integration) string {
	if it.Shards == nil {
		return ""
	}
	strategy, _ := strategyOf(o, it.Shards.Strategy) // without a strategy there is no shard
	return cmp.Or(it.Shards.Arg, sharding.KeyOption(strategy))
}

// commandWords splits pr_check.cmd into words. Variables become placeholders that
// the runner fills in. Anything else that a shell would act on blocks the task.
func (b *taskBuilder) commandWords(o schemafilter.Outcome, exec settings.Exec) (words []string, blocked plan.Reason) {
	split, err := shellwords.Split(o.Use.Check.Cmd)
	if err != nil {
		return nil, plan.Reason{Code: plan.CodeNotWords, Text: err.Error()}
	}
	for _, w := range split {
		var word string
		for _, p := range w {
			value, ok := exec.Variables[p.Variable]
			switch {
			case p.Variable == "":
				word += settings.EscapePlaceholders(p.Text)
			case ok:
				word += value
			default:
				return nil, plan.Reason{Code: plan.CodeUnlistedVariable, Names: []string{p.Variable}}
			}
		}
		words = append(words, word)
	}
	if o.FromHead() && len(words) > 0 && !names.IsPlain(words[0]) {
		return nil, plan.Reason{Code: plan.CodeUnsafeCommand, Names: words[:1]}
	}
	return words, plan.Reason{}
}
