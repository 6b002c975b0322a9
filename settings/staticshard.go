package settings

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PassesShardNumber reports whether every process gets the number of static shards and
// its own number. Flags and variables of conditions do not count, since a condition
// holds for some definitions only.
func (e Exec) PassesShardNumber() bool {
	texts := slices.AppendSeq(append(slices.Clone(e.Argv), e.Config), maps.Values(e.Env))
	has := func(placeholder string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, placeholder) })
	}
	return has("{shards}") && has("{shard_id}")
}

// ForStaticShard returns the Exec of one static shard: {shards} and {shard_id} are
// replaced everywhere.
func (e Exec) ForStaticShard(shards, id int) Exec {
	fill := strings.NewReplacer("{shards}", strconv.Itoa(shards), "{shard_id}", strconv.Itoa(id)).Replace
	filled := func(in map[string]string) map[string]string {
		out := maps.Clone(in)
		for k, v := range in {
			out[k] = fill(v)
		}
		return out
	}
	e.Argv, e.Config, e.Env, e.Variables = slices.Clone(e.Argv), fill(e.Config), filled(e.Env), filled(e.Variables)
	for i, word := range e.Argv {
		e.Argv[i] = fill(word)
	}
	return e
}
