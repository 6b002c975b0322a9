package effects

import (
	"cmp"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A reconcile finds effects in the log of qontract-reconcile. It has one record a line:
//
//	[2026-11-20 10:00:00] [INFO] [DRY-RUN] [users.py:act:71] - ['delete_user', 'jane']
//
// A message of level INFO announces an effect if it is a list that begins with an action, a
// dict with an action, or a sentence of a known form. Lists and dicts count in every
// record, sentences only in a dry run.
type reconcile struct{}

// logRecord matches a record: its level, the mark of a dry run, and the message.
var logRecord = lazyregexp.New(
	`^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?\] \[([A-Z]+)\] (\[DRY-RUN\] )?\[[^\]]+:[^\]]*:\d+\] - (.*)$`)

func (reconcile) read(line string, claimed bool, found *collection) bool {
	if claimed || line[0] != '[' {
		return false
	}
	m := logRecord.FindStringSubmatch(line)
	if m == nil || m[1] != "INFO" {
		return m != nil
	}
	message := strings.TrimSpace(m[3])
	if inner := logRecord.FindStringSubmatch(message); inner != nil { // an earlier run's record, told again
		if inner[1] != "INFO" {
			return true
		}
		message = strings.TrimSpace(inner[3])
	}
	switch {
	case message == "":
	case strings.HasPrefix(message, "['"), strings.HasPrefix(message, `["`), strings.HasPrefix(message, "('"),
		strings.HasPrefix(message, "[<"), message[0] == '{':
		readAction(message, found)
	case m[2] != "":
		readSentence(message, found)
	}
	return true
}

func (reconcile) end(*collection) {}

// beginning matches the beginning of a list whose first item is a text.
var beginning = lazyregexp.New(`^[\[(]['"]([A-Za-z_]+)`)

// The action may be the second item of a list: after a phrase, and with one or two words after the
// verb, as in ['on-demand tests', 'add comment', …], or after a name and with an underscore, as in
// ['jane', 'remove_user_from_group', …]. Some first items say that the list is about something else.
var (
	phrase       = lazyregexp.New(`^[a-z-]+ [a-z -]+$`)
	secondAction = lazyregexp.New(`^[a-z]+(?:[ _][a-z]+){1,2}$`)
	namedAction  = lazyregexp.New(`^[a-z]+(?:_[a-z]+)+$`)
	noActor      = lazyregexp.New(`^(?:validating|collecting|openshift-upgrade-watcher|omm-group)$`)
)

// hasSecondAction reports whether the second item of a list may be its action.
func hasSecondAction(first, second string) bool {
	if phrase.MatchString(first) {
		return secondAction.MatchString(second) && !doubtful.MatchString(first+" "+second)
	}
	return namedAction.MatchString(second) && !noActor.MatchString(first)
}

// readAction reads a list or a dict with an action.
func readAction(message string, found *collection) {
	v, ok := readPython(message)
	if !ok {
		if m := beginning.FindStringSubmatch(message); m != nil {
			if _, _, isAction := actionKind(m[1]); isAction {
				found.problem("a list that cannot be read: %s", message)
			}
		}
		return
	}
	if action, ok := v.field("action"); ok {
		if kind, _, ok := actionKind(action); ok {
			found.add(kind, message, 1)
		}
		return
	}
	if len(v.items) < 2 || !v.items[0].isText {
		return
	}
	words := v.items
	kind, isBare, ok := actionKind(words[0].text)
	if !ok && words[1].isText && hasSecondAction(words[0].text, words[1].text) {
		kind, isBare, ok = actionKind(words[1].text)
	}
	if !ok {
		return
	}
	if isBare && words[0].text != "replace" { // the kind says it already
		words = words[1:]
	}
	found.add(kind, joinValues(words), 1)
}

// joinValues returns the texts of values, with blanks between them.
func joinValues(values []value) string {
	var words []string
	for _, v := range values {
		words = append(words, v.text)
	}
	return strings.Join(words, " ")
}

// The forms of sentences.
var (
	// firstWord matches the verb at the beginning of a sentence and what follows it.
	firstWord = lazyregexp.New(`^([A-Za-z]+) (\S.*)$`)
	// scopes matches the places before a sentence, such as "[org] [cluster] " and "app-sre: ".
	scopes = lazyregexp.New(`^(?:\[[^\[\]]{1,100}\] )*(?:[\w./@-]{1,100}: )?`)
	// levels matches a scope that is the level of a message, or an error.
	levels = lazyregexp.New(`(?i)^(?:debug|info|note|warning|dry[-_ ]?run|\w*error|\w*exception|\w*failure): $`)
	// done matches a kind of thing, a colon and a name: what follows a verb in the past, and in other
	// sentences what says where a name begins.
	done = lazyregexp.New(`^[A-Za-z][\w /-]*: \S`)
	// would matches what a dry run says it would do.
	would = lazyregexp.New(`^(?:(?i:dry[- ]?run): )?[Ww]ould (?:have )?([a-z]+) (\S.*)$`)
	// passive matches what would be done to something, as in "3 builds will be deleted from x".
	passive = lazyregexp.New(`^((?:\d+|[A-Za-z][\w.-]*)(?: [\w./-]+){0,4}) (?:will be|would be|to be|are going to be|is going to be) ([a-z]+)(?:[ .,:]|$)`)
	// bracketed matches messages such as "[cluster_name:c1] [Action:create_snitch]" and
	// "Reconciling: Status: [OK], Action: [Destroy], reason: [x], key:[y]".
	bracketed = lazyregexp.New(`(?:^|[ ,])(?:\[Action: ?([A-Za-z_]+)\]|Action: ?\[([A-Za-z_]+)\])`)
)

// readSentence reads a message in words.
func readSentence(message string, found *collection) {
	if strings.Contains(message, "Action: [") || strings.Contains(message, "[Action:") {
		if m := bracketed.FindStringSubmatch(message); m != nil {
			if kind, _, ok := actionKind(m[1] + m[2]); ok {
				found.add(kind, message, 1)
			}
			return
		}
	}
	if kind, subject := sentenceKind(message); kind != "" {
		found.add(kind, subject, 1)
	}
}

// sentenceKind returns the effect that a sentence announces. The kind is "" if it announces none.
func sentenceKind(message string) (kind plan.EffectKind, subject string) {
	if m := would.FindStringSubmatch(message); m != nil {
		if isDenied(m[2]) {
			return "", ""
		}
		return listVerbs[stem(m[1])], m[2]
	}
	scope := scopes.FindString(message)
	if levels.MatchString(scope) {
		return "", ""
	}
	rest := message[len(scope):]
	if m := passive.FindStringSubmatch(rest); m != nil && !isConditional(m[1]) {
		if kind := listVerbs[stem(m[2])]; kind != "" && !isDenied(rest) {
			return kind, message
		}
		return "", ""
	}
	m := firstWord.FindStringSubmatch(rest)
	if m == nil {
		return "", ""
	}
	word := strings.ToLower(m[1])
	kind = cmp.Or(gerundKind(word), imperatives[word])
	if past := pasts[word]; past != "" && done.MatchString(m[2]) {
		kind = past
	}
	if kind == "" || isInside(m[2], kind) || isDenied(m[2]) {
		return "", ""
	}
	return kind, scope + m[2]
}

// stem returns the verb of its past form, as in "would have created".
func stem(word string) string {
	if _, ok := listVerbs[word]; ok {
		return word
	}
	if base := strings.TrimSuffix(word, "d"); listVerbs[base] != "" {
		return base
	}
	base := strings.TrimSuffix(word, "ed")
	if last := len(base) - 1; last > 1 && base[last] == base[last-1] && listVerbs[base] == "" { // as in dropped
		return base[:last]
	}
	return base
}

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
