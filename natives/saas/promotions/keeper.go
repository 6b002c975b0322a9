package promotions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/promotion"
)

// maxCommits is how often a commit is tried if its files change on main at the same time.
const maxCommits = 3

// A keeper keeps the merge request of one component.
type keeper struct {
	settings ownSettings
	forge    services.ForgeWriter
	now      time.Time
	mainHead string // "" if it is not known

	branch string
	head   string                 // of the branch, "" if there is none
	open   *services.MergeRequest // nil if there is none
	wants  []entry
	memory memory

	did    []string       // what was written, in order
	hold   string         // why the merge request is not what is wanted, for people
	code   promotion.Code // the same in one word; "" is checks
	opens  time.Time      // when that ends; zero if nobody knows
	merged time.Duration
	again  bool // the checks of what is shown are to run once more
	// dropped are the targets that cannot be promoted. The others go on.
	dropped []error
	// halves are what goes on in two merge requests, since its checks failed together.
	halves [][]entry
	// replaced tells that what is shown goes on in other merge requests.
	replaced bool
	// past are the merge requests of the branch, if they were asked.
	past []services.MergeRequest
	// forbids reports whether the closing of a merge request stands against an entry; nil if it always does.
	forbids func(number int, e entry) bool
	// rejected are the entries that people do not want, and shows those that the merge request has now.
	rejected []rejection
	shows    []entry
	// background returns what people may want to know about an entry, in lines of Markdown; nil if there is nothing.
	background func(e entry) []string
	// reasons are why what is shown is not wanted any more, for people.
	reasons []string
}

// errMoved says that files changed while a merge request was made, again and again.
var errMoved = errors.New("its files change all the time")

// keep makes the merge request what it is to be. An error says that it may be only half so; the
// next loop goes on.
func (k *keeper) keep(ctx context.Context) error {
	if err := k.look(ctx); err != nil {
		return err
	}
	entries := k.choose()
	if k.halves != nil {
		return nil
	}
	if err := k.tellFailure(ctx, entries); err != nil {
		return err
	}
	for range maxCommits {
		r, err := k.render(ctx, entries)
		if err != nil {
			return err
		}
		k.dropped = r.dropped
		if len(r.moved) > 0 {
			k.hold, k.code = r.moved[0], promotion.Queued
		}
		if entries, err = k.without(ctx, r.entries); err != nil {
			return err
		}
		if len(entries) < len(r.entries) {
			if r, err = k.render(ctx, entries); err != nil {
				return err
			}
		}
		if len(r.changes) == 0 {
			if len(k.rejected) > 0 {
				return nil // the branch stays, so that the merge request can be opened again
			}
			if !k.replaced && k.open != nil && (k.hold != "" || len(r.dropped) > 0) {
				return nil // it is not known that nothing is wanted
			}
			return k.drop(ctx)
		}
		if err = k.show(ctx, r); !errors.Is(err, services.ErrMoved) {
			return err
		}
	}
	return errMoved
}

// look notes what became of the merge request that was open last, and of its checks.
func (k *keeper) look(ctx context.Context) error {
	m := &k.memory
	if !slices.Contains(k.settings.Retry, m.Retried) {
		m.Retried = ""
	}
	if k.open != nil {
		m.Number, m.Opened = k.open.Number, k.open.Opened
		if k.head == m.Pushed && k.open.Head == k.head && k.open.Checks == services.ChecksFailed {
			k.fail()
		}
		return nil
	}
	if m.Number == 0 {
		return nil
	}
	past, err := k.ended(ctx)
	if err != nil {
		return err
	}
	for _, p := range past {
		if p.Number == m.Number && p.State == services.MergeDone && !p.Merged.IsZero() {
			k.merged = p.Merged.Sub(p.Opened)
		}
		if p.Number == m.Number && p.State == services.MergeClosed && !p.ClosedByUs {
			k.closedByPerson(p)
		}
	}
	m.Number, m.Opened = 0, time.Time{}
	return nil
}

// choose returns the entries to try. Those whose checks failed together become halves. One that failed alone is
// left out, unless its merge request is open: people look at that.
func (k *keeper) choose() []entry {
	failed := func(e []entry) bool {
		digest := contentDigest(e)
		at, known := k.memory.failedAt(digest)
		return known && !k.isOver(at) && !slices.Contains(k.settings.Retry, digest)
	}
	var good, bad []entry
	for _, e := range k.wants {
		if failed([]entry{e}) {
			bad = append(bad, e)
		} else {
			good = append(good, e)
		}
	}
	for _, e := range bad {
		k.hold = fmt.Sprintf("the checks of %s at %.12s failed; it is held until something newer can be promoted%s, or the "+
			"settings name %s under retry", e.label, e.Ref, k.until(e), contentDigest([]entry{e}))
		if at, _ := k.memory.failedAt(contentDigest([]entry{e})); k.settings.RetryAfter > 0 {
			k.opens = at.Add(k.settings.RetryAfter)
		}
	}
	if len(good) == 0 && len(bad) > 0 && k.open != nil && k.memory.Content == contentDigest(bad[:1]) {
		return bad[:1]
	}
	if len(good) > 1 && failed(good) {
		half := (len(good) + 1) / 2
		k.halves = [][]entry{good[:half], good[half:]}
		return nil
	}
	return good
}

// show makes the branch and the merge request show a rendering.
func (k *keeper) show(ctx context.Context, r rendering) error {
	digest := ""
	if k.head != "" {
		is, ours, err := k.isOurs(ctx)
		switch {
		case err != nil:
			return err
		case !ours:
			return k.leave(ctx)
		}
		digest = is
		k.memory.Pushed, k.memory.Rendered = k.head, digest
	}
	if k.open == nil {
		past, err := k.ended(ctx)
		if err != nil {
			return err
		}
		for _, p := range past {
			if p.State == services.MergeOpen {
				k.code = promotion.Queued
				k.hold = fmt.Sprintf("somebody else opened the merge request !%d of this branch", p.Number)
				return nil
			}
		}
	}
	text := k.describe(r.entries)
	pushed := k.head == "" || k.again && r.content == k.memory.Content || digest != r.digest ||
		k.open != nil && k.open.Conflicts && (k.mainHead == "" || k.mainHead != k.memory.Base)
	if pushed {
		if err := k.push(ctx, r, text); err != nil {
			return err
		}
	}
	k.memory.Content, k.shows = r.content, r.entries
	return k.present(ctx, text, r.content, pushed)
}

// push makes the branch one commit on main, unless somebody committed to it since it was read.
func (k *keeper) push(ctx context.Context, r rendering, text services.MergeText) error {
	message := text.Title + "\n\n" + blockOf(r.entries) + "\n"
	sha, err := k.forge.Commit(ctx, services.ForgeCommit{Branch: k.branch, Was: k.head, Start: k.settings.Branch,
		Message: message, Changes: r.changes})
	if err != nil {
		return err
	}
	k.did = append(k.did, "commit")
	k.head = sha
	k.memory.Pushed, k.memory.At, k.memory.Base, k.memory.Rendered, k.memory.Content = sha, k.now, k.mainHead, r.digest,
		r.content
	return nil
}

// present opens the merge request, or brings its text up to date, and asks for its merge after a
// push.
func (k *keeper) present(ctx context.Context, text services.MergeText, content string, pushed bool) error {
	armed := false
	if k.open == nil {
		number, err := k.forge.Open(ctx, text)
		if err != nil {
			return err
		}
		k.did = append(k.did, "open")
		k.memory.Number, k.memory.Opened = number, k.now
		pushed = true
	} else {
		armed = k.open.Armed
		if b, ok := readBlock(k.open.Description); !ok || b.Content != content {
			if err := k.forge.Describe(ctx, k.open.Number, text); err != nil {
				return err
			}
			k.did = append(k.did, "describe")
		}
	}
	if pushed && k.settings.Note != "" {
		if err := k.forge.Note(ctx, k.memory.Number, k.settings.Note); err != nil {
			return err
		}
		k.did = append(k.did, "note")
	}
	if k.settings.AutoMerge && (pushed || !armed) {
		return k.arm(ctx)
	}
	return nil
}

// arm lets the forge merge. A forge that refuses, since approvals are missing, is asked again in
// the next loop.
func (k *keeper) arm(ctx context.Context) error {
	if err := k.forge.Arm(ctx, k.memory.Number, k.head); err != nil {
		k.hold, k.code = "the forge does not merge it yet: "+err.Error(), promotion.Queued
		return nil //nolint:nilerr // it is told
	}
	k.did = append(k.did, "arm")
	return nil
}

// leave leaves a branch alone on which somebody else committed, and says so once.
func (k *keeper) leave(ctx context.Context) error {
	k.hold = fmt.Sprintf("somebody committed to the branch %s, so it is not changed", k.branch)
	k.code = promotion.Queued
	if k.open == nil || k.memory.Noted == k.head {
		return nil
	}
	const text = "Somebody committed to this branch, so it is not kept up to date any more. " +
		"Merge it, or remove the commit, or close the merge request and delete the branch: then it goes on by itself."
	if err := k.forge.Note(ctx, k.open.Number, text); err != nil {
		return err
	}
	k.did = append(k.did, "note")
	k.memory.Noted = k.head
	return nil
}

// drop closes the merge request and deletes the branch, since nothing is to be promoted.
func (k *keeper) drop(ctx context.Context) error {
	if k.head != "" {
		switch _, ours, err := k.isOurs(ctx); {
		case err != nil:
			return err
		case !ours:
			return k.leave(ctx)
		}
	}
	if k.open != nil {
		text := "Nothing is to be promoted here any more."
		if len(k.reasons) > 0 {
			text += "\n\n- " + strings.Join(k.reasons, "\n- ")
		}
		if k.replaced {
			text = "The checks failed for several targets together, so each half of them has a merge request of its own by now."
		}
		if err := k.forge.Note(ctx, k.open.Number, text); err != nil {
			return err
		}
		k.did = append(k.did, "note")
		if err := k.forge.Close(ctx, k.open.Number); err != nil {
			return err
		}
		k.did = append(k.did, "close")
		k.memory.Number, k.memory.Opened = 0, time.Time{}
	}
	if k.head == "" {
		return nil
	}
	if keeps, err := k.mayOpenAgain(ctx); err != nil || keeps {
		return err
	}
	if err := k.forge.DeleteBranch(ctx, k.branch, k.head); err != nil {
		return err
	}
	k.did = append(k.did, "delete branch")
	k.head, k.memory.Pushed, k.memory.Rendered = "", "", ""
	return nil
}

// fail notes that the checks of what is shown failed. Checks may fail by accident, so that after
// some time the same content is tried once more, and at once if the settings name it.
func (k *keeper) fail() {
	m := &k.memory
	at, known := m.failedAt(m.Content)
	isNamed := slices.Contains(k.settings.Retry, m.Content)
	switch {
	case isNamed && m.Retried != m.Content:
		m.Retried = m.Content
	case !known || !k.isOver(at):
		m.fail(m.Content, k.now)
		return
	}
	m.forgive(m.Content)
	k.again = true
}

// tellFailure says once, in the merge request of a single target whose checks failed, what it waits for.
func (k *keeper) tellFailure(ctx context.Context, entries []entry) error {
	m := &k.memory
	isShown := len(entries) == 1 && k.open != nil && k.head == m.Pushed && contentDigest(entries) == m.Content
	if _, failed := m.failedAt(m.Content); !isShown || !failed || k.hold == "" || m.Noted == k.head {
		return nil
	}
	if err := k.forge.Note(ctx, k.open.Number, k.hold); err != nil {
		return err
	}
	k.did = append(k.did, "note")
	m.Noted = k.head
	return nil
}

// isOver reports whether what failed may be tried once more.
func (k *keeper) isOver(failed time.Time) bool {
	return k.settings.RetryAfter > 0 && !k.now.Before(failed.Add(k.settings.RetryAfter))
}

// until says when an entry whose checks failed is tried once more.
func (k *keeper) until(e entry) string {
	at, _ := k.memory.failedAt(contentDigest([]entry{e}))
	if k.settings.RetryAfter == 0 {
		return ""
	}
	return ", until " + at.Add(k.settings.RetryAfter).UTC().Format("2006-01-02 15:04 UTC")
}
