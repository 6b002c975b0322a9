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
