package reconcile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/plan"
)

// Limits say how many things may be deleted in one run. The zero value allows nothing above
// the floor of zero; see [DefaultLimits].
type Limits struct {
	Max     int  // deletions
	Percent int  // of the managed things, rounded down
	Floor   int  // as many are always allowed
	Off     bool // only approved deletions are allowed
}

// DefaultLimits are the limits if the settings say nothing.
func DefaultLimits() Limits { return Limits{Max: 10, Percent: 20, Floor: 3} }

// An Approval allows the deletion of one thing, until the end of a day.
type Approval struct {
	Key   Key
	Until string // as 2006-01-02; the day counts
	Place plan.Place
}

// A Gate decides whether the deletions of a run may be done. It takes all of them or none.
type Gate struct {
	Limits    Limits
	Approvals []Approval // of base
	Today     time.Time  // the day that approvals are compared with
	Refused   Refusal    // somebody else decided: why no deletion is done; the zero value is no decision
	MayEmpty  bool       // that nothing is desired is no doubt: somebody said that all must go
	Confirmed string     // the digest of deletions that somebody confirmed by hand, see [Deletions.Digest]
}

// Deletions are what a gate decides about. Those of several shards can be put together.
type Deletions struct {
	Keys       []Key // replacements count as deletions
	Managed    int   // how many things are ours
	Desired    int   // how many items there are, those that say delete included
	Incomplete bool  // something could not be read
}

// Plus returns the deletions of two shards together. An error while one was read says nothing
// about the other, so the sum is not incomplete.
func (d Deletions) Plus(more Deletions) Deletions {
	return Deletions{Keys: slices.Concat(d.Keys, more.Keys), Managed: d.Managed + more.Managed,
		Desired: d.Desired + more.Desired}
}

// Digest identifies exactly these deletions ("sha256:…"), in any order.
func (d Deletions) Digest() string {
	keys := slices.Sorted(slices.Values(d.Keys))
	hash := sha256.New()
	for _, k := range keys {
		_, _ = fmt.Fprintf(hash, "%d:%s\n", len(k), k) // a hash takes everything
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// A Refusal says why deletions are not done. The zero value is no refusal.
type Refusal struct {
	Code   plan.FindingCode
	Reason string
	Keys   []Key // the deletions that are refused
}

// Decide returns why the deletions are refused. A refusal of single deletions ([CodeDelete])
// leaves the others alone; every other refusal is about all of them.
func (g Gate) Decide(d Deletions) Refusal {
	n := len(d.Keys)
	if n == 0 {
		return Refusal{}
	}
	var counted []Key
	for _, k := range d.Keys {
		if !g.isApproved(k) {
			counted = append(counted, k)
		}
	}
	l := g.Limits
	switch allowed := d.Managed * l.Percent / 100; {
	case g.Refused.Code != "":
		return Refusal{g.Refused.Code, g.Refused.Reason, d.Keys}
	case d.Incomplete:
		return Refusal{CodeIncomplete, "not all could be read, so nothing is deleted", d.Keys}
	case d.Desired == 0 && !g.MayEmpty:
		return Refusal{CodeEmpty, "nothing is desired, so nothing is deleted: say delete: true for each thing that must go",
			d.Keys}
	case l.Off && len(counted) > 0:
		return Refusal{CodeDelete, "deletions are off: approve each of them in the settings of base", counted}
	case g.Confirmed != "" && g.Confirmed == d.Digest(), len(counted) <= l.Floor,
		len(counted) <= l.Max && len(counted) <= allowed:
		return Refusal{}
	default:
		reason := fmt.Sprintf("more deletions (%d) than max allows (%d)", len(counted), l.Max)
		if len(counted) <= l.Max {
			reason = fmt.Sprintf("more deletions (%d) than %d %% of the things that are ours (%d), and than the floor (%d)",
				len(counted), l.Percent, d.Managed, l.Floor)
		}
		reason += ": confirm them with --confirm-deletions " + d.Digest()
		return Refusal{CodeTooMany, reason, d.Keys}
	}
}

func (g Gate) isApproved(k Key) bool {
	return slices.ContainsFunc(g.Approvals, func(a Approval) bool {
		until, err := time.Parse(time.DateOnly, a.Until)
		return a.Key == k && err == nil && !g.day().After(until)
	})
}

// day returns the day that approvals are compared with, at midnight.
func (g Gate) day() time.Time {
	y, m, d := g.Today.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// findings returns a finding for each approval that is none.
func (g Gate) findings() []Finding {
	var out []Finding
	for _, a := range g.Approvals {
		if _, err := time.Parse(time.DateOnly, a.Until); err != nil {
			out = append(out, Finding{Finding: plan.Finding{Code: CodeApproval, Severity: plan.SeverityError, Place: a.Place,
				Message: fmt.Sprintf("the approval of a deletion ends at %.40q, which is no date such as 2026-12-31",
					strings.ToValidUTF8(a.Until, "?"))}, Keys: []Key{a.Key}})
		}
	}
	return out
}
