package queue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/app-sre/prcheck/queue"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func ago(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }

// A said is a label event of a table: by whom, which label, how many minutes ago.
type saidLabel struct {
	by, label string
	ago       int
	isRemoval bool
}

func approvedBy(number int, labels []string, all ...saidLabel) queue.Request {
	r := queue.Request{Number: number, Head: "h", Labels: labels}
	for _, e := range all {
		r.Events = append(r.Events, queue.LabelEvent{Label: e.label, By: e.by, At: ago(e.ago), IsRemoval: e.isRemoval})
	}
	return r
}

// The time of an approval is that of the first label since which it is approved without a pause.
func TestTimeOfApproval(t *testing.T) {
	const low, high, lgtm = "bot/approved: low", "bot/approved: high", "lgtm"
	add := func(by, label string, ago int) saidLabel { return saidLabel{by, label, ago, false} }
	remove := func(label string, ago int) saidLabel { return saidLabel{"ann", label, ago, true} }
	all, ann := []string(nil), []string{"ann"}
	type events = []saidLabel
	for name, c := range map[string]struct {
		events events
		now    []string
		people []string
		want   int // minutes ago; -1 is not approved, -2 is at a time that nobody knows
		class  string
	}{
		"one label":            {events{add("ann", lgtm, 50)}, []string{lgtm}, all, 50, lgtm},
		"labelled again":       {events{add("ann", lgtm, 50), add("ann", lgtm, 5)}, []string{lgtm}, all, 50, lgtm},
		"a better label later": {events{add("ann", low, 50), add("ann", high, 5)}, []string{low, high}, all, 50, high},
		"replaced": {events{add("ann", low, 50), remove(low, 9),
			add("ann", high, 8)}, []string{high}, all, 50, high},
		"withdrawn, and again": {events{add("ann", low, 50), remove(low, 40),
			add("ann", low, 8)}, []string{low}, all, 8, low},
		"withdrawn":              {events{add("ann", low, 50), remove(low, 40)}, nil, all, -1, ""},
		"by one who may not":     {events{add("eve", low, 50)}, []string{low}, ann, -1, ""},
		"first by who may not":   {events{add("eve", low, 50), add("ann", low, 20)}, []string{low}, ann, 20, low},
		"better by who may not":  {events{add("ann", low, 50), add("eve", high, 20)}, []string{low, high}, ann, 50, low},
		"no event":               {nil, []string{low}, all, -2, low},
		"no event, few may":      {nil, []string{low}, ann, -1, ""},
		"removed, still a label": {events{add("ann", low, 50), remove(low, 40)}, []string{low}, all, -1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, ok := approvedBy(1, c.now, c.events...).Approval(c.people)
			if c.want == -1 || !ok {
				if ok != (c.want != -1) {
					t.Errorf("approved: %v", ok)
				}
				return
			}
			want := ago(c.want)
			if c.want == -2 {
				want = time.Time{}
			}
			if !a.Since.Equal(want) || queue.Classes[a.Class] != c.class {
				t.Errorf("got %s since %s, want %s since %s", queue.Classes[a.Class], a.Since, c.class, want)
			}
		})
	}
}

// A class ages by one every half hour, and is the best one after four hours. A clock that goes back ages nothing.
func TestAgeing(t *testing.T) {
	for waited, want := range map[int]int{-10: 8, 0: 8, 29: 8, 30: 7, 61: 6, 239: 1, 240: 0, 1000: 0} {
		if got := (queue.Approval{Class: 8, Since: ago(waited)}).Rank(noon); got != want {
			t.Errorf("after %d minutes: %d, want %d", waited, got, want)
		}
	}
	if got := (queue.Approval{Class: 5}).Rank(noon); got != 5 {
		t.Errorf("a time that nobody knows: %d", got)
	}
}

// The line is by aged class and time. One that is held keeps its place, and one that nobody approved is last.
func TestLine(t *testing.T) {
	critical, high := "bot/approved: critical", "bot/approved: high"
	line := queue.Line([]queue.Request{
		approvedBy(1, nil),
		approvedBy(2, []string{"lgtm"}, saidLabel{"ann", "lgtm", 20, false}),
		approvedBy(3, []string{"lgtm"}, saidLabel{"ann", "lgtm", 300, false}),
		approvedBy(4, []string{critical}, saidLabel{"ann", critical, 10, false}),
		approvedBy(5, []string{high, "bot/hold"}, saidLabel{"ann", high, 25, false}),
		approvedBy(6, []string{"lgtm", "rebase-error"}, saidLabel{"ann", "lgtm", 22, false}),
		approvedBy(7, []string{"lgtm"}),
	}, nil, noon)
	var got []int
	waits := map[int]string{}
	for _, p := range line {
		got = append(got, p.Number)
		waits[p.Number] = p.Waits.String()
	}
	if want := []int{3, 4, 5, 6, 2, 7, 1}; !slices.Equal(got, want) {
		t.Errorf("line %v, want %v", got, want)
	}
	for number, want := range map[int]string{1: "nobody who may approved it", 5: "held by bot/hold",
		6: "has the label rebase-error, which says that something went wrong", 2: ""} {
		if waits[number] != want {
			t.Errorf("!%d waits: %q, want %q", number, waits[number], want)
		}
	}
}

// A request whose delta began stays ahead of more urgent ones, in the order in which they began, as long as somebody
// approves it.
func TestBegun(t *testing.T) {
	critical := "bot/approved: critical"
	begun := func(r queue.Request, minutes int) queue.Request {
		r.Begun = ago(minutes)
		return r
	}
	line := queue.Line([]queue.Request{
		begun(approvedBy(1, nil), 9),
		approvedBy(2, []string{critical}, saidLabel{"ann", critical, 60, false}),
		begun(approvedBy(3, []string{"lgtm"}, saidLabel{"ann", "lgtm", 20, false}), 1),
		begun(approvedBy(4, []string{"lgtm"}, saidLabel{"ann", "lgtm", 10, false}), 3),
	}, nil, noon)
	var got []int
	for _, p := range line {
		got = append(got, p.Number)
	}
	if want := []int{4, 3, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("line %v, want %v", got, want)
	}
}

// What the forge says in a word that nobody knows holds a request; what it says while it finds out does not.
func TestWordsOfTheForge(t *testing.T) {
	for word, isReady := range map[string]bool{"": true, "mergeable": true, "checking": true, "need_rebase": true,
		"ci_must_pass": true, "draft_status": false, "discussions_not_resolved": false, "conflict": false,
		"a_word_of_next_year": false} {
		r := approvedBy(1, []string{"lgtm"})
		r.Status = word
		if got := queue.Line([]queue.Request{r}, nil, noon)[0]; got.IsReady() != isReady {
			t.Errorf("%q: ready %v, want %v", word, got.IsReady(), isReady)
		}
	}
}
