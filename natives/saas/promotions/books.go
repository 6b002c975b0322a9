package promotions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// The ledger is where people, runs and loops meet. A loop notes what became of its merge requests before it decides,
// so that the decisions and the next loop read the same.

// errNoBucket says that nothing can be noted.
var errNoBucket = errors.New("the ledger cannot be written: this program reaches no bucket")

// enter changes the books of all targets of a subscriber. A change that changes nothing writes nothing.
func (w *work) enter(ctx context.Context, s *subscriber, change func(*ledger.Book) *ledger.Book) error {
	var errs []error
	for _, t := range s.targets {
		errs = append(errs, w.enterTarget(ctx, t, change))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if w.asker.books != nil {
		s.q.Own, s.q.OwnErr = promotion.OwnBook(ctx, w.asker.records, w.asker.books, s.target())
	}
	return nil
}

// enterTarget changes the book of one target.
func (w *work) enterTarget(ctx context.Context, t *saas.Target, change func(*ledger.Book) *ledger.Book) error {
	if w.asker.books == nil {
		return nil
	}
	was, err := w.asker.books.Of(ctx, t.UID(), t.Label())
	if err != nil {
		return err
	}
	if change(was).Same(was) || w.act == nil {
		return nil
	}
	if w.bucket == nil {
		if w.act.Bucket == nil {
			return errNoBucket
		}
		if w.bucket, err = w.act.Bucket(ctx, w.settings.Records); err != nil {
			return fmt.Errorf("writing the ledger: %w", err)
		}
	}
	is, err := ledger.Update(context.WithoutCancel(ctx), w.bucket, t.UID(), t.Label(),
		func(b *ledger.Book) (*ledger.Book, error) { return change(b), nil })
	if err == nil {
		w.asker.books.Now(is)
	}
	return err
}

// hear notes what people did with merge requests since the last loop: they merged or closed them, or opened them
// again, or wrote a command. A merge request of which that cannot be noted is left alone.
func (w *work) hear(ctx context.Context) {
	w.past, w.deaf = map[string][]services.MergeRequest{}, map[string]error{}
	for _, branch := range w.branchesToHear() {
		past, err := w.forge.Past(ctx, branch)
		w.past[branch] = past
		for _, p := range past {
			err = errors.Join(err, w.hearPast(ctx, p))
		}
		if w.deaf[branch] = err; err == nil && !w.isBranch(branch) {
			w.deaf[branch] = w.remember(ctx, branch, memory{}) // of a stage that is gone
		}
	}
	for _, branch := range slices.Sorted(maps.Keys(w.open)) {
		if err := w.hearOpen(ctx, branch, w.open[branch]); err != nil {
			w.deaf[branch] = err
		}
	}
}

// isBranch reports whether a component has a branch.
func (w *work) isBranch(branch string) bool {
	return slices.ContainsFunc(w.components, func(c *component) bool { return c.branch == branch })
}

// hearOpen notes that a merge request is open, and what people wrote there.
func (w *work) hearOpen(ctx context.Context, branch string, m *services.MergeRequest) error {
	b, ok := readBlock(m.Description)
	if !ok {
		return nil
	}
	for _, e := range b.Entries {
		s := w.subscriberOf(e)
		if s == nil {
			continue
		}
		if err := w.enter(ctx, s, func(b *ledger.Book) *ledger.Book { return b.Open(m.Number, e.Ref, w.now) }); err != nil {
			return err
		}
	}
	return w.hearComments(ctx, branch, m)
}

// branchesToHear returns the branches whose merge request was open when the last loop ended, and is not any more. A
// branch that an earlier version named by its files alone is among them.
func (w *work) branchesToHear() []string {
	var out []string
	for _, branch := range slices.Sorted(maps.Keys(w.remembered)) {
		if w.open[branch] == nil && w.remembered[branch].Number != 0 {
			out = append(out, branch)
		}
	}
	return out
}

// hearPast notes how a merge request ended.
func (w *work) hearPast(ctx context.Context, p services.MergeRequest) error {
	b, ok := readBlock(p.Description)
	if !ok || p.State == services.MergeOpen || p.State == services.MergeClosed && p.ClosedByUs {
		return nil
	}
	for _, e := range b.Entries {
		s := w.subscriberOf(e)
		if s == nil || w.isNotes(s, e) {
			continue
		}
		err := w.enter(ctx, s, func(b *ledger.Book) *ledger.Book {
			if p.State == services.MergeDone {
				return b.MergedBy(p.Number, e.Ref, p.Merged)
			}
			return b.Closed(p.Number, e.Ref, p.ClosedBy, latest(p.Closed, p.Opened))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// isNotes reports whether an entry only notes the configuration of a publisher: the commit is the one that is there.
func (w *work) isNotes(s *subscriber, e entry) bool {
	return e.Ref == s.target().Ref && len(e.Notes) > 0
}

// commandPrefix begins a comment that is a command.
const commandPrefix = "/saas "

// hearComments takes the commands that people wrote since the last loop.
func (w *work) hearComments(ctx context.Context, branch string, m *services.MergeRequest) error {
	listener, ok := w.forge.(services.Listener)
	if !ok {
		return nil
	}
	all, err := listener.Said(ctx, m.Number)
	if err != nil {
		return err
	}
	memory := w.remembered[branch]
	for _, c := range all {
		if c.ID <= memory.Comment {
			continue
		}
		memory.Comment = c.ID
		text, is := strings.CutPrefix(strings.TrimSpace(c.Body), commandPrefix)
		if !is || c.Edited {
			continue // nobody knows who edited it
		}
		answer, err := w.obey(ctx, text, c.By, c.At)
		if err != nil {
			return err
		}
		w.say(fmt.Sprintf("!%d %s", m.Number, answer))
	}
	return w.remember(ctx, branch, memory)
}

// obey does what a command says, or says why not.
func (w *work) obey(ctx context.Context, text, who string, at time.Time) (answer string, err error) {
	c, err := ledger.ParseCommand(text)
	if err != nil {
		return "refused: " + err.Error(), nil //nolint:nilerr // it is told
	}
	if c.Commit != "" && !saas.IsCommit(c.Commit) {
		return fmt.Sprintf("refused: %.80q is no full sha of a commit", c.Commit), nil
	}
	c.Who, c.At = who, at
	targets := w.model.Called(c.Target)
	if len(targets) == 0 {
		return fmt.Sprintf("refused: no target is called %.80q", c.Target), nil
	}
	if n := len(w.model.Places(targets)); n > 1 {
		return fmt.Sprintf("refused: %d targets are called %.80q; say SAAS/TEMPLATE/ENVIRONMENT", n, c.Target), nil
	}
	refused := ""
	for _, t := range targets {
		ground := ledger.Ground{May: w.settings.Speakers(t), Ref: t.Ref,
			Ran: func(commit string) bool { return w.asker.ranAt(ctx, t, commit) }}
		err := w.enterTarget(ctx, t, func(b *ledger.Book) *ledger.Book {
			after, why := ledger.Apply(b, c, ground)
			refused = why
			return after
		})
		if err != nil {
			return "", err
		}
	}
	if refused != "" {
		return fmt.Sprintf("refused %s of %s: %s", text, who, refused), nil
	}
	return fmt.Sprintf("%s by %s", text, who), nil
}

// ranAt reports whether a publisher of a target ran a commit well.
func (a *asker) ranAt(ctx context.Context, t *saas.Target, commit string) bool {
	if t.Promotion == nil || a.records == nil {
		return false
	}
	for _, c := range t.Promotion.Subscribe {
		for _, p := range a.model.Publishers(c) {
			if b, err := a.books.Of(ctx, p.UID(), p.Label()); err == nil && b.Ran(commit) {
				return true
			}
			log := a.records.Log(ctx, promotion.RecordPlace{Channel: c, UID: p.UID()})
			if r, ok := log.Records[commit]; ok && r.Succeeded() {
				return true
			}
		}
	}
	return false
}

// subscriberOf returns the subscriber that an entry of a merge request is about, nil if it is gone.
func (w *work) subscriberOf(e entry) *subscriber {
	if w.byPlace == nil {
		w.byPlace = map[[4]string][]*subscriber{}
		for _, s := range w.all {
			at := s.entry(w.settings, promotion.Decision{}).place()
			w.byPlace[at] = append(w.byPlace[at], s)
		}
	}
	for _, s := range w.byPlace[e.place()] {
		if e.isSame(s.entry(w.settings, promotion.Decision{})) {
			return s
		}
	}
	return nil
}

// place returns what most entries of other targets do not have in common with an entry.
func (e entry) place() [4]string { return [4]string{e.File, e.Template, e.Namespace, e.Name} }

// note notes what the decision of a subscriber rests on: which commit the data have, and the order of the commits of
// its publishers.
func (w *work) note(ctx context.Context, s *subscriber) error {
	if !s.asked || s.q.Own == nil {
		return nil
	}
	undid := ""
	if was := w.seen[s.key]; s.q.Pin != was.Pin {
		undid = s.q.Pin
	}
	own := s.q.Own
	err := w.enter(ctx, s, func(b *ledger.Book) *ledger.Book {
		if len(b.Runs) == 0 && b.UID == own.UID {
			b = b.Together(own.Runs)
		}
		return b.At(s.q.Ref, undid, w.now).Along(s.q.Branches...)
	})
	for _, p := range w.asker.publishers(s.target()) {
		errP := w.enterTarget(ctx, p, func(b *ledger.Book) *ledger.Book { return b.Along(s.q.Branches...) })
		err = errors.Join(err, errP)
	}
	return err
}

// propose notes what a merge request proposes.
func (w *work) propose(ctx context.Context, k *keeper) error {
	var errs []error
	for _, e := range k.shows {
		s := w.subscriberOf(e)
		if s == nil || s.q.Own == nil || w.isNotes(s, e) {
			continue
		}
		errs = append(errs, w.enter(ctx, s, func(b *ledger.Book) *ledger.Book {
			b = b.Say(ledger.Entry{At: w.now, Verb: ledger.Proposed, Commit: e.Ref, Number: k.memory.Number})
			if s.d.Back && s.d.Ref == e.Ref {
				b = b.Say(ledger.Entry{At: w.now, Verb: ledger.Back, Commit: e.Ref, Number: k.memory.Number,
					Why: "instead of " + s.q.Ref})
			}
			return b
		}))
	}
	for _, r := range k.rejected {
		s := w.subscriberOf(r.entry)
		if s == nil || w.isNotes(s, r.entry) {
			continue
		}
		errs = append(errs, w.enter(ctx, s, func(b *ledger.Book) *ledger.Book {
			return b.Closed(r.number, r.Ref, r.who, latest(r.at, time.Time{}))
		}))
	}
	return errors.Join(errs...)
}

// Obeys implements [integration.Obeyer].
func (native) Obeys() {}

// CheckWord returns what is wrong with a command, whoever gives it.
func CheckWord(text string) error {
	_, err := ledger.ParseCommand(text)
	return err
}

// obey does what a person says by the program instead of a merge request. Without actors it only tells what would be.
func (n native) obey(ctx context.Context, env integration.Environment, act *integration.Actors) error {
	w, err := n.read(ctx, env)
	if err != nil {
		return nothingDone(err)
	}
	if w.settings.Words == saas.WordsInComments {
		return nothingDone(integration.Failure(integration.FailureOfConfig, errors.New("the settings take words by comments "+
			"alone: write it into the merge request of the promotion, after /saas")))
	}
	w.act = act
	w.asker = newAsker(ctx, w.services, w.env, w.settings, w.model, w.all)
	if w.asker.books == nil {
		return nothingDone(fmt.Errorf("the ledger cannot be read: %w", w.asker.noLogs))
	}
	answer, err := w.obey(ctx, env.Approve.Word.Text, env.Approve.Word.Who, w.now)
	if err != nil {
		return nothingDone(err)
	}
	w.say(answer)
	if strings.HasPrefix(answer, "refused") {
		return errors.New(answer)
	}
	return nil
}
