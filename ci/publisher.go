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

// A publisher brings one note to a merge request. It looks, does what is missing,
// and looks again, until there is nothing to do.
type publisher struct {
	api    noteAPI
	at     MergeRequest
	note   Note
	author int
	settle time.Duration
	mask   func(string) string

	own      version // what it is to show
	previous version // the newest of others that is not newer, for the difference
	newest   version // the newest of others
	sent     []string
	id       int    // of the note, at the last look
	shown    string // by it
	created  bool
	wrote    bool // our own body was stored

	quiet  bool      // the last look found nothing to do
	looked time.Time // when it began
	due    time.Time // when to look again after the last write
	late   time.Time // until when a write may land
	asked  time.Time // when the note was last read while one may
}

// round looks once and does what is missing. An error may be passing.
func (p *publisher) round(ctx context.Context) error {
	p.quiet, p.looked = false, time.Now()
	found, err := p.look(ctx)
	if err != nil {
		return retry.Permanent(fmt.Errorf("reading notes: %w", err))
	}
	if err := p.learn(found...); err != nil {
		return err
	}
	if len(found) == 0 {
		return p.create(ctx)
	}
	p.id, p.shown = found[0].id, found[0].body
	if err := p.watch(found[0]); err != nil {
		return err
	}
	if !p.satisfies(p.shown) {
		return p.edit(ctx, found[0].id) // the others are for the next look
	}
	if len(found) > 1 {
		return p.remove(ctx, found[1:])
	}
	p.quiet = true
	return nil
}

// look returns the notes of this tool, the oldest first. Very long notes of others
// may be too large for one answer, so that fewer are asked for at once.
func (p *publisher) look(ctx context.Context) ([]note, error) {
	found, err := p.list(ctx, pageSize)
	if errors.Is(err, errTooLarge) {
		found, err = p.list(ctx, pageSize/10)
	}
	slices.SortFunc(found, func(a, b note) int { return cmp.Compare(a.id, b.id) })
	return slices.CompactFunc(found, func(a, b note) bool { return a.id == b.id }), err
}

const (
	pageSize = 100
	maxNotes = 20_000 // GitLab has a limit of 5,000
)

func (p *publisher) list(ctx context.Context, size int) ([]note, error) {
	return pages(ctx, maxNotes/size, func(ctx context.Context, page int) ([]note, bool, error) {
		asked := time.Now()
		all, more, err := p.api.notes(ctx, p.at, page, size)
		all = slices.DeleteFunc(all, func(n note) bool { return !p.mine(n) })
		for i := range all {
			all[i].asked, all[i].told = asked, time.Now()
		}
		return all, more, err
	})
}

func (p *publisher) mine(n note) bool {
	return !n.system && n.author == p.author && strings.HasPrefix(plain(n.body), p.note.Marker())
}

// learn takes note of what others show, and renders our own body again if that
// changes what it is compared with.
func (p *publisher) learn(found ...note) error {
	before := p.previous.body
	for _, n := range found {
		v := p.version(n.body)
		if slices.ContainsFunc(p.sent, func(body string) bool { return same(body, n.body) }) {
			continue
		}
		if p.own.body == "" { // to know our generation
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

func (p *publisher) render() error {
	body, err := p.note.Body(p.previous.body)
	if err != nil {
		return retry.Permanent(err)
	}
	body = strings.ReplaceAll(strings.ToValidUTF8(p.mask(body), "\uFFFD"), "\x00", "") // or GitLab would store another
	p.own = p.version(body)
	switch {
	case !strings.HasPrefix(body, p.note.Marker()) || p.own.generation < 0:
		return retry.Permanent(errors.New("its body does not begin with its marker and generation"))
	case utf8.RuneCountInString(body) > MaxBody:
		return retry.Permanent(fmt.Errorf("its body has more than %d characters", MaxBody))
	}
	return nil
}

// satisfies tells whether a body may stay.
func (p *publisher) satisfies(body string) bool {
	switch g := p.version(body).generation; {
	case g < max(p.own.generation, p.newest.generation):
		return false
	case g > p.own.generation:
		return true
	}
	return p.wrote || same(body, p.own.body)
}

// target is what the note is to show.
func (p *publisher) target() string {
	if p.newest.generation > p.own.generation {
		return p.newest.body
	}
	return p.own.body
}

func (p *publisher) create(ctx context.Context) error {
	target, began := p.target(), time.Now()
	var stored note
	err := sendWithin(ctx, requestTimeout, func(ctx context.Context) (err error) {
		stored, err = p.api.createNote(ctx, p.at, target)
		return err
	})
	if err == nil && stored.id == 0 {
		return retry.Permanent(errors.New("GitLab took it for a command and made no note"))
	}
	p.created = p.created || p.id == 0
	return p.written("creating it", target, stored.body, began, err)
}

// errGone is a note that was there a moment ago.
var errGone = errors.New("it was removed meanwhile")

// glance is how long to wait after a note changed under our eyes.
const glance = time.Second

// edit reads the note once more, and writes at once if it is still to be written.
func (p *publisher) edit(ctx context.Context, id int) error {
	var target, stored string
	began, sent := time.Now(), false
	err := sendWithin(ctx, editTime, func(ctx context.Context) error {
		now, err := p.api.note(ctx, p.at, id)
		if err != nil {
			return err
		}
		if err := p.learn(now); err != nil {
			return err
		}
		if p.satisfies(now.body) {
			return nil // it changed meanwhile
		}
		target, sent = p.target(), true
		after, err := p.api.editNote(ctx, p.at, id, target)
		stored = after.body
		return err
	})
	switch {
	case notFound(err):
		return errGone
	case !sent && err != nil:
		return fmt.Errorf("reading it: %w", err)
	case !sent:
		p.due = time.Now().Add(glance)
		return nil
	}
	return p.written("editing it", target, stored, began, err)
}

// written takes note of a write, whatever became of it.
func (p *publisher) written(doing, target, stored string, began time.Time, err error) error {
	p.sent = append(p.sent, target)
	now := time.Now()
	p.due = now.Add(p.settle)
	if err == nil {
		p.sent = append(p.sent, stored)
		p.wrote = p.wrote || same(target, p.own.body)
		return nil
	}
	if mayHaveHappened(err) {
		if p.late.Before(now) {
			p.asked = began
		}
		p.late = now.Add(lateSettles * p.settle)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

func (p *publisher) remove(ctx context.Context, others []note) error {
	for _, n := range others {
		err := repeat(ctx, requestTimeout, func(ctx context.Context) error { return p.api.removeNote(ctx, p.at, n.id) })
		if err != nil && !notFound(err) {
			return retry.Permanent(fmt.Errorf("removing the second note %d: %w", n.id, err))
		}
	}
	p.due = time.Now().Add(p.settle)
	return nil
}

// errBlind is a write without an answer after which the note could not be read often
// enough to see what it may have overwritten.
var errBlind = retry.Permanent(errors.New("an edit was not answered, and then the note could not be read for so long that it may show an older plan: run the job of the newest pipeline again"))

// watch sees to it that while a write may land nobody can write a note, find it
// settled, and not be seen here before.
func (p *publisher) watch(n note) error {
	if p.late.IsZero() || !p.asked.IsZero() && p.asked.After(p.late) {
		return nil
	}
	before := p.asked
	if p.asked = n.asked; !before.IsZero() && n.told.Sub(before) > max(p.settle, DefaultSettle) {
		return errBlind
	}
	return nil
}

// settled tells whether nothing is left to do, and nothing can come any more that
// this publisher would have to repair.
func (p *publisher) settled() bool {
	return p.quiet && !p.looked.Before(p.due) && !p.looked.Before(p.late)
}

// wait returns how long to wait until the next look. While a write may still land
// the looks are closer, so that what others write meanwhile is seen.
func (p *publisher) wait() time.Duration {
	if left := time.Until(p.late); left > 0 {
		return min(left, p.settle/2)
	}
	return max(time.Until(p.due), 0)
}

// published tells what became of the note.
func (p *publisher) published() Published {
	out := Published{ID: p.id, Body: p.shown, Change: Updated}
	switch {
	case p.version(p.shown).generation > p.own.generation:
		out.Change = Superseded
	case len(p.sent) == 0:
		out.Change = Untouched
	case p.created:
		out.Change = Created
	}
	return out
}
