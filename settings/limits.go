package settings

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/internal/suggest"
)

// A Limit bounds how many tasks may use a live target at once, and how many may start
// there in a period. Each different value of its key is a target of its own. For
// example, a limit "aws" with the key {shard} bounds each AWS account.
type Limit struct {
	Name string
	Key  string // may contain {shard} and {name}; "" means one target for all tasks
	Max  int    // the number of tasks that may use a target at once; 0 means any number
	Rate Rate   // the number of starts in a period; the zero value means any number
	Line int
}

// A Rate is the number of tasks that may start in each period Per.
type Rate struct {
	Count int
	Per   time.Duration
}

// A Target is a live system that tasks share, with the limits that hold for it.
type Target struct {
	Name string // such as aws/app-sre
	Max  int
	Rate Rate
}

// Limits of the limits themselves.
const (
	maxLimits        = 20 // of one integration
	maxLimitKeyBytes = 100
	maxLimitCount    = 1000 // tasks at once, and starts in a period
	maxTargetBytes   = 400  // length of a target's name
)

var (
	limitNamePattern = lazyregexp.New(`^[A-Za-z0-9_-]{1,50}$`)
	keyPlaceholders  = []string{"shard", "name"}
	ratePattern      = lazyregexp.New(`^([0-9]{1,4})/(s|min|h)$`)
	periods          = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}
)

// Targets returns the targets that a task of the integration uses: one per limit. A task
// without a shard works on all shards. For a limit with {shard} in its key, such a task
// has a target of its own, without the key.
func (it Integration) Targets(shard string) []Target {
	var out []Target
	for _, l := range it.Limits {
		t := Target{Name: l.Name, Max: l.Max, Rate: l.Rate}
		if l.Key != "" && (shard != "" || !strings.Contains(l.Key, "{shard}")) {
			t.Name += "/" + strings.NewReplacer("{shard}", shard, "{name}", it.Name).Replace(l.Key)
		}
		if len(t.Name) > maxTargetBytes {
			t.Name = l.Name + "/" + digest([]byte(t.Name))
		}
		out = append(out, t)
	}
	return out
}

// readLimits reads the general key limits: the limits by name.
func (r *reader) readLimits(n *yaml.Node) map[string]Limit {
	out := map[string]Limit{}
	r.note(n, constraint{"propertyNames": constraint{"pattern": limitNamePattern.String()}})
	for _, e := range r.readEntries(n, "limits") {
		if !limitNamePattern.MatchString(e.key) {
			r.fail(e.line, "limits", "the name %s must have 1 to 50 letters, digits, - and _", phrase.Quote(e.key))
			continue
		}
		out[e.key] = r.readLimit(e)
	}
	return out
}

// readLimit reads one limit.
func (r *reader) readLimit(e entry) Limit {
	at := "limits." + e.key
	l := Limit{Name: e.key, Line: e.line}
	keys := r.readObject(e.value, at, "key", "max", "rate")
	r.note(e.value, constraint{"anyOf": []constraint{{"required": []string{"max"}}, {"required": []string{"rate"}}}})
	if n := keys["key"]; n != nil {
		l.Key = r.readLimitKey(n, at+".key")
	}
	if n := keys["max"]; n != nil {
		l.Max = r.readInt(n, at+".max", 1, maxLimitCount)
	}
	if n := keys["rate"]; n != nil {
		l.Rate = r.readRate(n, at+".rate")
	}
	if keys["max"] == nil && keys["rate"] == nil && e.value.Kind == yaml.MappingNode && !r.misspelt[e.value] {
		r.fail(e.line, at, "max or rate is missing: how many tasks at once, or how many starts such as 10/min")
	}
	return l
}

// readLimitKey reads the key of a limit, such as {shard}.
func (r *reader) readLimitKey(n *yaml.Node, at string) string {
	key, ok := r.readText(n, at)
	if !ok {
		return ""
	}
	if len(key) > maxLimitKeyBytes { // bytes, which a schema cannot count
		r.fail(n.Line, at, "is longer than %d bytes", maxLimitKeyBytes)
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		r.fail(n.Line, at, "holds a control character")
	}
	for _, p := range placeholderPattern.FindAllString(key, -1) {
		if name := strings.Trim(p, "{}"); !slices.Contains(keyPlaceholders, name) {
			r.fail(n.Line, at, "unknown placeholder %s; {shard} and {name} are known here", p)
		}
	}
	return key
}

// readRate reads a rate such as 10/min.
func (r *reader) readRate(n *yaml.Node, at string) Rate {
	r.note(n, rateText)
	m := ratePattern.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.fail(n.Line, at, "must be a number of starts in a period, such as 10/min (or /s, /h), got %s", describeNode(n))
		return Rate{}
	}
	count, _ := strconv.Atoi(m[1]) // at most four digits
	if count < 1 || count > maxLimitCount {
		r.fail(n.Line, at, "must be from 1 to %d starts, got %d", maxLimitCount, count)
		return Rate{}
	}
	return Rate{count, periods[m[2]]}
}

// readLimitNames reads the key limits of an integration: names of limits in all.
func (r *reader) readLimitNames(n *yaml.Node, at string, all map[string]Limit) []Limit {
	items := r.readNonEmptyList(n, at)
	if !r.checkCount(n, at, maxLimits, "limits") {
		return nil
	}
	var out []Limit
	for _, t := range r.readUniqueTexts(items, at) {
		l, ok := all[t.value]
		if !ok {
			r.fail(t.line, at, "there is no limit %s%s", phrase.Quote(t.value),
				suggest.Hint(t.value, slices.Sorted(maps.Keys(all))))
			continue
		}
		out = append(out, l)
	}
	return out
}
