package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/source"
	"github.com/app-sre/prcheck/state"
)

// checkState writes, reads and removes a document of the state.
func (e *examination) checkState(ctx context.Context) {
	if e.State.Place == "" {
		what := "no --state is given, so nothing is remembered between runs"
		if e.Open.Cache != "" && !e.InJob {
			what = "no --state is given, so only runner precheck remembers something, for this checkout"
		}
		e.warn("state", what, "keep a folder or a bucket (docs/state.md), and give it with --state")
		return
	}
	rules := source.OpenedSettings{Settings: &settings.Settings{}}
	if e.settings != nil {
		rules = *e.settings
	}
	note, err := e.State.Check(ctx, rules, e.Base)
	if err != nil {
		e.stateTrouble("the state cannot be used: ", err)
		return
	}
	store, err := e.State.Open(ctx)
	switch {
	case errors.Is(err, state.ErrReadOnly):
		e.warn("state", "the state can be read, but not written: "+err.Error(),
			"runs that are to remember something need the right to write and delete")
	case err != nil:
		e.stateTrouble("the state cannot be opened: ", err)
		return
	default:
		e.probe(ctx, store)
	}
	if note != "" {
		_, said, _ := strings.Cut(note, ": ")
		e.warn("state", said, "docs/state.md shows three set-ups")
	}
}

// stateTrouble notes an error of the state.
func (e *examination) stateTrouble(what string, err error) {
	if errors.Is(err, state.ErrUnreachable) {
		e.unreachable("state", what+err.Error(), "look at the address, the network and the credentials of the bucket")
		return
	}
	e.fail("state", what+err.Error(), "")
}

// probe writes, reads and removes a document, and compares the clock of the store.
func (e *examination) probe(ctx context.Context, store state.Store) {
	const folder = "probe"
	key, text := folder+"/"+strings.ToLower(rand.Text()), []byte(`{"version":"probe"}`)
	step := func(doing string, err error) bool {
		if err != nil {
			e.stateTrouble("a document of the state cannot be "+doing+": ", err)
		}
		return err == nil
	}
	before := e.Now()
	if !step("written", store.Write(ctx, key, text)) {
		return
	}
	after := e.Now()
	raw, err := store.Read(ctx, key)
	if err == nil && string(raw) != string(text) {
		err = errors.New("it is not what was written")
	}
	read := step("read", err)
	entries, err := store.List(ctx, folder)
	listed := step("listed", err)
	removed := step("removed", store.Remove(ctx, key))
	if !read || !listed || !removed {
		return
	}
	e.ok("state", "a document was written, read and removed")
	i := slices.IndexFunc(entries, func(f state.Entry) bool { return f.Key == key })
	if i >= 0 {
		e.compareClock("the state", entries[i].Written, before, after)
	}
}

// Clocks may differ by so much until it is told, and until it does harm: stores refuse
// requests, and leases and signatures end too early.
const (
	skewTold   = 30 * time.Second
	skewHarms  = 4 * time.Minute
	resolution = 2 * time.Second // of the times that stores and servers tell
)

// compareClock compares the clock of this machine with the time at which something outside
// did what was asked for between two times of this machine.
func (e *examination) compareClock(whose string, theirs, before, after time.Time) {
	skew := time.Duration(0)
	switch {
	case theirs.Before(before.Add(-resolution)):
		skew = before.Sub(theirs)
	case theirs.After(after.Add(resolution)):
		skew = theirs.Sub(after)
	}
	said := fmt.Sprintf("the clock of this machine differs from that of %s by %s", whose, skew.Round(time.Second))
	const remedy = "set the clock, for instance with NTP"
	switch {
	case skew > skewHarms:
		e.fail("clock", said, remedy)
	case skew > skewTold:
		e.warn("clock", said, remedy)
	default:
		e.ok("clock", "the clock of this machine agrees with that of "+whose)
	}
}

// checkKey checks that base's settings trust the signatures of this machine.
func (e *examination) checkKey(context.Context) {
	public, err := e.State.SigningKey()
	if err != nil {
		e.fail("key", err.Error(), "make a key with planner upkeep keygen, and give it as a file")
		return
	}
	rules, whose := e.settings, "the settings"
	if e.ofBase != nil {
		rules, whose = e.ofBase, "the settings of base"
	}
	if rules == nil {
		return
	}
	var keys []string
	for _, k := range rules.StateTrust().Keys {
		keys = append(keys, settings.PublicKeyText(k))
	}
	switch {
	case public == "" && len(keys) == 0:
	case public == "":
		e.ok("key", fmt.Sprintf("%s trust %s; this machine has no private key, so it reads signed documents and signs none",
			whose, phrase.Count(len(keys), "public key")))
	case slices.Contains(keys, public):
		e.ok("key", "the private key belongs to a public key of "+whose)
	default:
		e.fail("key", fmt.Sprintf("the private key signs as %s, which %s do not trust", public, whose),
			"add it to state.keys in the settings, and merge that")
	}
}
