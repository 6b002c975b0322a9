package manager

import (
	"context"
	"math"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/native"
	"github.com/app-sre/prcheck/natives/reconcile"
	"github.com/app-sre/prcheck/settings"
)

// Name is the name of the native.
const Name = "integrations-manager"

// New returns the native integration.
func New() integration.Native { return native.Make(parts()) }

// parts returns what the native is made of.
func parts() native.Recipe {
	refs := &resolver{}
	return native.Recipe{
		Name: Name, Class: reconcile.Listing, Offline: true,
		Desired: func(ctx context.Context, query integration.QueryFunc, it settings.Integration) (native.Desired, error) {
			refs.forget() // a run begins
			return desired(ctx, query, it)
		},
		Complete: completer(refs), Current: current, Compare: compare, Doer: newDoer, Try: try, Prepare: prepare,
		Settle: settle, Alters: alters, Sets: sets, Label: label,
		Describe: statusOf, Momentary: true,
		Remembers: func(any) any { return nil }, // the digest on the object says what was applied
		Limits:    &reconcile.Limits{Percent: 25, Floor: 2, Max: math.MaxInt32},
		CheckSettings: func(own settings.Own) error {
			_, err := readSettings(own)
			return err
		},
	}
}
