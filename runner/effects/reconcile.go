package effects

import (
	"cmp"
	"regexp"
	"strings"

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
var logRecord = regexp.MustCompile(`^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?\] \[([A-Z]+)\] (\[DRY-RUN\] )?\[[^\]]+:[^\]]*:\d+\] - (.*)$`)

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
	case strings.HasPrefix(message, "['"), strings.HasPrefix(message, `["`), strings.HasPrefix(message, "('"), strings.HasPrefix(message, "[<"), message[0] == '{':
		readAction(message, found)
	case m[2] != "":
		readSentence(message, found)
	}
	return true
}

func (reconcile) end(*collection) {}

// beginning matches the beginning of a list whose first item is a text.
var beginning = regexp.MustCompile(`^[\[(]['"]([A-Za-z_]+)`)

// The action may be the second item of a list, as in ['on-demand tests', 'add comment', …]:
// after a phrase, and with one or two words after the verb.
var (
	phrase       = regexp.MustCompile(`^[a-z-]+ [a-z -]+$`)
	secondAction = regexp.MustCompile(`^[a-z]+(?:[ _][a-z]+){1,2}$`)
)

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
	if !ok && words[1].isText && phrase.MatchString(words[0].text) && secondAction.MatchString(words[1].text) && !doubtful.MatchString(words[0].text+" "+words[1].text) {
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
	firstWord = regexp.MustCompile(`^([A-Za-z]+) (\S.*)$`)
	// scopes matches the places before a sentence, such as "[org] [cluster] " and "app-sre: ".
	scopes = regexp.MustCompile(`^(?:\[[^\[\]]{1,100}\] )*(?:[\w./@-]{1,100}: )?`)
	// levels matches a scope that is the level of a message.
	levels = regexp.MustCompile(`(?i)^(?:debug|info|note|warning|error|dry[-_ ]?run): $`)
	// done matches what follows a verb in the past: a kind of thing, a colon and a name.
	done = regexp.MustCompile(`^[A-Za-z][\w /-]*: \S`)
	// would matches what a dry run says it would do.
	would = regexp.MustCompile(`^(?:(?i:dry[- ]?run): )?[Ww]ould (?:have )?([a-z]+) (\S.*)$`)
	// bracketed matches messages such as "[cluster_name:c1] [Action:create_snitch]" and
	// "Reconciling: Status: [OK], Action: [Destroy], reason: [x], key:[y]".
	bracketed = regexp.MustCompile(`(?:^|[ ,])(?:\[Action: ?([A-Za-z_]+)\]|Action: ?\[([A-Za-z_]+)\])`)
	// doubtful matches words with which a sentence may say that nothing is done.
	doubtful = regexp.MustCompile(`(?i)(?:^|[\s,.;(])(?:not|no|never|nothing|already|skip|skips|skipped|skipping|fail|fails|failed|unable|cannot|disabled|unchanged|ignored|ignoring|instead)(?:[\s,.;:)]|$)|n't\b`)
	// inside matches the first words of things that a program makes for itself.
	inside = regexp.MustCompile(`^(?i:(?:a |an |the |new |local |all |in-memory )*(?:sessions?|clients?|connections?|caches?|metrics?|temp|temporary|tmp|workdirs?|working|threads?|pools?|reports?|oc|oc_map|state|states|inventory|index|lists?|quer(?:y|ies)|requests?|context|logs?|locks?|clones?|virtualenv|desired|current|diffs?|graphs?|available|found|completed?|finished|done|is|was|are|for|of|on|in|to|from|up|protection|marker|strategy|interval)\b)`)
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
	kind, subject := sentenceKind(message)
	if kind != "" && !doubtful.MatchString(message) {
		found.add(kind, subject, 1)
	}
}

// sentenceKind returns the effect that a sentence announces if nothing in it is doubtful. The
// kind is "" if it announces none.
func sentenceKind(message string) (kind plan.EffectKind, subject string) {
	if m := would.FindStringSubmatch(message); m != nil {
		return listVerbs[stem(m[1])], m[2]
	}
	scope := scopes.FindString(message)
	m := firstWord.FindStringSubmatch(message[len(scope):])
	if m == nil || levels.MatchString(scope) {
		return "", ""
	}
	word := strings.ToLower(m[1])
	kind = cmp.Or(gerunds[word], imperatives[word])
	if past := pasts[word]; past != "" && done.MatchString(m[2]) {
		kind = past
	}
	if kind == "" || inside.MatchString(m[2]) {
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
	return strings.TrimSuffix(word, "ed")
}
