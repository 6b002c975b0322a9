package ci

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

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
