package effects

import (
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A name may be any word, such as "disabled", "failed" or "No owner". So a word that denies counts
// only where no name can stand: at the beginning of what follows the verb, in a clause of its own, and
// at the end behind a thing and its name.
var (
	// deniedFirst matches what is no thing: "Deleting nothing".
	deniedFirst = lazyregexp.New(`^(?:no|none|nothing|not)(?:[\s.,]|$)`)
	// deniedClause matches a clause that says that nothing is done: "Deleting users is disabled".
	deniedClause = lazyregexp.New(`(?i)(?:^|[\s,;:(])(?:is|are|was|were|be|been|has|have|had|will|would|can|could|should|must|may|does|do|did)(?:n't\b| (?:not|never|already|disabled|unchanged|ignored|skipped|unable|only|no longer|currently disabled|being skipped)(?:[\s.,;:)!]|$)|not(?:[\s.,;:)!]|$))`)
	// deniedRemark matches a remark behind the subject: "Deleting user jane: not found, skipping".
	deniedRemark = lazyregexp.New(`(?i)(?:^|[\s,;:(])(?:already (?:gone|exists?|deleted|removed|absent|present|there|done|disabled|enabled|up)|not (?:found|supported|enabled|allowed|needed|required|implemented|possible|present|necessary)|does not exist|no longer exists?|nothing to do)(?:[\s.,;:)!]|$)|(?:[,;(]| -+) ?(?:but )?(?:skip|skipped|skipping|ignored|ignoring|disabled|unchanged|nothing|failed|cannot|unable|instead)(?:[\s.,;:)!]|$)`)
	// deniedEnd matches the end of a sentence about something that went wrong: "Deleting user jane failed".
	deniedEnd = lazyregexp.New(`(?i)^\S+ \S.* (?:failed|skipped)[.!]?$`)
	// named matches a thing and a colon, which a name follows: "Delete policy: skip".
	named = lazyregexp.New(`^[A-Za-z][\w/-]*: `)
	// doubtful matches the words of all these in a phrase.
	doubtful = lazyregexp.New(`(?i)\b(?:not|no|never|nothing|already|skip|skips|skipped|skipping|fail|fails|failed|unable|cannot|disabled|unchanged|ignored|ignoring|instead)\b|n't\b`)
)

// isDenied reports whether what follows the verb of a sentence says that nothing is done.
func isDenied(rest string) bool {
	return !named.MatchString(rest) &&
		(deniedFirst.MatchString(rest) || deniedClause.MatchString(rest) || deniedRemark.MatchString(rest) ||
			deniedEnd.MatchString(rest))
}

// isConditional reports whether the subject of a sentence makes it one about nothing, or about
// something that may come: "Nothing will be deleted", "If unused they will be deleted".
func isConditional(subject string) bool {
	first, _, _ := strings.Cut(strings.ToLower(subject), " ")
	switch first {
	case "no", "nothing", "none", "if", "when", "once", "unless", "only", "neither":
		return true
	}
	return false
}

// Things that a program makes for itself. They are no effect if no name follows them: "Deleting cache
// of this run" tells of such a thing, and "Deleting cache sessions" of one that the world has.
var (
	// ownThings matches such things; temporary ones need no further sign.
	ownThings = lazyregexp.New(`^(?i:(?:(?:a|an|the|new|all) )*((?:(?:sessions?|clients?|connections?|caches?|metrics?|workdirs?|threads?|pools?|reports?|oc|oc_map|states?|inventory|index|lists?|quer(?:y|ies)|requests?|context|logs?|locks?|clones?|virtualenv|diffs?|graphs?)(?:[ .:]+|$))+))`)
	temporary = lazyregexp.New(
		`^(?i:(?:(?:a|an|the|new|all) )*(?:temp|temporary|tmp|local|in-memory|working|desired|current) )`)
	// noName matches the words after which a sentence goes on without a name.
	noName = lazyregexp.New(`^(?i:available|found|completed?|finished|done|is|was|are|for|of|on|in|to|from|up|with|at|by|as|and|or|before|after|because|protection|marker|strategy|interval)(?:[ .,:]|$)`)
)

// isInside reports whether what follows a verb is something that a program makes for itself. For
// a deletion, the second of two such things is a name.
func isInside(rest string, kind plan.EffectKind) bool {
	if temporary.MatchString(rest) || noName.MatchString(rest) {
		return true
	}
	m := ownThings.FindStringSubmatch(rest)
	if m == nil {
		return false
	}
	if left := strings.Trim(rest[len(m[0]):], " .:…"); left != "" {
		return noName.MatchString(left)
	}
	return kind != plan.EffectDelete || len(strings.Fields(m[1])) == 1
}
