package ci

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/app-sre/prcheck/internal/retry"
)

// A publisher publishes one note. It reads the notes of the merge request, makes the next
// change, and reads again, until there is nothing to change.
type publisher struct {
	api          noteAPI
	mergeRequest MergeRequest
	note         Note
	userID       int
	settle       time.Duration
	mask         func(string) string

	own       version  // the body to publish
	previous  version  // newest body of other publishers that is not newer than own; own shows the difference to it
	newest    version  // newest body of other publishers
	sent      []string // bodies that this publisher has written
	noteID    int      // id of the note when it was last read
	shownBody string   // body of the note when it was last read
	created   bool     // whether this publisher has created the note
	ownStored bool     // whether GitLab has stored own

	upToDate     bool      // whether the last look found nothing to change
	lookedAt     time.Time // when the last look began
	lookAgainAt  time.Time // when to look again after the last write
	mayLandUntil time.Time // until when GitLab may carry out a write that got no answer
	lastReadAt   time.Time // when the note was last read before mayLandUntil
}

// lookAndWrite reads the notes and makes the next change. After some errors it may succeed
// later.
func (p *publisher) lookAndWrite(ctx context.Context) error {
	p.upToDate, p.lookedAt = false, time.Now()
	found, err := p.findNotes(ctx)
	if err != nil {
		return retry.Permanent(fmt.Errorf("reading notes: %w", err))
	}
	if err := p.recordVersions(found...); err != nil {
		return err
	}
	if len(found) == 0 {
		return p.createNote(ctx)
	}
	p.noteID, p.shownBody = found[0].id, found[0].body
	if err := p.checkLateWrite(found[0]); err != nil {
		return err
	}
	if !p.mayStay(p.shownBody) {
		return p.editNote(ctx, found[0].id) // the next look handles the other notes
	}
	if len(found) > 1 {
		return p.removeOthers(ctx, found[1:])
	}
	p.upToDate = true
	return nil
}

// findNotes returns the notes of this tool, oldest first. If very long notes make a page too
// large, it reads smaller pages.
func (p *publisher) findNotes(ctx context.Context) ([]storedNote, error) {
	found, err := p.listOwnNotes(ctx, pageSize)
	if errors.Is(err, errTooLarge) {
		found, err = p.listOwnNotes(ctx, pageSize/10)
	}
	slices.SortFunc(found, func(a, b storedNote) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(found, func(a, b storedNote) bool { return a.id == b.id }), err
}

// The number of elements of a page, and the largest number of notes.
const (
	pageSize = 100
	maxNotes = 20_000 // GitLab has a limit of 5,000
)

// listOwnNotes returns the notes of this tool in pages of a size.
func (p *publisher) listOwnNotes(ctx context.Context, size int) ([]storedNote, error) {
	return readPages(ctx, maxNotes/size, func(ctx context.Context, page int) ([]storedNote, bool, error) {
		requestedAt := time.Now()
		all, more, err := p.api.notes(ctx, p.mergeRequest, page, size)
		all = slices.DeleteFunc(all, func(n storedNote) bool { return !p.isOwn(n) })
		for i := range all {
			all[i].requestedAt, all[i].receivedAt = requestedAt, time.Now()
		}
		return all, more, err
	})
}

// isOwn reports whether a note belongs to this tool.
func (p *publisher) isOwn(n storedNote) bool {
	return !n.system && n.author == p.userID && strings.HasPrefix(normalizeBody(n.body), p.note.Marker())
}

// recordVersions records the bodies that other publishers have written. If this changes
// previous, it renders the own body again.
func (p *publisher) recordVersions(found ...storedNote) error {
	before := p.previous.body
	for _, n := range found {
		v := p.version(n.body)
		if slices.ContainsFunc(p.sent, func(body string) bool { return sameBody(body, n.body) }) {
			continue
		}
		if p.own.body == "" { // own.generation is needed below
			if err := p.render(); err != nil {
				return err
			}
		}
		if v.generation > p.newest.generation {
			p.newest = v
		}
		if v.generation <= p.own.generation && (p.previous.body == "" || v.generation > p.previous.generation) {
			p.previous = v
		}
	}
	if p.own.body == "" || p.previous.body != before {
		return p.render()
	}
	return nil
}

// render renders the own body.
func (p *publisher) render() error {
	body, err := p.note.Body(p.previous.body)
	if err != nil {
		return retry.Permanent(err)
	}
	// GitLab would store another body otherwise
	body = strings.ReplaceAll(strings.ToValidUTF8(p.mask(body), "\uFFFD"), "\x00", "")
	p.own = p.version(body)
	switch {
	case !strings.HasPrefix(body, p.note.Marker()) || p.own.generation < 0:
		return retry.Permanent(errors.New("its body does not begin with its marker and generation"))
	case utf8.RuneCountInString(body) > MaxBody:
		return retry.Permanent(fmt.Errorf("its body has more than %d characters", MaxBody))
	}
	return nil
}

// mayStay reports whether the note may show a body, so that no write is needed.
func (p *publisher) mayStay(body string) bool {
	switch g := p.version(body).generation; {
	case g < max(p.own.generation, p.newest.generation):
		return false
	case g > p.own.generation:
		return true
	}
	return p.ownStored || sameBody(body, p.own.body)
}

// targetBody returns the body that the note is to show.
func (p *publisher) targetBody() string {
	if p.newest.generation > p.own.generation {
		return p.newest.body
	}
	return p.own.body
}

// errNotWatched reports that a write got no answer, and that the note could not be read often
// enough afterwards to see what the write may have overwritten.
var errNotWatched = retry.Permanent(errors.New("an edit was not answered, and then the note could not be read for so " +
	"long that it may show an older plan: run the job of the newest pipeline again"))

// checkLateWrite returns an error if the note was not read often enough while a write without
// an answer may land. Otherwise another publisher might write its note, find it settled and
// end, before this publisher has seen that note.
func (p *publisher) checkLateWrite(n storedNote) error {
	if p.mayLandUntil.IsZero() || !p.lastReadAt.IsZero() && p.lastReadAt.After(p.mayLandUntil) {
		return nil
	}
	before := p.lastReadAt
	if p.lastReadAt = n.requestedAt; !before.IsZero() && n.receivedAt.Sub(before) > max(p.settle, DefaultSettle) {
		return errNotWatched
	}
	return nil
}

// isSettled reports whether the note is up to date, and whether no write can land any more
// that this publisher would have to repair.
func (p *publisher) isSettled() bool {
	return p.upToDate && !p.lookedAt.Before(p.lookAgainAt) && !p.lookedAt.Before(p.mayLandUntil)
}

// timeToNextLook returns how long to wait until the next look. While a write may land the
// looks are more frequent, so that the publisher sees the notes of others.
func (p *publisher) timeToNextLook() time.Duration {
	if left := time.Until(p.mayLandUntil); left > 0 {
		return min(left, p.settle/2)
	}
	return max(time.Until(p.lookAgainAt), 0)
}

// outcome returns how publishing has changed the note.
func (p *publisher) outcome() Published {
	out := Published{ID: p.noteID, Body: p.shownBody, Change: Updated}
	switch {
	case p.version(p.shownBody).generation > p.own.generation:
		out.Change = Superseded
	case len(p.sent) == 0:
		out.Change = Untouched
	case p.created:
		out.Change = Created
	}
	return out
}

// createNote creates the note.
func (p *publisher) createNote(ctx context.Context) error {
	target, began := p.targetBody(), time.Now()
	var stored storedNote
	err := sendWithin(ctx, requestTimeout, func(ctx context.Context) (err error) {
		stored, err = p.api.createNote(ctx, p.mergeRequest, target)
		return err
	})
	if err == nil && stored.id == 0 {
		return retry.Permanent(errors.New("GitLab took its text for a command and made no note"))
	}
	p.created = p.created || p.noteID == 0
	return p.recordWrite("creating it", target, stored.body, began, err)
}

// errNoteRemoved reports that the note was removed after it was found.
var errNoteRemoved = errors.New("it was removed meanwhile")

// pauseAfterChange is the pause after another publisher has changed the note between two
// requests of this one.
const pauseAfterChange = time.Second

// editNote reads the note again and then writes it immediately, unless its body may stay now.
func (p *publisher) editNote(ctx context.Context, id int) error {
	var target, stored string
	began, sent := time.Now(), false
	err := sendWithin(ctx, editTime, func(ctx context.Context) error {
		now, err := p.api.note(ctx, p.mergeRequest, id)
		if err != nil {
			return err
		}
		if err := p.recordVersions(now); err != nil {
			return err
		}
		if p.mayStay(now.body) {
			return nil // another publisher has changed it
		}
		target, sent = p.targetBody(), true
		after, err := p.api.editNote(ctx, p.mergeRequest, id, target)
		stored = after.body
		return err
	})
	switch {
	case isNotFound(err):
		return errNoteRemoved
	case !sent && err != nil:
		return fmt.Errorf("reading it: %w", err)
	case !sent:
		p.lookAgainAt = time.Now().Add(pauseAfterChange)
		return nil
	}
	return p.recordWrite("editing it", target, stored, began, err)
}

// recordWrite records a write that succeeded or failed.
func (p *publisher) recordWrite(doing, target, stored string, began time.Time, err error) error {
	p.sent = append(p.sent, target)
	now := time.Now()
	p.lookAgainAt = now.Add(p.settle)
	if err == nil {
		p.sent = append(p.sent, stored)
		p.ownStored = p.ownStored || sameBody(target, p.own.body)
		return nil
	}
	if mayHaveHappened(err) {
		if p.mayLandUntil.Before(now) {
			p.lastReadAt = began
		}
		p.mayLandUntil = now.Add(lateSettlingTimes * p.settle)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// removeOthers removes the notes of this tool except the oldest one.
func (p *publisher) removeOthers(ctx context.Context, others []storedNote) error {
	for _, n := range others {
		err := repeat(ctx, requestTimeout, func(ctx context.Context) error {
			return p.api.removeNote(ctx, p.mergeRequest, n.id)
		})
		if err != nil && !isNotFound(err) {
			return retry.Permanent(fmt.Errorf("removing the second note %d: %w", n.id, err))
		}
	}
	p.lookAgainAt = time.Now().Add(p.settle)
	return nil
}
