package jsonpath

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Step leads from a value to one in it: to a member by its name, or to an item of a list.
type Step struct {
	Name   string
	Item   int
	IsItem bool
}

// Member returns the step to a member.
func Member(name string) Step { return Step{Name: name} }

// Item returns the step to an item of a list.
func Item(at int) Step { return Step{Item: at, IsItem: true} }

// bareName matches names that need no quotes.
var bareName = regexp.MustCompile(`^[A-Za-z_@][A-Za-z0-9_@-]*$`)

// String returns the step as jsonpath_ng writes it.
func (s Step) String() string {
	switch {
	case s.IsItem:
		return "[" + strconv.Itoa(s.Item) + "]"
	case bareName.MatchString(s.Name):
		return s.Name
	case strings.Contains(s.Name, "'") && !strings.Contains(s.Name, `"`):
		return `"` + strings.ReplaceAll(s.Name, `\`, `\\`) + `"`
	}
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s.Name) + "'"
}

// A Location is where a value stands in a document; the empty place is the document.
type Location []Step

// String returns the place as a path, such as a.[0].'b c', or $ for the document.
func (p Location) String() string {
	if len(p) == 0 {
		return "$"
	}
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.String()
	}
	return strings.Join(parts, ".")
}

// IsWithin reports whether a place is another one, or stands below it.
func (p Location) IsWithin(other Location) bool {
	return len(p) >= len(other) && slices.Equal(p[:len(other)], other)
}

// Below returns the place one step below; it shares nothing with the place above.
func (p Location) Below(s Step) Location { return append(slices.Clip(p), s) }

// At returns the value at a place, and whether the document has the place.
func (p Location) At(document any) (any, bool) {
	for _, s := range p {
		switch v := document.(type) {
		case map[string]any:
			member, isThere := v[s.Name]
			if !isThere || s.IsItem {
				return nil, false
			}
			document = member
		case []any:
			if !s.IsItem || s.Item < 0 || s.Item >= len(v) {
				return nil, false
			}
			document = v[s.Item]
		default:
			return nil, false
		}
	}
	return document, true
}

// A Match is a value that a path chooses, with its place.
type Match struct {
	Value any
	Place Location
	// Sign stands in the place of a place for what the document does not have, such as a size, and for what is chosen
	// without a name, such as `this`.
	Sign string
}

// String returns the place, or the sign.
func (m Match) String() string {
	if m.Sign != "" {
		return m.Sign
	}
	return m.Place.String()
}

// Places returns what a path chooses of a document, with the places. Other than for [Path.Find], a member that is null
// is there, and a position that is not there, because it is before the first entry or of no list, is nothing and no
// error.
func (p *Path) Places(document any) ([]Match, error) {
	s := &search{left: maxVisits, ofPlaces: true}
	found, err := p.root.find(s, &datum{value: document, isBare: true})
	if err != nil {
		return nil, err
	}
	out := make([]Match, len(found))
	for i, d := range found {
		if out[i], err = d.match(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// match returns a datum with its place.
func (d *datum) match(s *search) (Match, error) {
	m := Match{Value: d.value}
	of := d
	for ; of.above != nil; of = of.above {
		switch at := of.at.(type) {
		case int:
			m.Place = append(m.Place, Item(at))
		case string:
			m.Place = append(m.Place, Member(at))
		}
	}
	if of.isNothing {
		return m, errNothing
	}
	slices.Reverse(m.Place)
	switch {
	case of.isForeign && len(m.Place) > 0:
		m.Sign = m.Place.String()
		if of.sign != "" {
			m.Sign = of.sign + "." + m.Sign
		}
	case len(m.Place) == 0 && of.sign != "$":
		if m.Sign = of.sign; m.Sign == "" {
			m.Sign = "`this`"
		}
	}
	if m.Sign != "" {
		m.Place = nil
	}
	return m, s.visit(len(m.Place))
}
