package proofs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/internal/sanitize"
	"github.com/app-sre/prcheck/plan"
)

// A shownQuery is a query with marks at the names of fields that changed.
type shownQuery struct {
	Name  string
	Parts []queryPart
	Cut   bool
}

// A queryPart is a part of the text of a query.
type queryPart struct {
	Text string
	Mark bool
}

// A changedField is a field of a changed file, and whether the queries name it.
type changedField struct{ Where, Says string }

// compare lays what an integration asks beside the fields that changed, and the files that its runs used beside those
// that changed.
func (r *row) compare(in Input, s Subject, room *int) {
	fields := map[string]bool{} // keys of changed fields in files that it may read
	named := map[string]bool{}  // words of its queries
	for _, q := range s.Queries {
		for _, w := range words(q.Text) {
			named[q.Text[w[0]:w[1]]] = true
		}
	}
	r.Changed = changedFields(in.Plan.Changes, s, named, fields)
	for _, q := range s.Queries[:min(len(s.Queries), maxQueries)] {
		text := q.Text[:min(len(q.Text), maxQuery, max(0, *room))]
		*room -= len(text)
		r.Queries = append(r.Queries, shownQuery{q.Name, mark(text, fields), len(text) < len(q.Text)})
	}
	r.HasReads = len(s.Reads) > 0
	r.Reads, r.Files = bounded(s.Reads, maxNames), bounded(in.Changed, maxNames)
	if in.Changed == nil {
		r.Files = names{Shown: []string{"not known: a side is no checkout"}}
	}
}

// changedFields returns the changed fields of files that an integration may read, and notes their keys.
func changedFields(c plan.Changes, s Subject, named, keys map[string]bool) (out []changedField) {
	for _, f := range c.Datafiles {
		mayRead := slices.Contains(s.Schemas, f.Schema) || slices.Contains(s.Schemas, cmp.Or(f.OldSchema, f.Schema))
		if f.Kind == plan.Metadata || !mayRead {
			continue
		}
		for _, pointer := range f.Fields {
			key := lastKey(pointer)
			keys[key] = true
			says := fmt.Sprintf("%s is not in its queries", key)
			switch {
			case len(s.Queries) == 0:
				says = "no query is known that could read it"
			case key == "":
				says = "the whole file"
			case named[key]:
				says = fmt.Sprintf("%s stands in its queries, see the marks", key)
			}
			if len(out) < maxNames {
				out = append(out, changedField{f.Path + " " + pointer, says})
			}
		}
	}
	return out
}

// lastKey returns the last part of a pointer that is no index of a list.
func lastKey(pointer string) string {
	parts := strings.Split(pointer, "/")
	for _, part := range slices.Backward(parts) {
		if strings.Trim(part, "0123456789") != "" {
			return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		}
	}
	return ""
}

// tokens matches what a query consists of: comments and texts, in which no name counts, and names.
var tokens = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`#[^\n]*|"""(?s:.*?)"""|"(?:[^"\\\n]|\\.)*"|[_A-Za-z][_0-9A-Za-z]*`)
})

// words returns where the names of a query stand.
func words(text string) (out [][]int) {
	for _, at := range tokens().FindAllStringIndex(text, -1) {
		if c := text[at[0]]; c != '#' && c != '"' {
			out = append(out, at)
		}
	}
	return out
}

// mark divides a query at the names of fields.
func mark(text string, fields map[string]bool) (out []queryPart) {
	end := 0
	add := func(to int, isMarked bool) {
		if to > end {
			out = append(out, queryPart{sanitize.Text(text[end:to]), isMarked})
			end = to
		}
	}
	for _, at := range words(text) {
		if fields[text[at[0]:at[1]]] {
			add(at[0], false)
			add(at[1], true)
		}
	}
	add(len(text), false)
	return out
}
