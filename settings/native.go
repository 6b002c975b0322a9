package settings

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
)

// Deletes say how many things a native integration may delete in one run. What the settings
// do not say is nil.
type Deletes struct {
	Max      *int // deletions
	Percent  *int // of the things that are ours
	Floor    *int // as many are always allowed
	Off      bool // only approved deletions are allowed
	Approved []Approval
}

// An Approval allows a native integration to delete one thing until the end of a day.
type Approval struct {
	Key   string
	Until string // as 2006-01-02
	Line  int
}

// Claims reports whether the settings allow to take a thing of this key: one without a mark,
// or one of another caller. A pattern matches as a [Glob] does.
func (it Integration) Claims(key string) (adopt, takeOver bool) {
	matches := func(pattern string) bool { return Glob{Pattern: pattern}.Match(key) }
	return slices.ContainsFunc(it.Adopt, matches), slices.ContainsFunc(it.TakeOver, matches)
}

// Limits of the settings of natives.
const (
	maxDeletions   = 1_000_000
	maxApprovals   = 1000
	maxKeyBytes    = 1024 // of a key and of a pattern of keys
	maxKeyPatterns = 100
)

// nativeKeys are the keys of an integration that only natives use.
var nativeKeys = []string{"native", "settings", "deletes", "adopt", "take_over", "take_over_from", "server_dry_run"}

// readNative reads the keys that only natives use into it.
func (r *reader) readNative(keys map[string]*yaml.Node, at string, it *Integration) {
	for _, name := range nativeKeys {
		if n := keys[name]; n != nil {
			it.NativeKeys = append(it.NativeKeys, Name{name, n.Line})
		}
	}
	if n := keys["native"]; n != nil {
		it.Native, _ = r.readText(n, at+".native")
	}
	if n := keys["settings"]; n != nil {
		it.Own = r.readOwn(n, at+".settings")
	}
	if n := keys["deletes"]; n != nil {
		it.Deletes = r.readDeletes(n, at+".deletes")
	}
	if n := keys["server_dry_run"]; n != nil {
		it.ServerDryRun = r.readBool(n, at+".server_dry_run")
	}
	if n := keys["adopt"]; n != nil {
		it.Adopt = r.readKeyPatterns(n, at+".adopt")
	}
	if n := keys["take_over"]; n != nil {
		it.TakeOver = r.readKeyPatterns(n, at+".take_over")
	}
	if n := keys["take_over_from"]; n != nil {
		it.TakeOverFrom, _ = r.readText(n, at+".take_over_from")
		if it.TakeOverFrom == it.Name {
			r.fail(n.Line, at+".take_over_from", "names this integration; name another one, whose things it takes over")
		}
	}
}

// readDeletes reads the key deletes.
func (r *reader) readDeletes(n *yaml.Node, at string) Deletes {
	var d Deletes
	keys := r.readObject(n, at, "max", "percent", "floor", "off", "approved")
	number := func(key string, most int) *int {
		n := keys[key]
		if n == nil {
			return nil
		}
		v := r.readInt(n, at+"."+key, 0, most)
		return &v
	}
	d.Max, d.Percent, d.Floor = number("max", maxDeletions), number("percent", 100), number("floor", maxDeletions)
	if n := keys["off"]; n != nil {
		d.Off = r.readBool(n, at+".off")
	}
	if n := keys["approved"]; n != nil {
		d.Approved = r.readApprovals(n, at+".approved")
	}
	return d
}

// readApprovals reads a list of approvals. A key must not be approved twice.
func (r *reader) readApprovals(n *yaml.Node, at string) []Approval {
	items := r.readList(n, at)
	if !r.checkCount(n, at, maxApprovals, "approvals") {
		return nil
	}
	var list []Approval
	first := map[string]int{}
	for i, n := range items {
		at := at + indexSuffix(i)
		keys := r.readObject(n, at, "key", "until")
		a := Approval{Line: n.Line}
		if r.requireKey(n, keys, at, "key") {
			a.Key = r.readKey(keys["key"], at+".key")
		}
		if r.requireKey(n, keys, at, "until") {
			a.Until = r.readDate(keys["until"], at+".until")
		}
		if line, ok := first[a.Key]; ok && a.Key != "" {
			r.fail(n.Line, at, "%s is already approved on line %d", phrase.Quote(a.Key), line)
			continue
		}
		first[a.Key] = n.Line
		list = append(list, a)
	}
	return list
}

// readKey reads the key of a thing.
func (r *reader) readKey(n *yaml.Node, at string) string {
	r.note(n, constraint{"maxLength": maxKeyBytes})
	key, _ := r.readText(n, at)
	if len(key) > maxKeyBytes {
		r.fail(n.Line, at, "is longer than %d bytes", maxKeyBytes)
	}
	return key
}

// readDate reads a day such as 2006-01-02, with or without quotes.
func (r *reader) readDate(n *yaml.Node, at string) string {
	r.note(n, constraint{"type": "string", "pattern": `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`})
	_, err := time.Parse(time.DateOnly, n.Value)
	if tag := n.ShortTag(); err != nil || n.Kind != yaml.ScalarNode || tag != "!!str" && tag != "!!timestamp" {
		r.fail(n.Line, at, "must be a day such as 2026-01-31, got %s", describeNode(n))
		return ""
	}
	return n.Value
}

// readKeyPatterns reads patterns of keys of things. Other than a path of the repository, a key
// may be any text, such as /subscriptions/1 or arn:aws:iam::1:user/a.
func (r *reader) readKeyPatterns(n *yaml.Node, at string) []string {
	items := r.readNonEmptyList(n, at)
	if !r.checkCount(n, at, maxKeyPatterns, "patterns") {
		return nil
	}
	r.noteItems(items, constraint{"maxLength": maxKeyBytes})
	var patterns []string
	for _, t := range r.readUniqueTexts(items, at) {
		if why := keyPatternProblem(t.value); why != "" {
			r.fail(t.line, at, "pattern %s %s", phrase.Quote(t.value), why)
			continue
		}
		patterns = append(patterns, t.value)
	}
	return patterns
}

// keyPatternProblem returns why a pattern of keys cannot be used, "" if it can.
func keyPatternProblem(p string) string {
	switch {
	case len(p) > maxKeyBytes:
		return fmt.Sprintf("is longer than %d bytes", maxKeyBytes)
	case strings.Count(p, "{") > maxAlternatives:
		return fmt.Sprintf("has more than %d groups of alternatives", maxAlternatives)
	case !doublestar.ValidatePattern(p):
		return "is malformed"
	}
	return ""
}
