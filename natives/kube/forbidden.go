package kube

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
)

// A refusal is why a server forbids a request (403). An API server has one status for all of these,
// and only its text tells them apart.
type refusal int

// The refusals. Foreign: the answer is not that of an API server.
const (
	refusedByRole refusal = iota
	refusedByGrant
	refusedByQuota
	refusedByPolicy
	refusedAsItEnds
	refusedByForeign
)

// deniedVerb is how a server says that no role allows a request.
var deniedVerb = lazyregexp.New(`(?i)\buser ".*" cannot \S+ (resource|path) "`)

// quotaWords are how a server says that a quota does not suffice.
var quotaWords = []string{"exceeded quota: ", "failed quota: ", "status unknown for quota: ", "insufficient quota to "}

// refusalOf returns why a status with 403 forbids a request. Reads are forbidden by roles alone.
func refusalOf(s *status, isRead bool) refusal {
	if s == nil {
		return refusedByForeign
	}
	says := func(words string) bool { return strings.Contains(s.Message, words) }
	switch {
	case slices.ContainsFunc(s.Details.Causes, func(c cause) bool { return c.Reason == "NamespaceTerminating" }):
		return refusedAsItEnds
	case isRead:
		return refusedByRole
	case says(" denied the request"), says(" denied request"): // its text is free
		return refusedByPolicy
	case says("attempting to grant RBAC permissions not currently held"):
		return refusedByGrant
	case slices.ContainsFunc(quotaWords, says):
		return refusedByQuota
	case deniedVerb.MatchString(s.Message):
		return refusedByRole
	}
	return refusedByPolicy
}

// remedy says what to do about a refusal. needs are what the role of the account must allow.
func (r refusal) remedy(needs string) string {
	switch r {
	case refusedByRole:
		return "the role of the account must allow " + needs
	case refusedByGrant:
		return "the account can only grant what it may do itself: give its role these permissions, or take them out of the object"
	case refusedByQuota:
		return "the quota of the namespace does not suffice: raise it, or ask for less"
	case refusedAsItEnds:
		return "the namespace is being deleted: wait until it is gone and made anew, or take it out of the data"
	case refusedByForeign:
		return "something in front of the API server refuses: check the address and the token"
	default:
		return "a policy of the cluster refuses the object: change the object, or ask who keeps the policy"
	}
}
