package integration

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Numbered reports whether a process learns how many static shards there are and
// which of them it is, whatever its definition says.
func (e Exec) Numbered() bool {
	texts := slices.AppendSeq(append(slices.Clone(e.Argv), e.Config), maps.Values(e.Env))
	has := func(placeholder string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, placeholder) })
	}
	return has("{shards}") && has("{shard_id}")
}

// Number is the Exec of one of so many static shards: {shards} and {shard_id} are
// filled in everywhere.
func (e Exec) Number(shards, id int) Exec {
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
