package planner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/schemafilter"
)

// maxFanOut bounds how many tasks a full run may become.
const maxFanOut = 500

// noExec is why a task cannot be started when the settings do not say how.
const noExec = "no exec in prcheck.yaml says how to start it"

// tasks makes the tasks of a decision. A full run of an integration with known
// shards becomes one task per shard when its settings ask for it.
func (m *maker) tasks(ctx context.Context, o schemafilter.Outcome, d *plan.Decision) []plan.Task {
	switch d.Decision {
	case plan.Skip:
		return nil
	case plan.Shards:
		return m.each(o, taskName(o.Name), m.only(o, d.Evidence.Keys))
	}
	parts, why := m.fanOut(ctx, o)
	if len(parts) > 0 {
		d.Reason += "; fanned out over its " + shardsOf(parts)
	}
	if why != "" {
		d.Reason += "; " + why
	}
	if len(parts) > 0 {
		return m.each(o, taskName(o.Name)+"-wrapper", parts)
	}
	return []plan.Task{m.task(o, taskName(o.Name), part{})}
}

func (m *maker) each(o schemafilter.Outcome, prefix string, parts []part) []plan.Task {
	var out []plan.Task
	for _, p := range parts {
		out = append(out, m.task(o, prefix, p))
	}
	return out
}

// task makes the task of a part. Its id begins with prefix, which has no slash.
func (m *maker) task(o schemafilter.Outcome, prefix string, p part) plan.Task {
	it := m.Settings.For(o.Name)
	t := plan.Task{
		ID: prefix, Integration: o.Name, Shard: p.shard, Static: p.static,
		Blocked: o.Blocked, Timeout: it.Exec.Timeout.String(), Argv: []string{},
	}
	if label := t.Label(); label != "" {
		t.ID += "/" + label
	}
	if o.Use.Check != nil {
		t.Order = o.Use.Check.Order
	}
	if _, t.Native = m.natives[o.Name]; !t.Native {
		it.Exec = m.started(o, it.Exec, p.image, &t).ForStaticShard(p.static.Numbers())
		m.command(o, it, &t)
	}
	t.Command = m.commandDigest(o, it, p.image, t)
	t.Memory = it.Exec.Memory
	return t
}

// commandDigest digests all that decides how a task is started. Traces and results
// speak for one command; what passed while head edits the rules or the programs
// speaks for no task without the edit.
func (m *maker) commandDigest(o schemafilter.Outcome, it integration.Integration, image string, t plan.Task) string {
	images := []string{it.Exec.ImageRef}
	if o.Use.Check != nil {
		images = append(images, cmp.Or(image, o.Use.Check.ImageRef))
	}
	how := map[string]any{
		"argv": t.Argv, "config": it.Exec.Config, "env": it.Exec.Env, "pass_env": it.Exec.PassEnv, "image": images,
	}
	if edited := o.Decision.Evidence.Edited; len(edited) > 0 {
		how["edited"] = edited
	}
	if m.Programs != nil {
		if programs, err := m.Programs(t.Argv); err == nil && programs != "" {
			how["programs"] = programs // in doubt see unknown
		}
	}
	raw, err := json.Marshal(how)
	if err != nil { // strings and maps of strings always encode
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// unknown says what of a task's command no plan knows, "" when it knows all. Then
// nothing that the command did before says what it does now.
func (m *maker) unknown(t plan.Task) string {
	if names := integration.EnvPlaceholderNames(t.Argv...); len(names) > 0 {
		return fmt.Sprintf("its command has the value of %s, which no plan knows", names[0])
	}
	if m.Programs != nil {
		if _, err := m.Programs(t.Argv); err != nil {
			return "what its command names is not known: " + err.Error()
		}
	}
	return ""
}

// taskName is an integration's name as the first part of a task id: without a
// slash, so that the first slash ends it.
func taskName(name string) string {
	if !strings.ContainsAny(name, "%/") {
		return name
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(name)
}
