package settings

import (
	"slices"
	"strings"
	"testing"
)

// A process needs both numbers to know its part of the work.
func TestPassesShardNumber(t *testing.T) {
	tests := []struct {
		name string
		exec Exec
		want bool
	}{
		{"nothing", Exec{Argv: []string{"x", "{shard}"}}, false},
		{"argv", Exec{Argv: []string{"x", "--part={shard_id}/{shards}"}}, true},
		{"env", Exec{Env: map[string]string{"A": "{shards}", "B": "{shard_id}"}}, true},
		{"config", Exec{Config: "shards = {shards}\nid = {shard_id}"}, true},
		{"here and there", Exec{Argv: []string{"{shards}"}, Env: map[string]string{"B": "{shard_id}"}}, true},
		{"one", Exec{Argv: []string{"{shards}"}}, false},
		{"the other", Exec{Argv: []string{"{shard_id}"}}, false},
		{"only when a command asks", Exec{Variables: map[string]string{"A": "{shards}", "B": "{shard_id}"}}, false},
		{"as it is", Exec{Argv: []string{EscapePlaceholders("{shards} {shard_id}")}}, false},
	}
	for _, tt := range tests {
		if got := tt.exec.PassesShardNumber(); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
	only := Exec{Argv: []string{"{flags}"},
		When: map[Condition]ExecAddition{State: {Flags: []string{"{shards}", "{shard_id}"}}}}
	if only.ForConditions(nil, "").PassesShardNumber() || !only.ForConditions([]Condition{State}, "").PassesShardNumber() {
		t.Error("a condition that does not hold counts, or one that holds does not")
	}
}

func TestForStaticShard(t *testing.T) {
	e := Exec{
		Argv: []string{"{shard_id}", "{shard} {shards}"}, Config: "{shards}",
		Env: map[string]string{"A": "{shard_id}"}, Variables: map[string]string{"V": "{shards}"},
	}
	got := e.ForStaticShard(3, 1)
	if want := []string{"1", "{shard} 3"}; !slices.Equal(got.Argv, want) || got.Config != "3" || got.Env["A"] != "1" ||
		got.Variables["V"] != "3" {
		t.Errorf("got %+v", got)
	}
	if e.Argv[0] != "{shard_id}" || e.Env["A"] != "{shard_id}" || e.Variables["V"] != "{shards}" {
		t.Errorf("the original changed: %+v", e)
	}
}

// Settings with static shards need no argument for a key.
func TestStaticShards(t *testing.T) {
	s, err := Read("prcheck.yaml", []byte(strings.Join([]string{
		"version: 1", `exec: {argv: [x], env: {SHARDS: "{shards}", SHARD_ID: "{shard_id}"}}`,
		"integrations: {a: {shards: {strategy: static}}}", "",
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.For("a").Shards; got.Strategy != StrategyStatic || !got.FanOut {
		t.Errorf("got %+v", got)
	}
}
