package resources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/suggest"
	"github.com/app-sre/prcheck/natives/openapi"
)

// Find returns the type of a name with a version, or without one if there is only one. Case
// does not count. Several addresses of one type are returned with the first.
func (x *Index) Find(name string) ([]*Type, error) {
	var out []*Type
	for _, t := range x.types {
		if strings.EqualFold(t.ID(), name) || strings.EqualFold(t.Name, name) {
			out = append(out, t)
		}
	}
	if versions := versionsOf(out); len(versions) > 1 {
		return nil, &openapi.Error{Code: openapi.CodeVersion, Place: name,
			Message: "there are several versions; choose one of " + strings.Join(versions, ", ")}
	}
	if len(out) == 0 {
		return nil, x.unknown(name)
	}
	return out, nil
}

// Split parts a type from the path of a property behind it, as in TYPE.properties.sku. Both
// may have dots: the longest name that is a type counts.
func (x *Index) Split(text string) (types []*Type, path string, err error) {
	best := -1
	for _, t := range x.types {
		for _, name := range []string{t.ID(), t.Name} {
			n := len(name)
			if n > best && len(text) >= n && strings.EqualFold(text[:n], name) && (len(text) == n || text[n] == '.') {
				best = n
			}
		}
	}
	if best < 0 {
		return nil, "", x.unknown(text)
	}
	types, err = x.Find(text[:best])
	return types, strings.TrimPrefix(text[best:], "."), err
}

func versionsOf(types []*Type) []string {
	var out []string
	for _, t := range types {
		if !slices.Contains(out, t.ID()) {
			out = append(out, t.ID())
		}
	}
	return out
}

// unknown says that there is no such type or no such version, and which names are near.
func (x *Index) unknown(text string) error {
	slash := strings.LastIndexByte(text, '/') + 1
	name, version, hasVersion := strings.Cut(text, "@")
	if dot := strings.IndexByte(text[slash:], '.'); !hasVersion && dot >= 0 {
		name = text[:slash+dot]
	}
	var same, names []string
	for _, t := range x.types {
		if strings.EqualFold(t.Name, name) && !slices.Contains(same, t.ID()) {
			same = append(same, t.ID())
		}
		if !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	if len(same) > 0 && hasVersion {
		return &openapi.Error{Code: openapi.CodeVersion, Place: text,
			Message: fmt.Sprintf("there is no version %q; there is %s", version, strings.Join(same, ", "))}
	}
	message := "no specification has this type; reconciler api types lists all"
	if near := nearest(name, names); near != "" {
		message = fmt.Sprintf("no specification has this type; do you mean %q?", near)
	}
	return &openapi.Error{Code: openapi.CodeType, Place: text, Message: message}
}

// maxSuggested is the length in bytes up to which a name is compared with others.
const maxSuggested = 200

// nearest returns the known name with the fewest differences, without regard to case.
func nearest(name string, names []string) string {
	if len(name) > maxSuggested {
		return ""
	}
	lower := map[string]string{}
	for _, n := range names {
		lower[strings.ToLower(n)] = n
	}
	keys := make([]string, 0, len(lower))
	for k := range lower {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	if words := suggest.Words(strings.ToLower(name), keys, 1+len(name)/4); len(words) > 0 {
		return lower[words[0]]
	}
	return ""
}
