package resources

import (
	"errors"
	"strings"
)

// An ID is an id of a resource of ARM, taken apart.
type ID struct {
	Type   string // such as Microsoft.Cache/Redis/firewallRules, as the id spells it
	Name   string
	Parent string // the id of what the resource stands in, as the id spells it; "" if nothing
	Root   string // the id of the subscription, or of what else is outermost, in lower case
}

// Why an id cannot be taken apart.
var (
	errEmptyID     = errors.New("it is empty")
	errNoSlash     = errors.New("it does not begin with a slash")
	errSlash       = errors.New("an escaped slash")
	errEscaped     = errors.New("an escaped character")
	errStepUp      = errors.New("a step up")
	errEmptyPart   = errors.New("an empty part")
	errCharacter   = errors.New("a character that no id has")
	errNoName      = errors.New("a type without a name")
	errNoProvider  = errors.New("a provider without a type")
	errNoResource  = errors.New("it names no resource")
	errTooLong     = errors.New("it is too long")
	errPlaceholder = errors.New("a placeholder in the place of a name")
)

// ParseID takes an id of a resource of ARM apart. Case does not count, and one slash at the
// end is allowed.
func ParseID(id string) (ID, error) {
	parts, err := idParts(id)
	if err != nil {
		return ID{}, err
	}
	out := ID{Root: rootOf(parts)}
	i := indexFold(parts, "providers")
	if i < 0 || i%2 == 1 { // "providers" as a name is no beginning of a type
		return out.scope(parts)
	}
	rest := parts[i+1:]
	switch {
	case len(rest) < 2:
		return ID{}, errNoProvider
	case len(rest)%2 == 0:
		return ID{}, errNoName
	}
	types := []string{rest[0]}
	for j := 1; j < len(rest); j += 2 {
		types = append(types, rest[j])
	}
	out.Type, out.Name = strings.Join(types, "/"), rest[len(rest)-1]
	end := len(parts) - 2
	if len(rest) == 3 { // the first type of its provider stands in what is before /providers
		end = i
	}
	out.Parent = join(parts[:end])
	return out, nil
}

// scope reads an id without a provider: of a subscription or of a group.
func (out ID) scope(parts []string) (ID, error) {
	last := parts[len(parts)-1]
	switch {
	case !strings.EqualFold(parts[0], "subscriptions"):
		return ID{}, errNoResource
	case len(parts) == 2:
		out.Type, out.Name = subscriptions, last
	case len(parts) == 4 && strings.EqualFold(parts[2], "resourceGroups"):
		out.Type, out.Name, out.Parent = resourceGroups, last, join(parts[:2])
	case len(parts)%2 == 1:
		return ID{}, errNoName
	default:
		return ID{}, errNoResource
	}
	return out, nil
}

// idParts returns the parts of an id, or why it cannot be one.
func idParts(id string) ([]string, error) {
	lower := strings.ToLower(id)
	switch {
	case id == "":
		return nil, errEmptyID
	case id[0] != '/':
		return nil, errNoSlash
	case len(id) > maxPath:
		return nil, errTooLong
	case strings.Contains(lower, "%2f"), strings.Contains(lower, "%5c"):
		return nil, errSlash
	case strings.Contains(id, "%"):
		return nil, errEscaped
	}
	parts := strings.Split(strings.TrimSuffix(id[1:], "/"), "/")
	for _, part := range parts {
		switch {
		case part == "":
			return nil, errEmptyPart
		case part == "." || part == "..":
			return nil, errStepUp
		case isParameter(part):
			return nil, errPlaceholder
		case strings.ContainsFunc(part, isForeign):
			return nil, errCharacter
		}
	}
	return parts, nil
}

// isForeign reports whether a character cannot stand in an id, because an address would be
// read in another way with it.
func isForeign(r rune) bool {
	return r < ' ' || r == 0x7f || r == '\\' || r == '?' || r == '#' || r == '\uFFFD'
}

// rootOf returns the outermost resource: a subscription, a management group, or the first
// resource of a provider.
func rootOf(parts []string) string {
	end := 2
	if strings.EqualFold(parts[0], "providers") {
		end = 4
	}
	return strings.ToLower(join(parts[:min(end, len(parts))]))
}

func join(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "/" + strings.Join(parts, "/")
}
