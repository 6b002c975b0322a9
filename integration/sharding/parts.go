package sharding

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/settings"
)

// DeclaredStrategy returns the strategy that managed[].sharding of a definition names. It
// is an error if the definition does not name exactly one known strategy.
func DeclaredStrategy(managed []*bundle.Object) (settings.Strategy, error) {
	var words []string
	for _, m := range managed {
		words = append(words, shardingOf(m).String("strategy"))
	}
	slices.Sort(words)
	words = slices.Compact(words)
	switch {
	case len(words) == 0 || len(words) == 1 && words[0] == "":
		return settings.StrategyNone, errors.New("its definition names no sharding strategy")
	case len(words) > 1 && words[0] == "":
		return settings.StrategyNone, fmt.Errorf("its definition deploys it as a whole, too, not only by the sharding "+
			"strategy %q", words[1])
	case len(words) > 1:
		return settings.StrategyNone, fmt.Errorf("its definition names the sharding strategies %q and %q", words[0], words[1])
	}
	for s := range strategyTable {
		if s.String() == words[0] {
			return s, nil
		}
	}
	return settings.StrategyNone, fmt.Errorf("its definition names the sharding strategy %q, which is not known", words[0])
}

// A Part is a shard of an integration, or all of its work. A part has one task, or
// several static shards that share its work by [Index].
type Part struct {
	Key    string // the key of its object; "" means all work
	Static int    // the number of static shards, at least 1
	Image  string // the image of its override; "" means the usual image
}

// ListParts returns the parts that an integration has on at least one side, sorted by
// key, if it is divided by strategy s. The elements of managed that name this strategy
// may override the image and the number of static shards of a part. Both managed and the
// first side must be trusted: if a part exists on several sides, its overrides come from
// the first of them. It is an error if the parts cannot be determined.
func ListParts(name string, s settings.Strategy, managed []*bundle.Object, sides ...Source) ([]Part, error) {
	elements := slices.DeleteFunc(slices.Clone(managed), func(m *bundle.Object) bool {
		return shardingOf(m).String("strategy") != s.String()
	})
	if len(elements) == 0 {
		if s == settings.StrategyStatic {
			return nil, errors.New("its definition has no static shards")
		}
		elements = []*bundle.Object{managedElement(s)}
	}
	byKey := map[string]Part{}
	for _, from := range sides {
		parts := map[string]Part{}
		for _, m := range elements {
			specs, err := Specs(name, []string{KeyOption(s)}, m, from)
			if err != nil {
				return nil, err
			}
			for _, spec := range specs {
				if err := mergePart(parts, spec.part()); err != nil {
					return nil, fmt.Errorf("its definition gives %w", err)
				}
			}
		}
		maps.Copy(parts, byKey)
		byKey = parts
	}
	compare := func(a, b Part) int { return strings.Compare(a.Key, b.Key) }
	return slices.SortedFunc(maps.Values(byKey), compare), nil
}

// managedElement returns an element of managed that has a strategy and nothing else.
func managedElement(s settings.Strategy) *bundle.Object {
	rule := bundle.NewObject(bundle.Member{Key: "strategy", Value: s.String()})
	return bundle.NewObject(bundle.Member{Key: "sharding", Value: rule})
}

// part returns the part to which a process belongs.
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

// mergePart adds the part p of one element of managed to the parts of other elements. It
// is an error if two elements give different values for the same part.
func mergePart(parts map[string]Part, p Part) error {
	merged, known := parts[p.Key]
	switch {
	case !known:
		merged = p
	case merged.Static != p.Static && min(merged.Static, p.Static) > 1:
		return fmt.Errorf("%s %d static shards, and %d", describePart(p.Key), merged.Static, p.Static)
	case merged.Image != p.Image && merged.Image != "" && p.Image != "":
		return fmt.Errorf("%s the image %q, and %q", describePart(p.Key), merged.Image, p.Image)
	}
	merged.Static, merged.Image = max(merged.Static, p.Static), max(merged.Image, p.Image)
	parts[p.Key] = merged
	return nil
}

// describePart names a part in a message.
func describePart(key string) string {
	if key == "" {
		return "it"
	}
	return fmt.Sprintf("its shard %q", key)
}

// OverrideImages returns the images that the overrides of managed name, sorted.
func OverrideImages(managed []*bundle.Object) []string {
	var out []string
	for _, m := range managed {
		v, _ := shardingOf(m).Get("shardSpecOverrides")
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
