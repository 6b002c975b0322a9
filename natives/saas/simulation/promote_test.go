package simulation

import (
	"time"

	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// A promoter opens merge requests for promotions.
type promoter interface {
	// wake tells that something may be different.
	wake()
	// look is one look at everything.
	promote()
}

// foreverAfter is how long a promotion that could be made is not made until it counts as one that
// waits for ever.
const foreverAfter = 7 * 24 * time.Hour

// question returns what decides about the promotion of a target.
func (w *world) question(t *target) promotion.Question {
	f := t.cell.file
	publisher := f.cells[0].targets[t.template]
	commits := f.repo.commits[max(0, len(f.repo.commits)-promotion.MaxCommits):]
	branch := make([]string, len(commits))
	for i, c := range commits {
		branch[len(commits)-1-i] = c
	}
	q := promotion.Question{
		Subject: promotion.Subject{Label: t.uid, Ref: t.ref, SoakTime: time.Duration(t.soakDays) * 24 * time.Hour,
			Schedule: t.schedule,
			Channels: []promotion.Channel{{Name: channel(t), Publishers: []string{publisher.uid}}}},
		Branches: [][]string{branch}, Logs: w.logs, Now: w.now, Last: t.asked,
	}
	if f.slo {
		q.Health.Breached = "availability"
	}
	return q
}

// observe notes since when something could be promoted, whoever does it, and returns the decision.
func (w *world) observe(t *target) promotion.Decision {
	d := promotion.Decide(w.question(t))
	switch _, waits := w.since[t]; {
	case d.Candidate == "": // it failed since, or somebody set a newer one
		delete(w.since, t)
	case !waits:
		w.since[t] = w.now
	}
	if !d.Opens.IsZero() && d.Opens.After(w.now) && !d.Opens.Equal(t.opens) {
		t.opens = d.Opens
		w.at(d.Opens, func() {
			w.observe(t)
			w.wake()
		})
	}
	return d
}

// lookAtPromotions counts what could be promoted for long.
func (w *world) lookAtPromotions() {
	for t, since := range w.since {
		if w.now.Sub(since) > foreverAfter {
			w.forever[t.uid] = true
		}
	}
}

// countConflicts counts merge requests of promotions that cannot be merged since main moved.
func (w *world) countConflicts(byPromotion bool) {
	for _, m := range w.Conflicting() {
		if w.conflicting[m.Head] {
			continue
		}
		w.conflicting[m.Head] = true
		if byPromotion {
			w.ownConflicts++
		} else {
			w.otherConflicts++
		}
	}
}

func meanTime(list []time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, d := range list {
		sum += d
	}
	return (sum / time.Duration(max(len(list), 1))).Round(time.Minute)
}
