package content

import (
	"slices"

	"github.com/app-sre/prcheck/owners/difference"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// A Kind says whether a file is a datafile or a resource.
type Kind string

// The kinds of files, as change types name them.
const (
	Datafile Kind = "datafile"
	Resource Kind = "resourcefile"
)

// A Ref names a file.
type Ref struct {
	Kind   Kind
	Path   string
	Schema string // "" if it has none
}

// A Change is a file that a change touches.
type Change struct {
	Ref
	Old, New    any    // the content without what the bundler adds; nil on a side that does not have the file
	OldSum      string // of the text; "" on a side that does not have the file
	NewSum      string
	Mentions    []Mention
	Differences []difference.Difference
	Unasked     []difference.Difference // which settings say are no content
	MovedFrom   string                  // the path of the file that went away with the same content
	MovedTo     string
}

// A Mention is a place of a datafile that names a changed resource.
type Mention struct {
	Ref
	Place string // as the bundler writes it
}

// Referring returns the datafiles that mention a resource on either side, once each.
func (c *Change) Referring() []Ref {
	var out []Ref
	for _, m := range c.Mentions {
		if !slices.Contains(out, m.Ref) {
			out = append(out, m.Ref)
		}
	}
	return out
}

// A World knows the content of files on both sides.
type World interface {
	// Sides returns the content of a file in base and in head, nil where it is not.
	Sides(Ref) (base, head any)
}

// Compare fills in the differences of a change. isTextChanged says that the texts differ.
func (c *Change) Compare(isTextChanged bool) {
	c.Differences = difference.Of(c.Old, c.New)
	if len(c.Differences) == 0 && isTextChanged {
		c.Differences = []difference.Difference{{Kind: difference.Text}}
	}
}

// An Unordered says which lists have no order. The zero value says that all have one.
type Unordered struct {
	All    bool
	Fields map[string][]*jsonpath.Path // by the schemas of files: they choose the lists
}

// has reports whether a list of a file has no order, on both sides. A list of which that cannot be asked has one.
func (u Unordered) has(c *Change, d difference.Difference) bool {
	if u.All {
		return true
	}
	chooses := func(path *jsonpath.Path, at jsonpath.Location, of any) bool {
		matches, err := path.Places(of)
		return err == nil && slices.ContainsFunc(matches, func(m jsonpath.Match) bool {
			return m.Sign == "" && slices.Equal(m.Place, at)
		})
	}
	return slices.ContainsFunc(u.Fields[c.Schema], func(path *jsonpath.Path) bool {
		return chooses(path, d.Base, c.Old) && chooses(path, d.Head, c.New)
	})
}

// IgnoreOrder takes the order of lists for no content. A file of which nothing else differs has another text.
func (c *Change) IgnoreOrder(of Unordered) {
	isOrder := func(d difference.Difference) bool { return d.Kind == difference.Reordered && of.has(c, d) }
	for _, d := range c.Differences {
		if isOrder(d) {
			c.Unasked = append(c.Unasked, d)
		}
	}
	c.Differences = slices.DeleteFunc(slices.Clone(c.Differences), isOrder)
	if len(c.Differences) == 0 && len(c.Unasked) > 0 {
		c.Differences = []difference.Difference{{Kind: difference.Text}}
	}
}

// IsText reports whether a change touches no content.
func (c *Change) IsText() bool {
	return len(c.Differences) == 1 && c.Differences[0].Kind == difference.Text
}

// Moves links the changes that are a move: one file went away and one came, with the same sum. sums are those of the
// changes, "" for a change that is neither.
func Moves(changes []*Change, sums []string) {
	type ends struct{ gone, come []*Change }
	bySum := map[string]*ends{}
	for i, c := range changes {
		if sums[i] == "" || (c.Old == nil) == (c.New == nil) {
			continue
		}
		e := bySum[sums[i]]
		if e == nil {
			e = &ends{}
			bySum[sums[i]] = e
		}
		if c.New == nil {
			e.gone = append(e.gone, c)
		} else {
			e.come = append(e.come, c)
		}
	}
	for _, e := range bySum {
		if len(e.gone) == 1 && len(e.come) == 1 && e.gone[0].Kind == e.come[0].Kind && e.gone[0].Path != e.come[0].Path {
			e.gone[0].MovedTo, e.come[0].MovedFrom = e.come[0].Path, e.gone[0].Path
		}
	}
}
