package report

import (
	"slices"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
)

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
