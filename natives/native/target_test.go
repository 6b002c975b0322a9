package native_test

import (
	"context"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

type address struct {
	Host string
	Sent string // what may be sent there
}

func (a address) Identity() any { a.Sent = ""; return a }

// A target of head is asked as base says if only the rest of it changed, and not at all if it is
// another one.
func TestIdentifiedTarget(t *testing.T) {
	for name, c := range map[string]struct {
		head address
		want []any
	}{
		"the same":        {address{"a", "read"}, []any{address{"a", "read"}}},
		"it may do more":  {address{"a", "write"}, []any{address{"a", "read"}}},
		"at another host": {address{"b", "read"}, nil},
	} {
		var asked []any
		n := native.Make(native.Recipe{Name: "x", Class: reconcile.Listing,
			Desired: func(_ context.Context, query integration.QueryFunc, _ settings.Integration) (native.Desired, error) {
				a := address{"a", "read"}
				if query == nil { // that of head
					a = c.head
				}
				return native.Desired{Parts: []native.Part{{Target: a}, {Shard: "plain", Target: "text"}}}, nil
			},
			Current: func(_ context.Context, _ integration.Environment, p native.Part) (native.Current, error) {
				if p.Shard == "" {
					asked = append(asked, p.Target)
				}
				return native.Current{}, nil
			}})
		base := func(context.Context, string, map[string]any) ([]byte, error) { return nil, nil }
		if err := n.DryRun(t.Context(), integration.Environment{Base: base}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(asked, c.want) {
			t.Errorf("%s: asked %+v, want %+v", name, asked, c.want)
		}
	}
}
