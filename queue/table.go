package queue

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/app-sre/prcheck/internal/sanitize"
)

// TableVersion is the version of the document of a table.
const TableVersion = "prcheck/merge-queue/v1"

// A Table is how all merge requests of a branch stand, for people and programs.
type Table struct {
	Version  string   `json:"version"`
	Project  string   `json:"project"`
	Target   string   `json:"target"` // branch
	Base     string   `json:"base"`   // its head
	IsDryRun bool     `json:"is_dry_run"`
	Warnings []string `json:"warnings,omitempty"`
	Rows     []Row    `json:"requests"`
	Starts   []Start  `json:"starts"` // what would run
	Compared bool     `json:"is_compared"`
}

// A Row is how one merge request stands.
type Row struct {
	Position   int        `json:"position"` // from 1; 0 if nobody approved it
	Number     int        `json:"number"`
	Title      string     `json:"title"`
	Class      string     `json:"class,omitempty"` // label of approval
	ApprovedAt *time.Time `json:"approved_at,omitempty"`
	Decision
	Text   string  `json:"text"` // of the reason
	Beside *Beside `json:"beside,omitempty"`
}

// Beside is what another program does about a merge request.
type Beside struct {
	Position int      `json:"position"` // in its queue; 0 is not in it
	Does     []string `json:"does,omitempty"`
	Differs  string   `json:"differs,omitempty"` // why both decide differently
}

// NewTable returns the table of an outcome.
func NewTable(o Outcome, beside map[int]Beside) *Table {
	t := &Table{Version: TableVersion, Base: o.Base, Rows: []Row{}, Starts: append([]Start{}, o.Starts...),
		Compared: beside != nil}
	for _, s := range o.Standings {
		r := Row{Position: s.Position, Number: s.Place.Number, Title: sanitize.Line(s.Place.Title), Decision: s.Decision,
			Text: sanitize.Line(s.Reason.String())}
		if s.Position > 0 {
			r.Class = Classes[s.Place.Approval.Class]
			if at := s.Place.Approval.Since; !at.IsZero() {
				r.ApprovedAt = &at
			}
		}
		if b, isThere := beside[s.Place.Number]; isThere {
			r.Beside = &b
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// Tell says what became of a merge request that was to be merged.
func (t *Table) Tell(number int, isMerged bool, text string) {
	for i, r := range t.Rows {
		switch {
		case r.Number != number:
		case isMerged:
			t.Rows[i].State, t.Rows[i].Reason = Merged, because(MergedByQueue)
			t.Rows[i].Text = t.Rows[i].Reason.String()
		case text != "":
			t.Rows[i].Text = sanitize.Line(text)
		}
	}
}

// WriteJSON writes the table as one line.
func (t *Table) WriteJSON(w io.Writer) error {
	if err := json.NewEncoder(w).Encode(t); err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

// maxTitle is how many runes of a title a line has.
const maxTitle = 40

// WriteText writes the table for people.
func (t *Table) WriteText(w io.Writer) error {
	mode := "dry run"
	if !t.IsDryRun {
		mode = "acting"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "merge queue of %s, branch %s at %.12s (%s)\n", sanitize.Line(t.Project), sanitize.Line(t.Target),
		t.Base, mode)
	for _, warning := range t.Warnings {
		fmt.Fprintf(&b, "note: %s\n", sanitize.Line(warning))
	}
	tabs := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(tabs, "POSITION\tREQUEST\tCLASS\tSTATE\tWHY\tTITLE") // it writes to memory
	for _, r := range t.Rows {
		position, class := "-", "-"
		if r.Position > 0 {
			position, class = fmt.Sprint(r.Position), r.Class
		}
		_, _ = fmt.Fprintf(tabs, "%s\t!%d\t%s\t%s\t%s\t%s\n", position, r.Number, class, r.State, r.Text, short(r.Title))
	}
	_ = tabs.Flush()
	t.writeStarts(&b)
	t.writeBeside(&b)
	_, err := io.WriteString(w, b.String())
	if err != nil {
		return fmt.Errorf("writing the table: %w", err)
	}
	return nil
}

func (t *Table) writeStarts(b *strings.Builder) {
	for _, s := range t.Starts {
		how := ""
		if s.IsGuess {
			how = ", as if those ahead passed"
		}
		fmt.Fprintf(b, "runs for !%d%s: %s\n", s.Number, how, sanitize.Line(strings.Join(s.Tasks, ", ")))
	}
}

func (t *Table) writeBeside(b *strings.Builder) {
	if !t.Compared {
		return
	}
	differ := 0
	b.WriteString("beside qontract-reconcile:\n")
	for _, r := range t.Rows {
		if r.Beside == nil {
			continue
		}
		does := "nothing"
		if len(r.Beside.Does) > 0 {
			does = strings.Join(r.Beside.Does, ", ")
		}
		fmt.Fprintf(b, "  !%d: it does: %s", r.Number, sanitize.Line(does))
		if r.Beside.Position > 0 {
			fmt.Fprintf(b, " (position %d)", r.Beside.Position)
		}
		if r.Beside.Differs != "" {
			differ++
			fmt.Fprintf(b, "; differs: %s", sanitize.Line(r.Beside.Differs))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "%d of %d decided differently\n", differ, len(t.Rows))
}

// short returns the beginning of a title.
func short(title string) string {
	if runes := []rune(title); len(runes) > maxTitle {
		return string(runes[:maxTitle]) + "…"
	}
	return title
}
