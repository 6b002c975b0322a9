package integration

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// shards reads how an integration is sharded; exec is how it is started.
func (r *reader) shards(n *yaml.Node, at string, exec Exec) *Shards {
	s := &Shards{Max: DefaultMaxShards, Line: n.Line}
	keys := r.object(n, at, "by", "strategy", "arg", "collection", "max", "fan_out")
	switch {
	case keys["strategy"] != nil:
		r.strategy(s, keys, at)
	case r.required(n, keys, at, "by"):
		s.By = r.selectors(keys["by"], at+".by")
	}
	if n := keys["arg"]; n != nil {
		s.Arg, _ = r.text(n, at+".arg")
	}
	if n := keys["collection"]; n != nil {
		s.Collection = r.boolean(n, at+".collection")
	}
	if n := keys["max"]; n != nil {
		s.Max = r.integer(n, at+".max", 1, maxShards)
	}
	if n := keys["fan_out"]; n != nil {
		s.FanOut = r.boolean(n, at+".fan_out")
	}
	if n.Kind == yaml.MappingNode && !r.misspelt[n] {
		r.reachable(s, n, keys, at, exec)
	}
	return s
}

// strategy reads where the keys come from when no selector finds them. A full
// run is always one over all of them, so that each has a trace of its own.
func (r *reader) strategy(s *Shards, keys map[string]*yaml.Node, at string) {
	s.Strategy = Strategy(r.choice(keys["strategy"], at+".strategy", strategies[1:])) + 1
	s.FanOut = true
	for _, other := range []string{"by", "fan_out"} {
		if n := keys[other]; n != nil {
			r.fail(n.Line, at+"."+other, "does not go with strategy, which says which shards there are")
		}
	}
}

// reachable notes when the process would never learn which shard is its own.
func (r *reader) reachable(s *Shards, n *yaml.Node, keys map[string]*yaml.Node, at string, exec Exec) {
	args, shard := slices.Contains(exec.Argv, "{shard_args}"), exec.needs("{shard}")
	switch {
	case s.Strategy == Static && exec.Argv != nil && !exec.Numbered():
		r.fail(n.Line, at, "the static shards reach no process: exec has not both {shards} and {shard_id} in its argv, env or config")
	case s.Strategy == Static && keys["arg"] == nil:
	case args && keys["arg"] == nil && keys["strategy"] == nil:
		r.fail(n.Line, at, "arg is missing: the option that {shard_args} puts before the shard")
	case !args && keys["arg"] != nil && exec.Argv != nil:
		r.fail(keys["arg"].Line, at+".arg", "is never used, since exec.argv has no {shard_args}")
	case !args && !shard && exec.Argv != nil:
		r.fail(n.Line, at, "the shard reaches no process: exec.argv has neither {shard_args} nor {shard}")
	}
}

func (r *reader) selectors(n *yaml.Node, at string) []Selector {
	items := r.some(n, at)
	if len(items) > maxSelectors {
		r.fail(n.Line, at, "has more than %d selectors", maxSelectors)
		return nil
	}
	var by []Selector
	for _, t := range r.texts(items, at) {
		s, err := ParseSelector(t.value)
		if err != nil {
			r.fail(t.line, at, "%s", err)
			continue
		}
		s.Line = t.line
		twin := slices.IndexFunc(by, func(o Selector) bool { return slices.Equal(o.Steps, s.Steps) })
		if twin >= 0 {
			r.fail(t.line, at, "%s says the same as %s on line %d", clip(s.Text), clip(by[twin].Text), by[twin].Line)
			continue
		}
		by = append(by, s)
	}
	return by
}
