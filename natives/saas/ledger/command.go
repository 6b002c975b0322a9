package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Command is the word of a person about a target.
type Command struct {
	Verb   Verb   // what the entry says
	Target string // as the person names it
	Commit string // "" for none
	Who    string
	At     time.Time
}

// verbs are the words of commands, and what their entries say.
var verbs = map[string]Verb{"retry": Retried, "promote": Promoted, "reject": Rejected, "unreject": Unrejected,
	"pin": Pinned, "unpin": Unpinned, "hold": Holding, "unhold": Released}

// Words returns the words of commands, sorted.
func Words() []string {
	return []string{"hold", "pin", "promote", "reject", "retry", "unhold", "unpin", "unreject"}
}

// ParseCommand reads a command: a word, a target, and a commit if the word needs one.
func ParseCommand(text string) (Command, error) {
	parts := strings.Fields(text)
	if len(parts) < 2 || len(parts) > 3 {
		return Command{}, fmt.Errorf("a command is a word, a target and perhaps a commit, such as reject TARGET COMMIT; "+
			"got %.80q", text)
	}
	verb, ok := verbs[parts[0]]
	if !ok {
		return Command{}, fmt.Errorf("%.20q is no command; there are %s", parts[0], strings.Join(Words(), ", "))
	}
	out := Command{Verb: verb, Target: parts[1]}
	if len(parts) == 3 {
		out.Commit = parts[2]
	}
	needs := slices.Contains([]Verb{Promoted, Rejected, Unrejected}, verb)
	if needs && out.Commit == "" {
		return Command{}, fmt.Errorf("%s needs a commit: %s TARGET COMMIT", parts[0], parts[0])
	}
	return out, nil
}

// A Ground is what decides whether a command is taken.
type Ground struct {
	// May are the people who may speak for the target, by the settings of base; nobody if it is empty.
	May []string
	// Ref is the commit that the data have.
	Ref string
	// Ran reports whether a publisher of the target ran a commit well.
	Ran func(commit string) bool
}

// Apply returns a book with the word of a person. It is refused if the person may not say it, or if it makes no sense;
// the refusal is an entry, too, and the text says why.
func Apply(b *Book, c Command, on Ground) (after *Book, refused string) {
	switch {
	case c.Commit != "":
	case c.Verb == Retried && b.Newest() != "":
		c.Commit = b.Newest()
	case c.Verb == Pinned || c.Verb == Retried:
		c.Commit = on.Ref
	}
	switch {
	case !slices.Contains(on.May, c.Who):
		refused = fmt.Sprintf("%.80s may not speak for this target; the settings of base say who may", c.Who)
	case c.Verb == Promoted && (on.Ran == nil || !on.Ran(c.Commit)):
		refused = fmt.Sprintf("no publisher ran %.12s", c.Commit)
	}
	e := Entry{At: c.At, Verb: c.Verb, Commit: c.Commit, Who: c.Who}
	if refused != "" {
		e.Verb, e.Why = Refused, fmt.Sprintf("%s: %s", c.Verb, refused)
	}
	return b.Say(e), refused
}
