package integration

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of selectors; real ones have at most six steps.
const (
	maxSelector      = 512 // bytes
	maxSelectorSteps = 32
	maxSelectors     = 100 // of one integration
)

// A Selector says where in a desired state the shard keys stand, such as
// roles[*].aws_groups[*].account.name. Its last wildcard names the owner
// element, the steps behind it lead from there to the key.
type Selector struct {
	Text  string // as it was written
	Steps []Step
	Line  int // in prcheck.yaml, 0 when written in Go
}

// A Step leads from one value of a document to the next.
type Step struct {
	Kind StepKind
	Name string // of the field, for a Field
}

// A StepKind is how a step chooses.
type StepKind int

// The kinds of step.
const (
	Field   StepKind = iota // the named member of an object
	Items                   // [*]: each item of a list
	Members                 // *: each member of an object
)

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

// Owner is the index of the step that chooses the owner elements, the last
// wildcard. There always is one.
func (s Selector) Owner() int {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Kind != Field {
			return i
		}
	}
	return -1
}

// Key is the way from an owner element to its key.
func (s Selector) Key() []Step { return s.Steps[s.Owner()+1:] }

func (s Selector) String() string { return s.Text }

// ParseSelector reads a selector. Names that hold more than letters, digits,
// "_", "-" and "@" are quoted: data.'main.yaml'.users[*].name. A leading "$."
// means nothing.
func ParseSelector(text string) (Selector, error) {
	steps, err := parseSteps(text)
	if err != nil {
		return Selector{}, fmt.Errorf("selector %s: %w", clip(text), err)
	}
	s := Selector{Text: text, Steps: steps}
	switch {
	case s.Owner() < 0:
		return Selector{}, fmt.Errorf("selector %s: names no elements; it needs a wildcard, [*] for each item or * for each member", clip(text))
	case s.Owner() == len(steps)-1:
		return Selector{}, fmt.Errorf("selector %s: ends with a wildcard; it needs the key below it, such as .name", clip(text))
	}
	return s, nil
}

func parseSteps(text string) ([]Step, error) {
	if len(text) > maxSelector {
		return nil, fmt.Errorf("longer than %d bytes", maxSelector)
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
		step, after, err := nextStep(rest)
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
			return nil, fmt.Errorf("unexpected %s; steps are parted by a dot, and unusual names are quoted", clip(after))
		}
	}
}

// nextStep reads the first step of rest, which is not the end of the text.
func nextStep(rest string) (Step, string, error) {
	switch {
	case rest == "":
		return Step{}, "", errors.New("ends with a dot")
	case rest[0] == '.':
		return Step{}, "", errors.New("has two dots in a row; a search at any depth is not supported, write the whole way")
	case rest[0] == '[':
		return bracket(rest)
	case rest[0] == '*':
		return Step{Kind: Members}, rest[1:], nil
	case rest[0] == '\'' || rest[0] == '"':
		name, after, ok := strings.Cut(rest[1:], rest[:1])
		if !ok {
			return Step{}, "", fmt.Errorf("the quote before %s is never closed", clip(rest[1:]))
		}
		if name == "" {
			return Step{}, "", errors.New("has an empty name")
		}
		return Step{Name: name}, after, nil
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !inName(r) })
	if end < 0 {
		end = len(rest)
	}
	if end == 0 {
		return Step{}, "", fmt.Errorf("unexpected %s; steps are parted by a dot, and unusual names are quoted", clip(rest))
	}
	return Step{Name: rest[:end]}, rest[end:], nil
}

// bracket reads [*] and says why everything else in brackets is refused.
func bracket(rest string) (Step, string, error) {
	inside, after, ok := strings.Cut(rest[1:], "]")
	switch {
	case !ok:
		return Step{}, "", fmt.Errorf("the bracket before %s is never closed", clip(rest[1:]))
	case inside == "*":
		return Step{Kind: Items}, after, nil
	case strings.HasPrefix(inside, "?"):
		return Step{}, "", fmt.Errorf("filter [%s] is not supported; use [*], which covers more", inside)
	case inside != "" && strings.Trim(inside, "0123456789:- ") == "":
		return Step{}, "", fmt.Errorf("position [%s] is not supported, since an item is never known by its position; use [*]", inside)
	}
	return Step{}, "", fmt.Errorf("unexpected [%s]; brackets hold only *, a name stands behind a dot", inside)
}

func inName(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '@'
}

// clip quotes text for a message, only its beginning when it is long.
func clip(text string) string {
	if len(text) > 80 {
		return fmt.Sprintf("%q…", text[:80])
	}
	return fmt.Sprintf("%q", text)
}
