package settings

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// readShards reads the key shards of an integration. A native that is bound to it is told its shard;
// otherwise exec must pass it on.
func (r *reader) readShards(n *yaml.Node, at string, it Integration) *Shards {
	s := &Shards{Max: DefaultMaxShards, Line: n.Line}
	keys := r.readObject(n, at, "by", "strategy", "arg", "collection", "max", "fan_out")
	r.note(n, constraint{"oneOf": []constraint{{"required": []string{"by"}}, {"required": []string{"strategy"}}}})
	switch {
	case keys["strategy"] != nil:
		r.readStrategy(s, keys, at)
	case r.hasKey(n, keys, at, "by"):
		s.By = r.readSelectors(keys["by"], at+".by")
	}
	if n := keys["arg"]; n != nil {
		s.Arg, _ = r.readText(n, at+".arg")
	}
	if n := keys["collection"]; n != nil {
		s.Collection = r.readBool(n, at+".collection")
	}
	if n := keys["max"]; n != nil {
		s.Max = r.readInt(n, at+".max", 1, maxShards)
	}
	if n := keys["fan_out"]; n != nil {
		s.FanOut = r.readBool(n, at+".fan_out")
	}
	if n.Kind == yaml.MappingNode && !r.misspelt[n] && it.Native == "" {
		r.checkShardIsPassed(s, n, keys, at, it.Exec)
	}
	return s
}

// readStrategy reads the key strategy into s. It sets FanOut: a full run becomes one task
// per shard, so that each shard has a trace of its own.
func (r *reader) readStrategy(s *Shards, keys map[string]*yaml.Node, at string) {
	s.Strategy = Strategy(r.readChoice(keys["strategy"], at+".strategy", strategies[1:])) + 1
	s.FanOut = true
	for _, other := range []string{"by", "fan_out"} {
		if n := keys[other]; n != nil {
			r.fail(n.Line, at+"."+other, "cannot be set together with strategy, which decides the shards")
		}
	}
}

// checkShardIsPassed notes a mistake if exec does not pass the shard to the process.
func (r *reader) checkShardIsPassed(s *Shards, n *yaml.Node, keys map[string]*yaml.Node, at string, exec Exec) {
	args, shard := slices.Contains(exec.Argv, "{shard_args}"), exec.uses("{shard}")
	switch {
	case s.Strategy == StrategyStatic && exec.Argv != nil && !exec.PassesShardNumber():
		r.fail(n.Line, at, "a process would not know its static shard: put {shards} and {shard_id} into argv, env or "+
			"config of exec")
	case s.Strategy == StrategyStatic && keys["arg"] == nil:
	case args && keys["arg"] == nil && keys["strategy"] == nil:
		r.fail(n.Line, at, "arg is missing: the option that {shard_args} puts before the shard")
	case !args && keys["arg"] != nil && exec.Argv != nil:
		r.fail(keys["arg"].Line, at+".arg", "is never used, since exec.argv has no {shard_args}")
	case !args && !shard && exec.Argv != nil:
		r.fail(n.Line, at, "a process would not know its shard: exec.argv has neither {shard_args} nor {shard}")
	}
}

// readSelectors reads a list of selectors.
func (r *reader) readSelectors(n *yaml.Node, at string) []Selector {
	items := r.readNonEmptyList(n, at)
	if !r.checkCount(n, at, maxSelectors, "selectors") {
		return nil
	}
	var by []Selector
	for _, t := range r.readUniqueTexts(items, at) {
		s, err := ParseSelector(t.value)
		if err != nil {
			r.fail(t.line, at, "%s", err)
			continue
		}
		s.Line = t.line
		twin := slices.IndexFunc(by, func(o Selector) bool { return slices.Equal(o.Steps, s.Steps) })
		if twin >= 0 {
			r.fail(t.line, at, "%s says the same as %s on line %d", phrase.Quote(s.Text), phrase.Quote(by[twin].Text),
				by[twin].Line)
			continue
		}
		by = append(by, s)
	}
	return by
}
