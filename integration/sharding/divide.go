package sharding

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/integration"
)

// Declared returns the strategy that managed[].sharding of a definition names. The
// error says why there is not exactly one.
func Declared(d integration.Definition) (integration.Strategy, error) {
	var words []string
	for _, m := range d.Managed() {
		words = append(words, object(m, "sharding").String("strategy"))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "":
		return integration.StrategyNone, errors.New("its definition names no sharding strategy")
	case len(words) > 1 && words[0] == "":
		return integration.StrategyNone, fmt.Errorf("its definition deploys it as a whole, too, not only by the sharding strategy %q", words[1])
	case len(words) > 1:
		return integration.StrategyNone, fmt.Errorf("its definition names the sharding strategies %q and %q", words[0], words[1])
	}
	for s := range table {
		if s.String() == words[0] {
			return s, nil
		}
	}
	return integration.StrategyNone, fmt.Errorf("its definition names the sharding strategy %q, which is not known", words[0])
}

// A Part is a shard of an integration, or all of its work: what has one task, or
// several that share it by [Index].
type Part struct {
	Key    string // the object that it is for, "" for all
	Static int    // how many processes share it, 1 when one does all
	Image  string // the image of its override, "" for the usual one
}

// Divide returns the parts that an integration has on any side by a strategy, by
// their keys. The elements of managed that name the strategy say what is different
// for a part: what one says counts when the others say nothing. They must be those
// of a definition that is trusted, and so must the first side, which says which
// override is for a part that it has. The error says why the parts cannot be told.
func Divide(name string, s integration.Strategy, managed []*bundle.Object, sides ...*bundle.Bundle) ([]Part, error) {
	elements := slices.DeleteFunc(slices.Clone(managed), func(m *bundle.Object) bool {
		return object(m, "sharding").String("strategy") != s.String()
	})
	if len(elements) == 0 {
		if s == integration.Static {
			return nil, errors.New("its definition has no static shards")
		}
		elements = []*bundle.Object{deployed(s)}
	}
	all := map[string]Part{}
	for _, b := range sides {
		parts := map[string]Part{}
		for _, m := range elements {
			specs, err := Specs(name, []string{Option(s)}, m, b)
			if err != nil {
				return nil, err
			}
			for _, spec := range specs {
				if err := merge(parts, spec.part()); err != nil {
					return nil, fmt.Errorf("its definition gives %w", err)
				}
			}
		}
		maps.Copy(parts, all)
		all = parts
	}
	compare := func(a, b Part) int { return strings.Compare(a.Key, b.Key) }
	return slices.SortedFunc(maps.Values(all), compare), nil
}

// deployed is an element of managed with nothing but a strategy.
func deployed(s integration.Strategy) *bundle.Object {
	rule := bundle.NewObject(bundle.Member{Key: "strategy", Value: s.String()})
	return bundle.NewObject(bundle.Member{Key: "sharding", Value: rule})
}

// part is the part that a process does, or that it shares.
func (s Spec) part() Part {
	p := Part{Key: s.Key, Static: 1}
	if n, err := strconv.Atoi(s.Shards); err == nil {
		p.Static = n
	}
	if s.Override != nil {
		p.Image = s.Override.String("imageRef")
	}
	return p
}

// merge adds what one element of managed says of a part to what the others say.
func merge(parts map[string]Part, p Part) error {
	was, known := parts[p.Key]
	switch {
	case !known:
		was = p
	case was.Static != p.Static && min(was.Static, p.Static) > 1:
		return fmt.Errorf("%s %d static shards, and %d", of(p.Key), was.Static, p.Static)
	case was.Image != p.Image && was.Image != "" && p.Image != "":
		return fmt.Errorf("%s the image %q, and %q", of(p.Key), was.Image, p.Image)
	}
	was.Static, was.Image = max(was.Static, p.Static), max(was.Image, p.Image)
	parts[p.Key] = was
	return nil
}

func of(key string) string {
	if key == "" {
		return "it"
	}
	return fmt.Sprintf("its shard %q", key)
}

// Images returns the images that the overrides of managed name, sorted.
func Images(managed []*bundle.Object) []string {
	var out []string
	for _, m := range managed {
		v, _ := object(m, "sharding").Get("shardSpecOverrides")
		list, _ := v.([]any)
		for _, v := range list {
			if o, ok := v.(*bundle.Object); ok && o.String("imageRef") != "" {
				out = append(out, o.String("imageRef"))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
