package settings

import "go.yaml.in/yaml/v3"

// Owners say what of who must approve a change is as in change-owners of qontract-reconcile, while a team moves.
type Owners struct {
	IgnoresOrder bool // the order of a list is no content
	CountsEdits  bool // edited comments count, though nobody knows who edited them
}

// The words of the key owners, the default first.
var (
	orderWords = []string{"asked", "ignored"}
	editWords  = []string{"ignored", "counted"}
)

// readOwners reads the key owners.
func (r *reader) readOwners(n *yaml.Node) (out Owners) {
	keys := r.readObject(n, "owners", "order", "edits")
	if n := keys["order"]; n != nil {
		out.IgnoresOrder = r.readChoice(n, "owners.order", orderWords) == 1
	}
	if n := keys["edits"]; n != nil {
		out.CountsEdits = r.readChoice(n, "owners.edits", editWords) == 1
	}
	return out
}

// Owners returns the settings of who must approve a change. They hold only when they are those of base.
func (s *Settings) Owners() Owners { return s.owners }
