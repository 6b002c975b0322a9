package report

import (
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/plan"
)

// Bounds of what is said about schemas that nobody reads.
const (
	maxUnread  = 20
	maxSchemas = 3
)

// wide returns the integrations that may read more than they did when they ran
// in full.
func wide(all []plan.Observed) []plan.Observed {
	var out []plan.Observed
	for _, o := range all {
		if len(o.Unread) > 0 && !o.Partial {
			out = append(out, o)
		}
	}
	return out
}

// someSchemas names the first few of a list.
func someSchemas(list []string) string {
	if len(list) <= maxSchemas {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:maxSchemas], ", "), len(list)-maxSchemas)
}

const unreadNote = "narrower schemas make an integration run less often; planner suggest writes them down"

// unread shows which integrations may read schemas that they did not read.
func (t *text) unread(all []plan.Observed) {
	list := wide(all)
	if len(list) == 0 {
		return
	}
	t.heading("Allowed, but not read (%d)", len(list))
	var rows table
	for i, o := range list {
		if i == maxUnread {
			break
		}
		rows = append(rows, []cell{{text: line(o.Integration)}, num(fmt.Sprint(len(o.Unread))), {text: line(someSchemas(o.Unread))}})
	}
	rows.write(&t.out, t.style, "  ")
	if len(list) > maxUnread {
		t.line("  and %d more integrations", len(list)-maxUnread)
	}
	t.line("  (%s)", unreadNote)
}

// unread is the same, folded.
func (m *markdown) unread(all []plan.Observed) {
	list := wide(all)
	if len(list) == 0 {
		return
	}
	end := m.fold("Allowed, but not read (%d)", len(list))
	for i, o := range list {
		if i == maxUnread {
			m.line("- and %d more integrations", len(list)-maxUnread)
			break
		}
		m.line("- %s: %s", code(o.Integration), escape(someSchemas(o.Unread)))
	}
	m.line("\n%s.", strings.ToUpper(unreadNote[:1])+unreadNote[1:])
	end()
}
