package refusal

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A Refusal is a reason for which a server forbids a request.
type Refusal int

// The refusals. Foreign: the answer is not that of an API server.
const (
	ByRole Refusal = iota
	ByGrant
	ByQuota
	ByPolicy
	AsItEnds
	Foreign
)

// A Denial is what an API server says with 403.
type Denial struct {
	Message string
	Causes  []string // the reasons of its causes
	Reads   bool     // the request only reads
}

// deniedVerb is how a server says that no role allows a request.
var deniedVerb = lazyregexp.New(`(?i)\buser ".*" cannot \S+ (resource|path) "`)

// quotaWords are how a server says that a quota does not suffice.
var quotaWords = []string{"exceeded quota: ", "failed quota: ", "status unknown for quota: ", "insufficient quota to "}

// Of returns why an API server forbids a request. Reads are forbidden by roles alone.
func Of(s Denial) Refusal {
	says := func(words string) bool { return strings.Contains(s.Message, words) }
	switch {
	case slices.Contains(s.Causes, "NamespaceTerminating"):
		return AsItEnds
	case s.Reads:
		return ByRole
	case says(" denied the request"), says(" denied request"): // its text is free
		return ByPolicy
	case says("attempting to grant RBAC permissions not currently held"):
		return ByGrant
	case slices.ContainsFunc(quotaWords, says):
		return ByQuota
	case deniedVerb.MatchString(s.Message):
		return ByRole
	}
	return ByPolicy
}

// Remedy says what to do about a refusal. needs are what the role of the account must allow.
func (r Refusal) Remedy(needs string) string {
	switch r {
	case ByRole:
		return "the role of the account must allow " + needs
	case ByGrant:
		return "the account can only grant what it may do itself: give its role these permissions, or take them out of " +
			"the object"
	case ByQuota:
		return "the quota of the namespace does not suffice: raise it, or ask for less"
	case AsItEnds:
		return "the namespace is being deleted: wait until it is gone and made anew, or take it out of the data"
	case Foreign:
		return "something in front of the API server refuses: check the address and the token"
	default:
		return "a policy of the cluster refuses the object: change the object, or ask who keeps the policy"
	}
}
