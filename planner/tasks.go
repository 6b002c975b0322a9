package planner

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner/rules"
	"github.com/app-sre/prcheck/schemafilter"
	"github.com/app-sre/prcheck/settings"
)

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
