package settings

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
)

// A reader reads the YAML nodes of one settings file. It collects all mistakes,
// so that a user can correct them at once. A value with a mistake is read as the zero
// value.
type reader struct {
	Mistakes
	misspelt map[*yaml.Node]bool       // mappings with an unknown key, which may be a required key with a typing error
	notes    map[*yaml.Node]constraint // what is wanted of each value; nil if nobody asks
}

// fail notes a mistake. at is the path of the value in the document, such as
// exec.timeout; "" means the document itself.
func (r *reader) fail(line int, at, format string, args ...any) {
	r.Add(line, at, fmt.Sprintf(format, args...))
}

// An entry is a key of a mapping with its value.
type entry struct {
	key   string
	line  int
	value *yaml.Node
}

// readEntries reads a mapping with any keys. A repeated key is a mistake, and only its
// first value is returned.
func (r *reader) readEntries(n *yaml.Node, at string) []entry {
	r.note(n, constraint{"type": "object", "additionalProperties": true})
	return r.entries(n, at)
}

// entries is readEntries without a note.
func (r *reader) entries(n *yaml.Node, at string) []entry {
	if !r.checkKind(n, yaml.MappingNode, at, "a mapping") {
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
			r.fail(k.Line, at, "a key must be a string, got %s", describeNode(k))
			continue
		}
		if line, ok := first[k.Value]; ok {
			r.fail(k.Line, at, "duplicate key %s, first on line %d", phrase.Quote(k.Value), line)
			continue
		}
		first[k.Value] = k.Line
		list = append(list, entry{k.Value, k.Line, v})
	}
	return list
}

// readObject reads a mapping with known keys. An unknown key is a mistake.
func (r *reader) readObject(n *yaml.Node, at string, known ...string) map[string]*yaml.Node {
	values := map[string]*yaml.Node{}
	r.note(n, constraint{"type": "object", "properties": known, "additionalProperties": false})
	for _, e := range r.entries(n, at) {
		if !slices.Contains(known, e.key) {
			r.fail(e.line, at, "unknown key %s%s", phrase.Quote(e.key), suggest.Hint(e.key, known))
			r.misspelt[n] = true
			continue
		}
		values[e.key] = e.value
	}
	return values
}

// readList reads a list.
func (r *reader) readList(n *yaml.Node, at string) []*yaml.Node {
	r.note(n, constraint{"type": "array"})
	if !r.checkKind(n, yaml.SequenceNode, at, "a list") {
		return nil
	}
	return n.Content
}

// readNonEmptyList reads a list that must have an item.
func (r *reader) readNonEmptyList(n *yaml.Node, at string) []*yaml.Node {
	items := r.readList(n, at)
	r.note(n, constraint{"minItems": 1})
	if n.Kind == yaml.SequenceNode && len(items) == 0 {
		r.fail(n.Line, at, "is empty; it needs at least one entry")
	}
	return items
}

// A text is a string of the file with its line.
type text struct {
	value string
	line  int
}

// readUniqueTexts reads strings that must be different and not empty.
func (r *reader) readUniqueTexts(items []*yaml.Node, at string) []text {
	list := []text{}
	first := map[string]int{}
	for i, n := range items {
		at := at + indexSuffix(i)
		r.note(n, constraint{uniqueItem: true})
		s, ok := r.readText(n, at)
		if !ok {
			continue
		}
		if line, ok := first[s]; ok {
			r.fail(n.Line, at, "%s is already on line %d", phrase.Quote(s), line)
			continue
		}
		first[s] = n.Line
		list = append(list, text{s, n.Line})
	}
	return list
}

// readText reads a string that must not be empty.
func (r *reader) readText(n *yaml.Node, at string) (string, bool) {
	r.note(n, constraint{"minLength": 1})
	s, ok := r.readString(n, at)
	if ok && s == "" {
		r.fail(n.Line, at, "is empty")
		return "", false
	}
	return s, ok
}

// readString reads a string. It must not contain NUL, since no argument of a process can.
func (r *reader) readString(n *yaml.Node, at string) (string, bool) {
	r.note(n, constraint{"type": "string"})
	if !r.checkKind(n, yaml.ScalarNode, at, "a string") {
		return "", false
	}
	switch {
	case n.ShortTag() != "!!str":
		r.fail(n.Line, at, "must be a string, got %s; put it in quotes", describeNode(n))
		return "", false
	case strings.ContainsRune(n.Value, 0):
		r.fail(n.Line, at, "holds a NUL character")
		return "", false
	}
	return n.Value, true
}

// readBool reads a truth value.
func (r *reader) readBool(n *yaml.Node, at string) bool {
	r.note(n, constraint{"type": "boolean"})
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!bool" {
		r.fail(n.Line, at, "must be true or false, got %s", describeNode(n))
		return false
	}
	return strings.EqualFold(n.Value, "true")
}

// readInt reads a whole number from low to high.
func (r *reader) readInt(n *yaml.Node, at string, low, high int) int {
	r.note(n, constraint{"type": "integer", "minimum": low, "maximum": high})
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil {
		r.fail(n.Line, at, "must be a whole number, got %s", describeNode(n))
		return 0
	}
	if v < low || v > high {
		r.fail(n.Line, at, "must be from %d to %d, got %d", low, high, v)
		return 0
	}
	return v
}

// readChoice reads one of several words and returns its index.
func (r *reader) readChoice(n *yaml.Node, at string, words []string) int {
	r.note(n, constraint{"enum": words})
	s, ok := r.readString(n, at)
	if !ok {
		return 0
	}
	i := slices.Index(words, s)
	if i < 0 {
		r.fail(n.Line, at, "must be %s, got %s", strings.Join(words, " or "), phrase.Quote(s))
		return 0
	}
	return i
}

// checkCount reports whether a list has at most most items, and notes a mistake if not. what
// names the items in the message.
func (r *reader) checkCount(n *yaml.Node, at string, most int, what string) bool {
	r.note(n, constraint{"maxItems": most})
	if len(n.Content) <= most {
		return true
	}
	r.fail(n.Line, at, "has more than %d %s", most, what)
	return false
}

// checkKind reports whether a node has a kind, and notes a mistake if not. want names
// the kind in the message.
func (r *reader) checkKind(n *yaml.Node, k yaml.Kind, at, want string) bool {
	if n.Kind == k {
		return true
	}
	r.fail(n.Line, at, "must be %s, got %s", want, describeNode(n))
	return false
}

// describeNode describes the value of a node for a message, such as "the number 3".
func describeNode(n *yaml.Node) string {
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
		return "the string " + phrase.Quote(n.Value)
	case "!!int", "!!float":
		return "the number " + phrase.Quote(n.Value)
	case "!!bool":
		return "the truth value " + phrase.Quote(n.Value)
	default:
		return "a " + strings.TrimPrefix(tag, "!!")
	}
}

// wordAt returns the word with index i, or i itself if there is none.
func wordAt(i int, words []string) string {
	if i < 0 || i >= len(words) {
		return strconv.Itoa(i)
	}
	return words[i]
}

// readShards reads the key shards of an integration. A native that is bound to it is told its shard;
// otherwise exec must pass it on.
func (r *reader) readShards(n *yaml.Node, at string, it Integration) *Shards {
	s := &Shards{Max: DefaultMaxShards, Line: n.Line}
	keys := r.readObject(n, at, "by", "strategy", "arg", "collection", "max", "fan_out")
	r.note(n, constraint{"oneOf": []constraint{{"required": []string{"by"}}, {"required": []string{"strategy"}}}})
	switch {
	case keys["strategy"] != nil:
		r.readStrategy(s, keys, at)
	case r.hasKey(n, keys, at, "by"):
		s.By = r.readSelectors(keys["by"], at+".by")
	}
	if n := keys["arg"]; n != nil {
		s.Arg, _ = r.readText(n, at+".arg")
	}
	if n := keys["collection"]; n != nil {
		s.Collection = r.readBool(n, at+".collection")
	}
	if n := keys["max"]; n != nil {
		s.Max = r.readInt(n, at+".max", 1, maxShards)
	}
	if n := keys["fan_out"]; n != nil {
		s.FanOut = r.readBool(n, at+".fan_out")
	}
	if n.Kind == yaml.MappingNode && !r.misspelt[n] && it.Native == "" {
		r.checkShardIsPassed(s, n, keys, at, it.Exec)
	}
	return s
}

// readStrategy reads the key strategy into s. It sets FanOut: a full run becomes one task
// per shard, so that each shard has a trace of its own.
func (r *reader) readStrategy(s *Shards, keys map[string]*yaml.Node, at string) {
	s.Strategy = Strategy(r.readChoice(keys["strategy"], at+".strategy", strategies[1:])) + 1
	s.FanOut = true
	for _, other := range []string{"by", "fan_out"} {
		if n := keys[other]; n != nil {
			r.fail(n.Line, at+"."+other, "cannot be set together with strategy, which decides the shards")
		}
	}
}

// checkShardIsPassed notes a mistake if exec does not pass the shard to the process.
func (r *reader) checkShardIsPassed(s *Shards, n *yaml.Node, keys map[string]*yaml.Node, at string, exec Exec) {
	args, shard := slices.Contains(exec.Argv, "{shard_args}"), exec.uses("{shard}")
	switch {
	case s.Strategy == StrategyStatic && exec.Argv != nil && !exec.PassesShardNumber():
		r.fail(n.Line, at, "a process would not know its static shard: put {shards} and {shard_id} into argv, env or "+
			"config of exec")
	case s.Strategy == StrategyStatic && keys["arg"] == nil:
	case args && keys["arg"] == nil && keys["strategy"] == nil:
		r.fail(n.Line, at, "arg is missing: the option that {shard_args} puts before the shard")
	case !args && keys["arg"] != nil && exec.Argv != nil:
		r.fail(keys["arg"].Line, at+".arg", "is never used, since exec.argv has no {shard_args}")
	case !args && !shard && exec.Argv != nil:
		r.fail(n.Line, at, "a process would not know its shard: exec.argv has neither {shard_args} nor {shard}")
	}
}

// readSelectors reads a list of selectors.
func (r *reader) readSelectors(n *yaml.Node, at string) []Selector {
	items := r.readNonEmptyList(n, at)
	if !r.checkCount(n, at, maxSelectors, "selectors") {
		return nil
	}
	var by []Selector
	for _, t := range r.readUniqueTexts(items, at) {
		s, err := ParseSelector(t.value)
		if err != nil {
			r.fail(t.line, at, "%s", err)
			continue
		}
		s.Line = t.line
		twin := slices.IndexFunc(by, func(o Selector) bool { return slices.Equal(o.Steps, s.Steps) })
		if twin >= 0 {
			r.fail(t.line, at, "%s says the same as %s on line %d", phrase.Quote(s.Text), phrase.Quote(by[twin].Text),
				by[twin].Line)
			continue
		}
		by = append(by, s)
	}
	return by
}
