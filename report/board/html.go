package board

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/report"
)

//go:embed page.gohtml
var pageText string

//go:embed style.css
var style string

//go:embed script.js
var script string

// The bounds of the page. The JSON has the rest.
const (
	maxTasks  = 200
	maxChecks = 200
	maxShards = 1000 // of an integration
	maxFleets = 200
	maxFlows  = 50
)

// page is parsed when it is first used, since few commands write one.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"printable": report.Printable, "when": when, "clock": clock, "ago": ago, "class": class, "word": word,
		"short": short, "states": states, "isSet": func(t time.Time) bool { return !t.IsZero() },
		"opens": opens, "count": phrase.Count,
	}).Parse(pageText))
})

// A view is what the template shows.
type view struct {
	*Board
	Policy          string
	Style, Script   template.HTML
	MoreTasks       int
	MoreChecks      int
	MoreFlows       int
	MoreFleets      int
	Fleets          []fleetView
	Curves          []curve
	AuditLine       string
	RungLines       []string
	Now             time.Time
	Tasks           []Task
	Checks          []CheckRow
	Flows           []integration.Flow
	HasAuditsToTell bool
}

// A fleetView is the shards of an integration as the page shows them.
type fleetView struct {
	Fleet
	Line string
	More int
}

// HTML writes a board as one page that loads nothing. Its script only tells how old it is.
func HTML(w io.Writer, b *Board) error {
	v := view{Board: b, Now: b.Made, Curves: curves(b.Weeks), AuditLine: b.Audits.String(),
		HasAuditsToTell: b.Audits != plan.AuditCount{},
		Policy: "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
			"; base-uri 'none'; form-action 'none'",
		// Our own styles and scripts are not escaped: the policy holds hashes of their bytes.
		Style:  template.HTML("<style>" + style + "</style>"),    //nolint:gosec // our own
		Script: template.HTML("<script>" + script + "</script>")} //nolint:gosec // our own
	v.Tasks, v.MoreTasks = first(b.Tasks, maxTasks)
	v.Checks, v.MoreChecks = first(b.Checks, maxChecks)
	v.Flows, v.MoreFlows = first(b.Flows, maxFlows)
	var fleets []Fleet
	fleets, v.MoreFleets = first(b.Fleets, maxFleets)
	for _, g := range fleets {
		is := fleetView{Fleet: g, Line: summary(g.Shards)}
		is.Shards, is.More = first(g.Shards, maxShards)
		v.Fleets = append(v.Fleets, is)
	}
	for _, rung := range plan.Rungs() {
		if c, ok := b.Rungs[rung]; ok {
			v.RungLines = append(v.RungLines, fmt.Sprintf("%s: %v", rung, c))
		}
	}
	return page().Execute(w, v)
}

// first returns at most so many items, and how many more there are.
func first[T any](all []T, most int) ([]T, int) {
	n := min(len(all), most)
	return all[:n], len(all) - n
}

// hash returns the hash that allows a style or a script in a content security policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Views returns the parts of a board as JSON, by the names of their files.
func (b *Board) Views() map[string]any {
	type head struct {
		Version string    `json:"version"`
		Made    time.Time `json:"made"`
		Of      string    `json:"of,omitempty"`
	}
	h := head{Version, b.Made, b.Of}
	misses := slices.Clone(b.Misses)
	for i := range misses {
		if !b.HasReasons {
			misses[i].Finding = ""
		}
	}
	return map[string]any{
		"people.json": struct {
			head
			Title   string   `json:"title"`
			Tasks   []Task   `json:"tasks"`
			Unknown []string `json:"unknown"`
		}{h, b.Title, list(b.Tasks), list(b.Unknown)},
		"checks.json": struct {
			head
			Checks []CheckRow `json:"checks"`
		}{h, list(b.Checks)},
		"promotions.json": struct {
			head
			Flows []integration.Flow `json:"flows"`
		}{h, list(b.Flows)},
		"shards.json": struct {
			head
			Fleets []Fleet `json:"integrations"`
		}{h, list(b.Fleets)},
		"resources.json": struct {
			head
			Resources []Resources `json:"integrations"`
		}{h, list(b.Resources)},
		"audits.json": struct {
			head
			Total      plan.AuditCount               `json:"total"`
			UpperBound float64                       `json:"upper_bound"` // of the share of wrong skips; 1 if nobody knows
			Rungs      map[plan.Rung]plan.AuditCount `json:"rungs"`
			Misses     any                           `json:"misses"`
		}{h, b.Audits, b.Audits.UpperBound(), b.Rungs, list(misses)},
		"weeks.json": struct {
			head
			Weeks []Week `json:"weeks"`
		}{h, list(b.Weeks)},
	}
}

// list returns a list that is JSON as one, also if it is empty.
func list[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// WriteView writes a part of a board as indented JSON.
func WriteView(w io.Writer, part any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(part)
}

// summary counts shards by state.
func summary(shards []Shard) string {
	counts := map[string]int{}
	for _, s := range shards {
		counts[s.State]++
	}
	var parts []string
	for _, state := range []string{kindFails, kindUnknown, kindLate, kindWaits, inStep} {
		if n := counts[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return phrase.Count(len(shards), "shard") + ": " + strings.Join(parts, ", ")
}

// states returns counts by state as text.
func states(of map[string]int) string {
	var parts []string
	for _, s := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%d %s", of[s], report.Printable(s)))
	}
	return strings.Join(parts, ", ")
}

// when returns a time for people.
func when(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// clock returns a time for people: the time of day alone if it is of the day of the board.
func clock(now, t time.Time) string {
	if now.UTC().Format(time.DateOnly) == t.UTC().Format(time.DateOnly) {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// ago returns a time for people as how long ago it was.
func ago(now, t time.Time) string { return span(now.Sub(t)) + " ago" }

// opens returns when a wait ends.
func opens(now, t time.Time) string {
	if !t.After(now) {
		return "since " + when(t)
	}
	return "in " + span(t.Sub(now)) + ", " + when(t)
}

// span returns a duration for people.
func span(d time.Duration) string {
	switch d = max(d, 0); {
	case d < 2*time.Minute:
		return phrase.Count(int(d/time.Second), "second")
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return phrase.Count(int(d/(24*time.Hour)), "day")
}

// short returns the beginning of a commit.
func short(sha string) string { return report.Printable(fmt.Sprintf("%.12s", sha)) }

// word returns what a cell of a commit at a stage says.
func word(p integration.Passage) string {
	ran := ""
	if p.Ran > 0 {
		ran = " " + span(time.Duration(p.Ran)*time.Second)
	}
	switch p.State {
	case integration.NotYet:
		return "not yet"
	case integration.Live, integration.RanWell:
		return string(p.State) + ran
	case integration.Waits:
		if p.Code == "soak" {
			return "soaks"
		}
		return strings.TrimSpace("waits: " + report.Printable(p.Code))
	}
	return report.Printable(string(p.State))
}

// class returns the style of a state.
func class(state any) string {
	switch fmt.Sprint(state) {
	case inStep, string(integration.Live), string(integration.RanWell), "passed":
		return "ok"
	case kindFails, string(integration.Bad), string(integration.Declined), "failed":
		return "bad"
	case kindWaits, kindLate, kindUnknown, string(integration.Proposed), "not checked":
		return "wait"
	case string(integration.Verifying), string(integration.Wanted), "running":
		return "run"
	}
	return "no"
}
