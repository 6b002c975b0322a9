package reconcile_test

import (
	"testing"

	"github.com/app-sre/prcheck/natives/reconcile"
)

// What each claim allows to take.
func TestClaims(t *testing.T) {
	me := reconcile.Owner{Integration: "it", Caller: "a", Callers: []string{"a", "b"}}
	for name, c := range map[string]struct {
		claim                   reconcile.Claim
		nobody, living, foreign bool
	}{
		"no claim":           {reconcile.NoClaim, false, false, false},
		"adopt":              {reconcile.Adopt, true, false, false},
		"take over":          {reconcile.TakeOver, false, true, false},
		"adopt or take over": {reconcile.AdoptOrTakeOver, true, true, false},
	} {
		for _, of := range []struct {
			mark reconcile.Mark
			want bool
		}{
			{reconcile.Mark{}, c.nobody}, {reconcile.Mark{Integration: "it", Caller: "b"}, c.living},
			{reconcile.Mark{Integration: "other", Caller: "b"}, c.foreign},
		} {
			if v := me.Judge(of.mark, reconcile.Wish{Desired: true, Claim: c.claim}); v.Act != of.want || v.Mark != of.want {
				t.Errorf("%s of %+v: got %+v, want %t", name, of.mark, v, of.want)
			}
			if v := me.Judge(of.mark, reconcile.Wish{Claim: c.claim}); v.Act {
				t.Errorf("%s of %+v, which is not desired: got %+v", name, of.mark, v)
			}
		}
	}
}
