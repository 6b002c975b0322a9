package planner

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
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
		return m.perShard(o, taskName(o.Name), d.Evidence.Keys)
	}
	if keys := m.fanOut(ctx, o); len(keys) > 0 {
		d.Reason += fmt.Sprintf("; fanned out over its %d shards", len(keys))
		return m.perShard(o, taskName(o.Name)+"-wrapper", keys)
	}
	return []plan.Task{m.task(o, taskName(o.Name), "")}
}

// fanOut returns the shards that a full run is split into, none when it must
// stay whole.
func (m *maker) fanOut(ctx context.Context, o schemafilter.Outcome) []string {
	shards := m.Settings.For(o.Name).Shards
	s, ok := m.subjects[o.Name]
	if ok {
		shards = s.Shards
	}
	if shards == nil || !shards.FanOut || o.Blocked != "" {
		return nil
	}
	named := func(d integration.Definition) bool { return d.Name == o.Name+"-wrapper" }
	if slices.ContainsFunc(m.base, named) || slices.ContainsFunc(m.head, named) {
		return nil
	}
	keys, whole := m.keys(o.Name, shards.Strategy)
	if shards.Strategy == integration.StrategyNone && ok {
		keys, whole = m.world.ShardKeys(ctx, s)
	}
	if !whole || len(keys) > maxFanOut {
		return nil
	}
	return keys
}

func (m *maker) perShard(o schemafilter.Outcome, prefix string, keys []string) []plan.Task {
	var out []plan.Task
	for _, k := range keys {
		out = append(out, m.task(o, prefix+"/"+k, k))
	}
	return out
}

func (m *maker) task(o schemafilter.Outcome, id, shard string) plan.Task {
	it := m.Settings.For(o.Name)
	t := plan.Task{
		ID: id, Integration: o.Name, Shard: shard,
		Blocked: o.Blocked, Timeout: it.Exec.Timeout.String(), Argv: []string{},
	}
	if o.Use.Check != nil {
		t.Order = o.Use.Check.Order
	}
	if _, t.Native = m.natives[o.Name]; !t.Native {
		it.Exec = m.started(o, it.Exec, &t)
		m.command(o, it, &t)
	}
	t.Command = commandDigest(o, it, t)
	t.Memory = it.Exec.Memory
	if m.Estimates != nil {
		t.EstimateSeconds, t.EstimateP90 = m.Estimates.Seconds(t.Integration, t.Shard)
	}
	return t
}

// commandDigest digests all that decides how a task is started. Traces speak for
// one command.
func commandDigest(o schemafilter.Outcome, it integration.Integration, t plan.Task) string {
	image := []string{it.Exec.ImageRef}
	if o.Use.Check != nil {
		image = append(image, o.Use.Check.ImageRef)
	}
	raw, err := json.Marshal(map[string]any{
		"argv": t.Argv, "config": it.Exec.Config, "env": it.Exec.Env, "pass_env": it.Exec.PassEnv, "image": image,
	})
	if err != nil { // strings and maps of strings always encode
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// taskName is an integration's name as the first part of a task id: without a
// slash, so that the first slash ends it.
func taskName(name string) string {
	if !strings.ContainsAny(name, "%/") {
		return name
	}
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(name)
}
