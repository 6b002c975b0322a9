package integration

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxMistakes is how many mistakes of one file are reported.
const maxMistakes = 20

// A reader walks the nodes of one settings file and gathers its mistakes, so
// that one look at the messages mends them all. A value that is wrong reads as
// the zero value.
type reader struct {
	file     string
	mistakes []*SettingsError
	misspelt map[*yaml.Node]bool // mappings with an unknown key, which may stand for a missing one
}

// fail notes a mistake at a line. at is the place in the document, "" for its
// top.
func (r *reader) fail(line int, at, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if at != "" {
		msg = at + ": " + msg
	}
	r.mistakes = append(r.mistakes, &SettingsError{File: r.file, Line: line, Msg: msg})
}

// err joins the mistakes, in the order of their lines.
func (r *reader) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b *SettingsError) int { return cmp.Compare(a.Line, b.Line) })
	var errs []error
	for i, m := range r.mistakes {
		if i == maxMistakes {
			more := fmt.Sprintf("%d more mistakes", len(r.mistakes)-i)
			errs = append(errs, &SettingsError{File: r.file, Msg: more})
			break
		}
		errs = append(errs, m)
	}
	return errors.Join(errs...)
}

// An entry is one key of a mapping with its value.
type entry struct {
	key   string
	line  int
	value *yaml.Node
}

// entries reads a mapping whose keys are free. A repeated key is a mistake and
// left out.
func (r *reader) entries(n *yaml.Node, at string) []entry {
	if !r.is(n, yaml.MappingNode, at, "a mapping") {
		return nil
	}
	first := map[string]int{}
	var list []entry
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.ShortTag() == "!!merge" {
			r.fail(k.Line, at, "merge keys (<<) are not supported; write the keys out")
			continue
		}
		if k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str" {
			r.fail(k.Line, at, "a key must be a string, got %s", kind(k))
			continue
		}
		if line, ok := first[k.Value]; ok {
			r.fail(k.Line, at, "duplicate key %s, first on line %d", clip(k.Value), line)
			continue
		}
		first[k.Value] = k.Line
		list = append(list, entry{k.Value, k.Line, v})
	}
	return list
}

// object reads a mapping with known keys. Unknown ones are mistakes.
func (r *reader) object(n *yaml.Node, at string, known ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	for _, e := range r.entries(n, at) {
		if !slices.Contains(known, e.key) {
			r.fail(e.line, at, "unknown key %s%s", clip(e.key), didYouMean(e.key, known))
			r.misspelt[n] = true
			continue
		}
		values[e.key] = e.value
	}
	return values
}

// items reads a list.
func (r *reader) items(n *yaml.Node, at string) []*yaml.Node {
	if !r.is(n, yaml.SequenceNode, at, "a list") {
		return nil
	}
	return n.Content
}

// some reads a list that must not be empty.
func (r *reader) some(n *yaml.Node, at string) []*yaml.Node {
	items := r.items(n, at)
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		r.fail(n.Line, at, "is empty; it needs at least one entry")
	}
	return items
}

// A text is a string of the file and where it stands.
type text struct {
	value string
	line  int
}

// texts reads the items of a list of different, non-empty strings.
func (r *reader) texts(items []*yaml.Node, at string) []text {
	list := []text{}
	first := map[string]int{}
	for i, n := range items {
		at := at + index(i)
		s, ok := r.text(n, at)
		if !ok {
			continue
		}
		if line, ok := first[s]; ok {
			r.fail(n.Line, at, "%s stands on line %d already", clip(s), line)
			continue
		}
		first[s] = n.Line
		list = append(list, text{s, n.Line})
	}
	return list
}

// text reads a string that is not empty.
func (r *reader) text(n *yaml.Node, at string) (string, bool) {
	s, ok := r.str(n, at)
	if ok && s == "" {
		r.fail(n.Line, at, "is empty")
		return "", false
	}
	return s, ok
}

// str reads any string a process can be given.
func (r *reader) str(n *yaml.Node, at string) (string, bool) {
	if !r.is(n, yaml.ScalarNode, at, "a string") {
		return "", false
	}
	switch {
	case n.ShortTag() != "!!str":
		r.fail(n.Line, at, "must be a string, got %s; put it in quotes", kind(n))
		return "", false
	case strings.ContainsRune(n.Value, 0):
		r.fail(n.Line, at, "holds a NUL character")
		return "", false
	}
	return n.Value, true
}

func (r *reader) boolean(n *yaml.Node, at string) bool {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		r.fail(n.Line, at, "must be true or false, got %s", kind(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// integer reads a whole number from low to high.
func (r *reader) integer(n *yaml.Node, at string, low, high int) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
		r.fail(n.Line, at, "must be a whole number, got %s", kind(n))
		return 0
	}
	if v < low || v > high {
		r.fail(n.Line, at, "must be from %d to %d, got %d", low, high, v)
		return 0
	}
	return v
}

// choice reads one of several words and gives its index.
func (r *reader) choice(n *yaml.Node, at string, words []string) int {
	s, ok := r.str(n, at)
	if !ok {
		return 0
	}
	i := slices.Index(words, s)
	if i < 0 {
		r.fail(n.Line, at, "must be %s, got %s", strings.Join(words, " or "), clip(s))
		return 0
	}
	return i
}

// is checks what a node is; want names it in the message.
func (r *reader) is(n *yaml.Node, k yaml.Kind, at, want string) bool {
	if n.Kind == k {
		return true
	}
	r.fail(n.Line, at, "must be %s, got %s", want, kind(n))
	return false
}

// kind names what a node holds, for messages.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias (*" + n.Value + "), which is not supported"
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "the string " + clip(n.Value)
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!bool":
		return "the truth value " + clip(n.Value)
	default:
		return "a " + strings.TrimPrefix(tag, "!!")
	}
}

func word(i int, words []string) string {
	if i < 0 || i >= len(words) {
		return strconv.Itoa(i)
	}
	return words[i]
}
