package promotion

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/saas"
)

// A noteCase is a config hash in the words of the cases.
type noteCase struct {
	Channel string
	Parent  string `json:"parent_saas"`
	Hash    string `json:"target_config_hash"`
}

func notesOf(cases []noteCase) []Note {
	var out []Note
	for _, c := range cases {
		out = append(out, Note{c.Channel, c.Parent, c.Hash})
	}
	return out
}

func dataOf(notes []Note) []saas.ChannelData { return Noted(nil, notes) }

// A headCase is the input of the area promotion_head.
type headCase struct {
	Ref        string     `json:"cur_ref"`
	Redeploy   bool       `json:"use_target_config_hash"`
	Hashes     []noteCase `json:"cur_hashes"`
	Publishers []struct {
		Channel, Publisher, Sha, Hash string
		Success                       bool
	}
	Blocked  []string   `json:"blocked_versions"`
	Hotfix   []string   `json:"hotfix_versions"`
	SoakDays int        `json:"soak_days"`
	CheckIns []*float64 `json:"check_in_ages_h"`
	Schedule string
	Breached bool `json:"slo_breached"`
}

func (c headCase) question() Question {
	q := Question{Rule: Head, Now: now, Logs: Logs{}, Subject: Subject{Ref: c.Ref, Redeploy: c.Redeploy,
		Data:    dataOf(notesOf(c.Hashes)),
		Blocked: c.Blocked, Hotfix: c.Hotfix, SoakTime: days(c.SoakDays), Schedule: c.Schedule}}
	if c.Breached {
		q.Health.Breached = "availability"
	}
	for i, p := range c.Publishers {
		at := slices.IndexFunc(q.Channels, func(ch Channel) bool { return ch.Name == p.Channel })
		if at < 0 {
			at = len(q.Channels)
			q.Channels = append(q.Channels, Channel{Name: p.Channel})
		}
		q.Channels[at].Publishers = append(q.Channels[at].Publishers, p.Publisher)
		r := Record{Success: p.Success, Saas: &p.Publisher}
		if p.Hash != "" {
			r.Hash = &p.Hash
		}
		if i < len(c.CheckIns) && c.CheckIns[i] != nil {
			r.CheckIn = ago(*c.CheckIns[i])
		}
		q.Logs[RecordPlace{p.Channel, p.Publisher}] = Log{Records: map[string]Record{p.Sha: r}}
		q.Branches = append(q.Branches, []string{p.Sha})
	}
	return q
}

func TestHeadCases(t *testing.T) {
	shared.Each(t, "promotion_head", func(t *testing.T, c struct {
		Input    headCase
		Expected struct {
			Ref    string     `json:"desired_ref"`
			Hashes []noteCase `json:"desired_hashes"`
		}
	}) {
		d := Decide(c.Input.question())
		if d.Ref != c.Expected.Ref || c.Expected.Hashes != nil && !slices.Equal(d.Data, notesOf(c.Expected.Hashes)) {
			t.Errorf("got %+v, want %+v", d, c.Expected)
		}
	})
}

func TestDiffCases(t *testing.T) {
	shared.Each(t, "promotion_diff", func(t *testing.T, c struct {
		Input struct {
			Ref    string     `json:"cur_ref"`
			Hashes []noteCase `json:"cur_hashes"`
			Want   string     `json:"desired_ref"`
			Wanted []noteCase `json:"desired_hashes"`
		}
		Expected struct {
			Diff bool `json:"has_diff"`
		}
	}) {
		if got := Differs(c.Input.Ref, notesOf(c.Input.Hashes), c.Input.Want,
			notesOf(c.Input.Wanted)); got != c.Expected.Diff {
			t.Errorf("got %t", got)
		}
	})
}

// A candidateCase is the input of the area candidate.
type candidateCase struct {
	Rule     string
	Commits  json.RawMessage
	P        []string `json:"commits_p"`
	Q        []string `json:"commits_q"`
	Current  string
	Hotfix   []string
	Blocked  []string
	Records  map[string]map[string][]any
	Channels map[string][]string
	Soak     string
	SoakH    float64 `json:"soak_h"`
	SLO      string
	History  []string
	Schedule string
}

// branches returns the commits of the publishers' branches.
func (c candidateCase) branches(t *testing.T) [][]string {
	t.Helper()
	var list []string
	var count int
	switch {
	case c.P != nil || c.Q != nil:
		return [][]string{c.P, c.Q}
	case json.Unmarshal(c.Commits, &count) == nil:
		for i := range count {
			list = append(list, fmt.Sprintf("commit-%d", count-i))
		}
	case json.Unmarshal(c.Commits, &list) != nil:
		t.Fatalf("got commits %s", c.Commits)
	}
	return [][]string{list}
}

// publishers returns the publishers that the records name, p if they name none.
func (c candidateCase) publishers() []string {
	names := map[string]bool{}
	for _, at := range c.Records {
		for p := range at {
			names[p] = true
		}
	}
	if c.Q != nil {
		names["p"], names["q"] = true, true
	}
	if len(names) == 0 {
		names["p"] = true
	}
	return sortedKeys(names)
}

// logs returns the records of a case. A commit that "ran 10h" was replaced by another one then.
func (c candidateCase) logs(t *testing.T, q Question) Logs {
	t.Helper()
	out := Logs{}
	for _, at := range q.places() {
		log := Log{Records: map[string]Record{}}
		for commit, by := range c.Records {
			is := by[at.UID]
			if is == nil {
				continue
			}
			age := is[1].(float64)
			log.Records[commit] = Record{Success: is[0] == "ok", CheckIn: ago(age)}
			if len(is) > 2 {
				ran, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(is[2].(string), "ran "), "h"), 64)
				if err != nil {
					t.Fatal(err)
				}
				log.Records["what replaced "+commit] = Record{Success: true, CheckIn: ago(age - ran)}
			}
		}
		out[at] = log
	}
	return out
}

func (c candidateCase) question(t *testing.T) Question {
	t.Helper()
	q := Question{Now: now, Branches: c.branches(t), Subject: Subject{Ref: c.Current, SoakTime: hours(c.SoakH),
		Hotfix: c.Hotfix, Blocked: c.Blocked, Schedule: c.Schedule}}
	var errs []error
	if c.Rule != "" {
		errs = append(errs, q.Rule.UnmarshalText([]byte(c.Rule)))
	}
	if c.Soak != "" {
		errs = append(errs, q.Soak.UnmarshalText([]byte(c.Soak)))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range sortedKeys(c.Channels) {
		q.Channels = append(q.Channels, Channel{name, c.Channels[name]})
	}
	if c.Channels == nil {
		q.Channels = []Channel{{"stage", c.publishers()}}
	}
	switch c.SLO {
	case "breached":
		q.Health.Breached = "availability"
	case "unknown":
		q.Health.Err = fmt.Errorf("no answer")
	}
	if n := len(c.History); n > 1 && strings.HasSuffix(c.History[n-1], " by a person") {
		now := strings.TrimSuffix(c.History[n-1], " by a person")
		q.Pin = Pin("", c.History[n-2], now, q.Branches)
	}
	q.Logs = c.logs(t, q)
	return q
}

func TestCandidateCases(t *testing.T) {
	shared.Each(t, "candidate", func(t *testing.T, c struct {
		Input    candidateCase
		Expected struct{ Ref, Told, Held string }
	}) {
		want := c.Expected.Ref
		if want == "keep" {
			want = c.Input.Current
		}
		d := Decide(c.Input.question(t))
		if d.Ref != want || !strings.Contains(d.Hold, c.Expected.Told) || !strings.Contains(d.Hold, c.Expected.Held) {
			t.Errorf("got %+v, want %+v", d, c.Expected)
		}
	})
}

func TestComponentsCases(t *testing.T) {
	shared.Each(t, "components", func(t *testing.T, c struct {
		Input    struct{ Subscribers map[string][]string }
		Expected struct {
			Components []Component
			Branches   []string
		}
	}) {
		got := Components(c.Input.Subscribers)
		var branches []string
		for _, comp := range got {
			branches = append(branches, comp.Branch())
		}
		if fmt.Sprint(got) != fmt.Sprint(c.Expected.Components) || !slices.Equal(branches, c.Expected.Branches) {
			t.Errorf("got %v, %q, want %+v", got, branches, c.Expected)
		}
	})
}
