package settings

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/qontract/jsonpath"
)

// Owners say what of who must approve a change is as in change-owners of qontract-reconcile, while a team moves.
type Owners struct {
	IgnoresOrder bool // the order of a list is no content
	CountsEdits  bool // edited comments count, though nobody knows who edited them
	// Unordered chooses, in files of schemas, lists whose order is no content.
	Unordered map[string][]*jsonpath.Path
}

// The words of the key owners, the default first.
var (
	orderWords = []string{"asked", "ignored"}
	editWords  = []string{"ignored", "counted"}
)

// readOwners reads the key owners.
func (r *reader) readOwners(n *yaml.Node) (out Owners) {
	keys := r.readObject(n, "owners", "order", "unordered", "edits")
	if n := keys["order"]; n != nil {
		out.IgnoresOrder = r.readChoice(n, "owners.order", orderWords) == 1
	}
	if n := keys["unordered"]; n != nil {
		out.Unordered = r.readUnordered(n)
	}
	if n := keys["edits"]; n != nil {
		out.CountsEdits = r.readChoice(n, "owners.edits", editWords) == 1
	}
	return out
}

// readUnordered reads which lists have no order: selectors of the lists by the schemas of their files.
func (r *reader) readUnordered(n *yaml.Node) map[string][]*jsonpath.Path {
	out := map[string][]*jsonpath.Path{}
	for _, e := range r.readEntries(n, "owners.unordered") {
		at := "owners.unordered." + e.key
		if !strings.HasPrefix(e.key, "/") {
			r.fail(e.line, "owners.unordered", "%s is no schema; write it as $schema of its files has it, such as "+
				"/app-sre/app-1.yml", phrase.Quote(e.key))
		}
		for _, t := range r.readUniqueTexts(r.readNonEmptyList(e.value, at), at) {
			path, err := jsonpath.ParseSelector(t.value)
			if err != nil {
				r.fail(t.line, at, "the selector %s cannot be read: %s", phrase.Quote(t.value), err)
				continue
			}
			out[e.key] = append(out[e.key], path)
		}
	}
	return out
}

// Owners returns the settings of who must approve a change. They hold only when they are those of base.
func (s *Settings) Owners() Owners { return s.owners }
