package report

import "github.com/app-sre/prcheck/plan"

// writeTrain writes which results of the merge request's own pipeline hold in its merge train,
// and why the others do not.
func (t *text) writeTrain(train *plan.Train) {
	if train == nil {
		return
	}
	t.printHeading("Merge train: %s", train)
	var rows table
	for _, m := range train.Moved {
		rows = append(rows, []cell{{text: cleanLine(m.Name())}, {text: cleanLine(m.Reason)}})
	}
	rows.writeTo(&t.out, t.style, "  ")
	if more := train.More(); more > 0 {
		t.printLine("  and %d more", more)
	}
}

// writeTrain writes the same as Markdown, with the list folded.
func (m *markdown) writeTrain(train *plan.Train) {
	if train == nil {
		return
	}
	m.printLine("\nMerge train: %s.", train)
	if len(train.Moved) == 0 {
		return
	}
	end := m.startFold("results that do not hold: %d", train.Results-train.Hold)
	m.writeRow("task", "why")
	m.writeRow(":--", ":--")
	for _, moved := range train.Moved {
		m.writeRow(codeSpan(moved.Name()), escapeMarkdown(moved.Reason))
	}
	if more := train.More(); more > 0 {
		m.printLine("\nand %d more", more)
	}
	end()
}

// A trainView is a [plan.Train] as HTML shows it.
type trainView struct {
	Summary string
	Moved   []movedView
	More    int
}

// A movedView is a result that does not hold.
type movedView struct{ Name, Reason string }

func newTrainView(train *plan.Train) *trainView {
	if train == nil {
		return nil
	}
	v := &trainView{Summary: train.String(), More: train.More()}
	for _, m := range train.Moved {
		v.Moved = append(v.Moved, movedView{cleanLine(m.Name()), cleanLine(m.Reason)})
	}
	return v
}
