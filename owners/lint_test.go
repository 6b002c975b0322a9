package owners_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/owners"
)

// Each hint is told for a rule that deserves it, and for no other.
func TestLint(t *testing.T) {
	for _, c := range []struct {
		name    string
		replace []string
		want    string // in a hint; the example has one of its own
	}{
		{"the example", nil, `no role binds the change type "on-call"`},
		{"a selector that matches nothing", []string{`"description",`, `"depiction",`},
			`the selector "depiction" of the change type "app" matches nothing`},
		{"a context that is not bound", []string{`roles[?(@.'$ref'=='{{ ctx_file_path }}')]`, `roles[*]`},
			`the selector "roles[*]" of the change type "member" does not mention`},
		{"a role that ended", []string{`"name": "platform"`, `"name": "platform", "expirationDate": "2026-01-01"`},
			`the role "platform" ended on 2026-01-01`},
		{"two users of one name", []string{`"org_username": "cy"`, `"org_username": "bob"`},
			`it has the name "bob", and so has`},
	} {
		l := owners.LintRules(change(t, c.replace...).Head, "2026-11-28")
		var hints []string
		for _, h := range l.Hints {
			hints = append(hints, h.Text)
		}
		if len(l.Faults) > 0 || !slices.ContainsFunc(hints, func(h string) bool { return strings.Contains(h, c.want) }) {
			t.Errorf("%s: %q and %v, want %q", c.name, hints, l.Faults, c.want)
		}
		if most := 1 + min(1, len(c.replace)) + strings.Count(c.name, "role that ended"); len(hints) > most {
			t.Errorf("%s: more hints than %d: %q", c.name, most, hints)
		}
	}
}

// The share of a schema is counted in leaves.
func TestShares(t *testing.T) {
	l := owners.LintRules(change(t).Base, "2026-11-28")
	i := slices.IndexFunc(l.Shares, func(s owners.Share) bool { return s.Schema == "/openshift/namespace-1.yml" })
	if want := (owners.Share{Schema: "/openshift/namespace-1.yml", Files: 1, Owned: 2, Leaves: 5}); l.Shares[i] != want {
		t.Errorf("got %+v, want %+v", l.Shares[i], want)
	}
}
