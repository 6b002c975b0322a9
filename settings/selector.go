package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
)

// Limits of selectors. Selectors in real settings have at most six steps.
const (
	maxSelectorBytes = 512
	maxSelectorSteps = 32
	maxSelectors     = 100 // of one integration
)

// A Selector is a path through a desired state to the shard keys, such as
// roles[*].aws_groups[*].account.name. Its last wildcard chooses the owner elements. The
// steps after it lead from an owner element to its key.
type Selector struct {
	Text  string // as it was written
	Steps []Step
	Line  int // line in prcheck.yaml; 0 if it comes from Go code
}

// A Step leads from a value to one or more of its children.
type Step struct {
	Kind StepKind
	Name string // name of the member; only for Field
}

// A StepKind says which children a step chooses.
type StepKind int

// The kinds of step.
const (
	Field   StepKind = iota // the named member of an object
	Items                   // [*]: each item of a list
	Members                 // *: each member of an object
)

// String returns a description such as "each item".
func (k StepKind) String() string {
	switch k {
	case Items:
		return "each item"
	case Members:
		return "each member"
	default:
		return "field"
	}
}

// OwnerIndex returns the index of the step that chooses the owner elements: the last
// wildcard. Every parsed selector has a wildcard.
func (s Selector) OwnerIndex() int {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Kind != Field {
			return i
		}
	}
	return -1
}

// KeySteps returns the steps from an owner element to its key.
func (s Selector) KeySteps() []Step { return s.Steps[s.OwnerIndex()+1:] }

// String returns the selector as it was written.
func (s Selector) String() string { return s.Text }

// ParseSelector parses a selector. A name with characters other than letters, digits,
// "_", "-" and "@" must be quoted: data.'main.yaml'.users[*].name. A leading "$." is
// ignored.
func ParseSelector(text string) (Selector, error) {
	steps, err := parseSteps(text)
	if err != nil {
		return Selector{}, fmt.Errorf("selector %s: %w", phrase.Quote(text), err)
	}
	s := Selector{Text: text, Steps: steps}
	switch {
	case s.OwnerIndex() < 0:
		return Selector{}, fmt.Errorf("selector %s: names no elements; it needs a wildcard, [*] for each item or * for "+
			"each member", phrase.Quote(text))
	case s.OwnerIndex() == len(steps)-1:
		return Selector{}, fmt.Errorf("selector %s: ends with a wildcard; it needs the key below it, such as .name",
			phrase.Quote(text))
	}
	return s, nil
}

// parseSteps parses the steps of a selector.
func parseSteps(text string) ([]Step, error) {
	if len(text) > maxSelectorBytes {
		return nil, fmt.Errorf("longer than %d bytes", maxSelectorBytes)
	}
	rest := text
	if after, ok := strings.CutPrefix(text, "$"); ok && (after == "" || after[0] == '.' || after[0] == '[') {
		rest = strings.TrimPrefix(after, ".")
	}
	if rest == "" {
		return nil, errors.New("is empty")
	}
	var steps []Step
	for {
		step, after, err := parseStep(rest)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if len(steps) > maxSelectorSteps {
			return nil, fmt.Errorf("more than %d steps", maxSelectorSteps)
		}
		switch {
		case after == "":
			return steps, nil
		case after[0] == '.':
			rest = after[1:]
		case after[0] == '[':
			rest = after
		default:
			return nil, fmt.Errorf("unexpected %s; steps are parted by a dot, and unusual names are quoted", phrase.Quote(after))
		}
	}
}

// parseStep parses the first step of rest and returns the text after it.
func parseStep(rest string) (Step, string, error) {
	switch {
	case rest == "":
		return Step{}, "", errors.New("ends with a dot")
	case rest[0] == '.':
		return Step{}, "", errors.New("has two dots in a row; a search at any depth is not supported, write the whole way")
	case rest[0] == '[':
		return parseBracket(rest)
	case rest[0] == '*':
		return Step{Kind: Members}, rest[1:], nil
	case rest[0] == '\'' || rest[0] == '"':
		name, after, ok := strings.Cut(rest[1:], rest[:1])
		if !ok {
			return Step{}, "", fmt.Errorf("the quote before %s is never closed", phrase.Quote(rest[1:]))
		}
		if name == "" {
			return Step{}, "", errors.New("has an empty name")
		}
		return Step{Name: name}, after, nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !isNameRune(r) })
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return Step{}, "", fmt.Errorf("unexpected %s; steps are parted by a dot, and unusual names are quoted",
			phrase.Quote(rest))
	}
	return Step{Name: rest[:end]}, rest[end:], nil
}

// parseBracket parses [*]. Anything else in brackets is an error.
func parseBracket(rest string) (Step, string, error) {
	inside, after, ok := strings.Cut(rest[1:], "]")
	switch {
	case !ok:
		return Step{}, "", fmt.Errorf("the bracket before %s is never closed", phrase.Quote(rest[1:]))
	case inside == "*":
		return Step{Kind: Items}, after, nil
	case strings.HasPrefix(inside, "?"):
		return Step{}, "", fmt.Errorf("filter [%s] is not supported; use [*], which covers more", inside)
	case inside != "" && strings.Trim(inside, "0123456789:- ") == "":
		return Step{}, "", fmt.Errorf("position [%s] is not supported, since an item is never known by its position; use [*]",
			inside)
	}
	return Step{}, "", fmt.Errorf("unexpected [%s]; brackets hold only *, a name stands behind a dot", inside)
}

// isNameRune reports whether a name without quotes may contain r.
func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '@'
}
