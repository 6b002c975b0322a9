package integration

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// A Limit is how many tasks may use a live target at once, and how many may
// start there in a period. Each key of it is a target of its own.
type Limit struct {
	Name string
	Key  string // with {shard} and {name} in braces; "" when there is one target
	Max  int    // so many at once; 0: any number
	Rate Rate   // so many starts; the zero value: any number
	Line int
}

// A Rate is how many may start in each period of a length.
type Rate struct {
	Count int
	Per   time.Duration
}

// A Target is something live that tasks share, under a limit.
type Target struct {
	Name string // such as aws/app-sre
	Max  int
	Rate Rate
}

// The bounds of limits.
const (
	maxLimits    = 20 // of one integration
	maxLimitKey  = 100
	maxLimitSize = 1000 // tasks at once, and starts in a period
	maxTarget    = 400  // bytes of a name
)

var (
	limitName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,50}$`)
	inKey     = []string{"shard", "name"}
	rate      = regexp.MustCompile(`^([0-9]{1,4})/(s|min|h)$`)
	periods   = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}
)

// Targets are what a task of the integration uses, by the limits that the
// settings name for it. A task without a shard uses a target of its own where
// the key has {shard}: it works on all of them, and no single one bounds it.
func (it Integration) Targets(shard string) []Target {
	var out []Target
	for _, l := range it.Limits {
		t := Target{Name: l.Name, Max: l.Max, Rate: l.Rate}
		if l.Key != "" && (shard != "" || !strings.Contains(l.Key, "{shard}")) {
			t.Name += "/" + strings.NewReplacer("{shard}", shard, "{name}", it.Name).Replace(l.Key)
		}
		if len(t.Name) > maxTarget {
			t.Name = l.Name + "/" + digest([]byte(t.Name))
		}
		out = append(out, t)
	}
	return out
}

// limits reads the limits of all targets.
func (r *reader) limits(n *yaml.Node) map[string]Limit {
	out := map[string]Limit{}
	for _, e := range r.entries(n, "limits") {
		if !limitName.MatchString(e.key) {
			r.fail(e.line, "limits", "the name %s must have 1 to 50 letters, digits, - and _", clip(e.key))
			continue
		}
		out[e.key] = r.limit(e)
	}
	return out
}

func (r *reader) limit(e entry) Limit {
	at := "limits." + e.key
	l := Limit{Name: e.key, Line: e.line}
	keys := r.object(e.value, at, "key", "max", "rate")
	if n := keys["key"]; n != nil {
		l.Key = r.limitKey(n, at+".key")
	}
	if n := keys["max"]; n != nil {
		l.Max = r.integer(n, at+".max", 1, maxLimitSize)
	}
	if n := keys["rate"]; n != nil {
		l.Rate = r.rate(n, at+".rate")
	}
	if keys["max"] == nil && keys["rate"] == nil && e.value.Kind == yaml.MappingNode && !r.misspelt[e.value] {
		r.fail(e.line, at, "max or rate is missing: how many tasks at once, or how many starts such as 10/min")
	}
	return l
}

func (r *reader) limitKey(n *yaml.Node, at string) string {
	key, ok := r.text(n, at)
	if !ok {
		return ""
	}
	if len(key) > maxLimitKey {
		r.fail(n.Line, at, "is longer than %d bytes", maxLimitKey)
	}
	if strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		r.fail(n.Line, at, "holds a control character")
	}
	for _, p := range placeholders.FindAllString(key, -1) {
		if name := strings.Trim(p, "{}"); !slices.Contains(inKey, name) {
			r.fail(n.Line, at, "unknown placeholder %s; {shard} and {name} are known here", p)
		}
	}
	return key
}

// rate reads how many may start in a period: 10/min.
func (r *reader) rate(n *yaml.Node, at string) Rate {
	m := rate.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || m == nil {
		r.fail(n.Line, at, "must be a number of starts in a period, such as 10/min (or /s, /h), got %s", kind(n))
		return Rate{}
	}
	count, _ := strconv.Atoi(m[1]) // at most four digits
	if count < 1 || count > maxLimitSize {
		r.fail(n.Line, at, "must be from 1 to %d starts, got %d", maxLimitSize, count)
		return Rate{}
	}
	return Rate{count, periods[m[2]]}
}

// used reads which limits hold for an integration.
func (r *reader) used(n *yaml.Node, at string, all map[string]Limit) []Limit {
	items := r.some(n, at)
	if len(items) > maxLimits {
		r.fail(n.Line, at, "has more than %d limits", maxLimits)
		return nil
	}
	var out []Limit
	for _, t := range r.texts(items, at) {
		l, ok := all[t.value]
		if !ok {
			r.fail(t.line, at, "limits has no %s%s", clip(t.value), didYouMean(t.value, slices.Sorted(maps.Keys(all))))
			continue
		}
		out = append(out, l)
	}
	return out
}
