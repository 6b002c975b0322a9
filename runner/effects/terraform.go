package effects

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/plan"
)

// A terraform finds effects in the plan that terraform or OpenTofu prints: one comment for
// each resource, and a line with the sums at the end. With -json both are lines of JSON. A
// resource that is replaced counts as a deletion, because it is destroyed.
type terraform struct {
	add, change, destroy int // resources since the last sums, as terraform counts them
	any                  bool
}

var (
	// planComment matches the comment above a resource. Comments inside of a resource stand
	// further to the right.
	planComment = lazyregexp.New(`^ {0,2}# ([A-Za-z_][\w-]*\.\S.*?)(?: \(deposed object \w+\))?(?: is tainted, so)? (will be created|will be updated in-place|will be destroyed|(?:will|must) be replaced(?:, as requested)?|will be imported)$`)
	// planSums matches the last line of a plan.
	planSums = lazyregexp.New(
		`^Plan: (?:\d+ to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, \d+ to forget)?\.`)
)

func (t *terraform) read(line string, claimed bool, found *collection) bool {
	if strings.HasPrefix(line, `{"@level":`) {
		return t.readJSON(line, claimed, found)
	}
	if !strings.Contains(line, "# ") && !strings.HasPrefix(line, "Plan: ") {
		return false
	}
	if m := planComment.FindStringSubmatch(line); m != nil {
		kind, subject := t.count(m[1], m[2])
		if !claimed {
			found.add(kind, subject, 1)
		}
		return true
	}
	if m := planSums.FindStringSubmatch(line); m != nil {
		var n [3]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+1])
		}
		t.check(n, found)
		return true
	}
	return false
}

// jsonActions are the actions in lines of JSON, with the words of the comments.
var jsonActions = map[string]string{
	"create": "will be created", "update": "will be updated in-place", "delete": "will be destroyed",
	"replace": "must be replaced", "import": "will be imported",
}

// readJSON reads a line of terraform plan -json.
func (t *terraform) readJSON(line string, claimed bool, found *collection) bool {
	var message struct {
		Type   string
		Change struct {
			Resource struct{ Addr string }
			Action   string
		}
		Changes struct {
			Add, Change, Remove int
			Operation           string
		}
	}
	if json.Unmarshal([]byte(line), &message) != nil {
		return false
	}
	switch message.Type {
	case "planned_change":
		action, ok := jsonActions[message.Change.Action]
		if !ok || message.Change.Resource.Addr == "" {
			return true // as it is read, moved or left alone
		}
		kind, subject := t.count(message.Change.Resource.Addr, action)
		if !claimed {
			found.add(kind, subject, 1)
		}
		return true
	case "change_summary":
		if message.Changes.Operation == "plan" {
			t.check([3]int{message.Changes.Add, message.Changes.Change, message.Changes.Remove}, found)
		}
		return true
	}
	return false
}

// count counts a resource and returns its effect.
func (t *terraform) count(address, action string) (plan.EffectKind, string) {
	t.any = true
	switch action {
	case "will be created":
		t.add++
		return plan.EffectCreate, address
	case "will be updated in-place":
		t.change++
		return plan.EffectChange, address
	case "will be destroyed":
		t.destroy++
		return plan.EffectDelete, address
	case "will be imported":
		return plan.EffectOther, address + " (imported)"
	}
	t.add++
	t.destroy++
	return plan.EffectDelete, address + " (replaced)"
}

// check compares the sums of a plan with the resources before it. If the plan names no
// resources at all, the sums themselves are the effects.
func (t *terraform) check(n [3]int, found *collection) {
	counted := [3]int{t.add, t.change, t.destroy}
	if !t.any {
		for i, kind := range []plan.EffectKind{plan.EffectCreate, plan.EffectChange, plan.EffectDelete} {
			if n[i] > 0 {
				found.add(kind, "a resource that the plan of terraform does not name", min(n[i], maxItems))
			}
		}
	} else if counted != n {
		found.problem("terraform plans %d to add, %d to change and %d to destroy, but its output names %d, %d and %d "+
			"resources", n[0], n[1], n[2], counted[0], counted[1], counted[2])
	}
	*t = terraform{}
}

func (t *terraform) end(found *collection) {
	if t.any {
		found.problem("the output of terraform ends without the sums of its plan")
	}
}
