package integration

import (
	"context"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

type plain struct{}

func (plain) Name() string                                   { return "plain" }
func (plain) DryRun(context.Context, Environment) error      { return nil }
func (plain) Run(context.Context, Environment, Actors) error { return nil }

type full struct{ plain }

func (full) DesiredState(ctx context.Context, query QueryFunc, _ settings.Integration) (any, error) {
	return query(ctx, "{ accounts { name } }", nil)
}
func (full) Shards() settings.Shards { return settings.Shards{Arg: "--account"} }

func TestNativeAbilities(t *testing.T) {
	tests := []struct {
		name string
		n    Native
		want bool
	}{
		{"neither", plain{}, false},
		{"both", full{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if ok := StateOf(tt.n, settings.Integration{}) != nil; ok != tt.want {
				t.Errorf("StateOf: got %v, want %v", ok, tt.want)
			}
			if _, ok := AsSharder(tt.n); ok != tt.want {
				t.Errorf("AsSharder: got %v, want %v", ok, tt.want)
			}
		})
	}
}
