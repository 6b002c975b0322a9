package promotion

import (
	"fmt"
	"slices"
	"time"

	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// Together decides about targets that are promoted together or not at all, by the questions and the decisions about
// each of them. They are promoted to commits that ran together at the publishers, at any moment, and that each target
// may have; the last such moment counts. A target that must wait lets all others wait.
func Together(name string, qs []Question, alone []Decision) []Decision {
	out := slices.Clone(alone)
	if set, ok := togetherAt(qs); ok {
		held := false
		for i, q := range qs {
			out[i] = q.to(set[i])
			held = held || out[i].Hold != ""
		}
		if !held {
			return out
		}
	}
	code := Freight
	if slices.ContainsFunc(out, func(d Decision) bool { return d.Code == Rejected }) {
		code = Rejected // a rejection is of the set
	}
	for i, d := range out {
		if d.Hold != "" || d.Candidate == "" {
			continue
		}
		out[i] = Decision{Ref: qs[i].Ref, Candidate: d.Candidate, Commit: d.Candidate, Code: code, Err: d.Err,
			Hold: fmt.Sprintf("it moves together with the other targets of the freight %s, and one of them must wait", name)}
	}
	return out
}

// to returns the decision to promote a target to a commit that it may have, unless something holds it now.
func (q Question) to(commit string) Decision {
	d := Decision{Ref: commit, Candidate: commit}
	d.Data, d.Err = q.notes(commit)
	if v := q.held(commit); !v.Open {
		return Decision{Ref: q.Ref, Candidate: commit, Hold: v.Reason, Code: v.Code, Commit: commit, Opens: v.Opens,
			Err: v.Err}
	}
	return d
}

// togetherAt returns the commits, one for each question, that ran together last and that each target may have.
func togetherAt(qs []Question) ([]string, bool) {
	var publishers [][]history
	var moments []time.Time
	for i := range qs {
		of := historiesOf(qs[i].Subject, qs[i].Logs)
		for _, h := range of {
			if h.err != nil {
				return nil, false
			}
			moments = append(moments, momentsOf(h)...)
		}
		publishers = append(publishers, of)
	}
	slices.SortFunc(moments, func(a, b time.Time) int { return b.Compare(a) })
	moments = slices.CompactFunc(moments, time.Time.Equal)
	may := map[string]bool{} // by position and commit
	for _, at := range moments {
		var set []string
		for i, q := range qs {
			c := ranAt(publishers[i], at)
			key := fmt.Sprint(i, " ", c)
			if _, asked := may[key]; !asked {
				may[key] = q.mayHave(c)
			}
			if !may[key] {
				break
			}
			set = append(set, c)
		}
		if len(set) == len(qs) {
			return set, true
		}
	}
	return nil, false
}

// momentsOf returns the moments at which what runs at a publisher may have changed.
func momentsOf(h history) []time.Time {
	var out []time.Time
	for _, r := range h.book.Runs {
		out = append(out, r.At)
		if r.Check != nil && r.Check.Result == ledger.Good {
			out = append(out, r.Check.Done)
		}
	}
	return out
}

// ranAt returns the commit that all of some publishers ran at a moment, "" for none.
func ranAt(of []history, at time.Time) string {
	out := ""
	for i, h := range of {
		c := h.book.RanAt(at)
		if c == "" || i > 0 && c != out {
			return ""
		}
		out = c
	}
	return out
}

// mayHave reports whether a target may be promoted to a commit.
func (q Question) mayHave(commit string) bool {
	if commit == "" || commit == q.Ref {
		return false
	}
	commits, problem := q.newer()
	return problem == "" && slices.Contains(commits, commit) && q.eligible(commit).Open
}
