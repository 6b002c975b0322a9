package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/jsonpointer"
	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

// An Origin is a part of a change that made a task run: a changed field or a
// changed file.
type Origin struct {
	Section string    // of the bundle: data, resources, schemas or graphql
	Path    string    // in the section; "" for the GraphQL types
	Pointer string    // JSON pointer of the changed field, as in the plan; "" for the whole file
	Kind    plan.Kind // how the file changed; "" if the plan does not tell
}

// The sections of a bundle.
const (
	sectionData      = "data"
	sectionResources = "resources"
	sectionSchemas   = "schemas"
	sectionGraphQL   = "graphql"
)

// maxOrigins bounds how many origins are gathered for one integration.
const maxOrigins = 500

// A changeIndex holds the changes of a plan by path.
type changeIndex struct {
	plan      *plan.Plan
	datafiles map[string]plan.Datafile
	resources map[string]plan.Resource
}

func newChangeIndex(p *plan.Plan) changeIndex {
	x := changeIndex{p, map[string]plan.Datafile{}, map[string]plan.Resource{}}
	for _, f := range p.Changes.Datafiles {
		x.datafiles[f.Path] = f
	}
	for _, f := range p.Changes.Resources {
		x.resources[f.Path] = f
	}
	return x
}

// findOrigins returns the parts of the change that made an integration run, as
// precisely as the evidence tells. These are its own definition, if that decided.
// Otherwise they are the first of these lists that is not empty: the changed fields
// that its queries read, the file of the paths rule that selected it, the changed
// files that it may read, everything that changed.
func (x changeIndex) findOrigins(d plan.Decision) []Origin {
	if d.Rung == plan.RungDefinition {
		return x.definitionOrigins(d)
	}
	for _, find := range []func(plan.Decision) []Origin{x.queriedOrigins, x.ruleOrigins, x.allowedOrigins, x.allOrigins,
		x.definitionOrigins} {
		if found := find(d); len(found) > 0 {
			slices.SortStableFunc(found, func(a, b Origin) int { return cmp.Compare(a.removedRank(), b.removedRank()) })
			return found[:min(len(found), maxOrigins)]
		}
	}
	return nil
}

// definitionOrigins returns the changed parts of the definition of an integration,
// or pr_check if no part changed.
func (x changeIndex) definitionOrigins(d plan.Decision) []Origin {
	if len(d.Evidence.Definition) == 0 {
		return nil
	}
	parts := d.Evidence.Fields
	if len(parts) == 0 {
		parts = []string{"pr_check"}
	}
	var out []Origin
	file := d.Evidence.Definition[len(d.Evidence.Definition)-1] // the file on head
	for _, part := range parts {
		out = append(out, Origin{sectionData, file, jsonpointer.Append("", part), x.datafiles[file].Kind})
	}
	return out
}

// queriedOrigins returns the changed fields that queries read, and the added and
// removed files among those of the evidence.
func (x changeIndex) queriedOrigins(d plan.Decision) []Origin {
	var out []Origin
	reached := false
	for _, q := range d.Evidence.Queries {
		reached = reached || q.Reached > 0
		for _, field := range q.Fields {
			file, pointer, _ := strings.Cut(field, "#")
			if f, ok := x.datafiles[file]; ok {
				out = append(out, matchFields(f, pointer)...)
			} else if r, ok := x.resources[file]; ok {
				out = append(out, Origin{sectionResources, file, "", r.Kind})
			}
		}
	}
	for _, file := range d.Evidence.Paths {
		f, ok := x.datafiles[file]
		if reached && ok && (f.Kind == plan.Added || f.Kind == plan.Removed) {
			out = append(out, Origin{sectionData, file, "", f.Kind})
		} else if r, isResource := x.resources[file]; reached && !ok && isResource {
			out = append(out, Origin{sectionResources, file, "", r.Kind})
		}
	}
	return removeDuplicates(out)
}

// matchFields returns the changed fields of a file that match a pointer of a query.
// Exact matches are preferred to matches that ignore the indexes of list items: a
// query compares lists item by item, so its indexes may differ from those of the
// change.
func matchFields(f plan.Datafile, pointer string) []Origin {
	var exact, similar []Origin
	for _, field := range f.Fields {
		o := Origin{sectionData, f.Path, field, f.Kind}
		switch a, b := strings.Split(field, "/"), strings.Split(pointer, "/"); {
		case isAlong(a, b, func(x, y string) bool { return x == y }):
			exact = append(exact, o)
		case isAlong(a, b, func(x, y string) bool { return x == y || isNumber(x) && isNumber(y) }):
			similar = append(similar, o)
		}
	}
	switch {
	case len(exact) > 0:
		return exact
	case len(similar) > 0:
		return similar
	}
	return []Origin{{sectionData, f.Path, pointer, f.Kind}}
}

// isAlong reports whether one of two pointers is the beginning of the other, when
// their elements are compared by same.
func isAlong(a, b []string, same func(x, y string) bool) bool {
	n := min(len(a), len(b))
	return slices.EqualFunc(a[:n], b[:n], same)
}

func isNumber(part string) bool { return part != "" && strings.Trim(part, "0123456789") == "" }

// ruleOrigins returns the file because of which a paths rule selected the
// integration.
func (x changeIndex) ruleOrigins(d plan.Decision) []Origin {
	_, name, _ := strings.Cut(d.Evidence.Rule, " covers ")
	if file, ok := strings.CutPrefix(name, sectionResources); ok {
		if r, ok := x.resources[file]; ok {
			return []Origin{{sectionResources, file, "", r.Kind}}
		}
	}
	file, _ := strings.CutPrefix(name, sectionData)
	return x.datafileOrigins(file)
}

// allowedOrigins returns the changed files that the integration may read.
func (x changeIndex) allowedOrigins(d plan.Decision) []Origin {
	var out []Origin
	for _, file := range d.Evidence.Paths {
		found := x.datafileOrigins(file)
		if r, ok := x.resources[file]; ok && len(found) == 0 {
			found = []Origin{{sectionResources, file, "", r.Kind}}
		}
		out = append(out, found...)
	}
	return removeDuplicates(out)
}

// datafileOrigins returns all changed fields of a datafile, or the whole file if
// its fields are not known.
func (x changeIndex) datafileOrigins(file string) []Origin {
	f, ok := x.datafiles[file]
	switch {
	case !ok || f.Kind == plan.Metadata:
		return nil
	case len(f.Fields) == 0:
		return []Origin{{sectionData, file, "", f.Kind}}
	}
	var out []Origin
	for _, field := range f.Fields {
		out = append(out, Origin{sectionData, file, field, f.Kind})
	}
	return out
}

// allOrigins returns all changes. Schemas, GraphQL types and resources come first:
// they are what makes an integration run of which little is known.
func (x changeIndex) allOrigins(plan.Decision) []Origin {
	var out []Origin
	for _, file := range x.plan.Changes.Schemas {
		out = append(out, Origin{Section: sectionSchemas, Path: file})
	}
	if len(x.plan.Changes.GraphQL) > 0 {
		out = append(out, Origin{Section: sectionGraphQL})
	}
	for _, r := range x.plan.Changes.Resources {
		out = append(out, Origin{sectionResources, r.Path, "", r.Kind})
	}
	for _, f := range x.plan.Changes.Datafiles {
		if len(out) < maxOrigins {
			out = append(out, x.datafileOrigins(f.Path)...)
		}
	}
	return out
}

// removeDuplicates keeps the first of equal origins.
func removeDuplicates(list []Origin) []Origin {
	seen := map[Origin]bool{}
	return slices.DeleteFunc(list, func(o Origin) bool {
		twice := seen[o]
		seen[o] = true
		return twice
	})
}

// removedRank returns 1 for a file that was removed, else 0. Removed files come
// last, since nobody can open them on head.
func (o Origin) removedRank() int {
	if o.Kind == plan.Removed {
		return 1
	}
	return 0
}

// A FailureGroup holds tasks that failed with the same cause. Its first task stands for
// all of them.
type FailureGroup []TaskResult

// numbers may differ between tasks that fail with the same cause.
var numbers = lazyregexp.New(`[0-9]+(\.[0-9]+)?`)

// GroupFailures groups tasks by the cause of their failure: how they ended, the class, and
// the last line of output, in which numbers may differ, and the same findings. Groups and tasks keep their order.
func GroupFailures(tasks []TaskResult) []FailureGroup {
	var out []FailureGroup
	at := map[string]int{}
	for _, t := range tasks {
		cause := numbers.ReplaceAllString(describeAttempt(t.Status, t.Reason)+"\x00"+string(t.Class)+"\x00"+lastLine(t), "0")
		for _, line := range findingLines(t, len(t.Findings)) {
			cause += "\x00" + line
		}
		i, known := at[cause]
		if !known {
			i = len(out)
			at[cause] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], t)
	}
	return out
}

// maxAlike bounds how many other tasks of a group are named.
const maxAlike = 20

// others returns the names of the tasks of a group besides the first.
func (g FailureGroup) others() []string {
	var out []string
	for _, t := range g[1:] {
		out = append(out, t.Task)
	}
	return out
}

// The bounds of the changed places that are shown for one integration.
const (
	maxCauses      = 3 // files
	maxCauseFields = 3 // fields of each file
)

// A Cause is a changed file that an integration reads, with the changed fields that made
// it run.
type Cause struct {
	Path       string   `json:"path"`
	Fields     []string `json:"fields,omitempty"` // JSON pointers (at most 3); empty for the whole file
	MoreFields int      `json:"more_fields,omitempty"`
}

// describe returns the file with its fields, each shown by show.
func (c Cause) describe(show func(string) string) string {
	text := show(c.Path)
	for i, field := range c.Fields {
		if i == 0 {
			text += " at "
		} else {
			text += ", "
		}
		text += show(field)
	}
	if c.MoreFields > 0 {
		text += " and " + phrase.Count(c.MoreFields, "more field")
	}
	return text
}

// causes returns the first changed files that made an integration run, and the number of
// further files.
func (x changeIndex) causes(d plan.Decision) (causes []Cause, more int) {
	files := map[string]bool{}
	for _, o := range x.findOrigins(d) {
		path := o.Path
		if o.Section == sectionGraphQL {
			path = "the GraphQL types"
		}
		i := slices.IndexFunc(causes, func(c Cause) bool { return c.Path == path })
		switch {
		case i < 0 && len(causes) == maxCauses:
			files[path] = true
			continue
		case i < 0:
			i = len(causes)
			causes = append(causes, Cause{Path: path})
		}
		switch c := &causes[i]; {
		case o.Pointer == "":
		case len(c.Fields) < maxCauseFields:
			c.Fields = append(c.Fields, o.Pointer)
		default:
			c.MoreFields++
		}
	}
	return causes, len(files)
}

// describeCauses returns the changed files that made an integration run, in one line. Each
// path and field is shown by show.
func (i Integration) describeCauses(show func(string) string) string {
	var out []string
	for _, c := range i.Causes {
		out = append(out, c.describe(show))
	}
	if i.MoreCauses > 0 {
		out = append(out, "and "+phrase.Count(i.MoreCauses, "more file"))
	}
	return strings.Join(out, ", ")
}
