package state_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/state"
)

const signedKey = "blame/one.json"

// pair returns a key pair that depends on a number.
func pair(n byte) (ed25519.PublicKey, ed25519.PrivateKey) {
	key := ed25519.NewKeyFromSeed(slices.Repeat([]byte{n}, ed25519.SeedSize))
	return key.Public().(ed25519.PublicKey), key
}

// signing returns a store that signs and one below it that shows what is stored.
func signing(t *testing.T) (signed, raw state.Store, trust state.Trust) {
	t.Helper()
	raw, err := state.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	public, key := pair(1)
	trust = state.Trust{Keys: []ed25519.PublicKey{public}, Key: key, Project: "shop/data"}
	return state.Trusted(raw, trust), raw, trust
}

func write(t *testing.T, s state.Store, key, text string) {
	t.Helper()
	if err := s.Write(t.Context(), key, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

// A document counts where it was signed, for those who know the public key, and comes back
// to the byte. Those who have several keys accept each of them.
func TestSigned(t *testing.T) {
	s, raw, trust := signing(t)
	const text = "{\"version\": \"1\",\n \"tasks\": [\"<&\"]}"
	write(t, s, signedKey, text)
	other, _ := pair(2)
	for name, reader := range map[string]state.Store{
		"who signed": s, "who reads": state.Trusted(raw, state.Trust{Keys: trust.Keys, Project: trust.Project}),
		"another key first": state.Trusted(raw, state.Trust{Keys: []ed25519.PublicKey{other, trust.Keys[0]},
			Project: trust.Project}),
		"who trusts all": state.Trusted(raw, state.Trust{Unsigned: true}),
	} {
		if got, err := reader.Read(t.Context(), signedKey); err != nil || string(got) != text {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
	stored, err := raw.Read(t.Context(), signedKey)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (state.Kind[struct{}]{Version: "1"}).Decode(stored); !errors.Is(err, state.ErrOtherVersion) {
		t.Errorf("a program that knows no signatures: got %v", err)
	}
}

// Whatever was not signed for this key, this project and this place does not count.
func TestUntrusted(t *testing.T) {
	s, raw, trust := signing(t)
	write(t, s, signedKey, `{"version":"1","good":true}`)
	stored, err := raw.Read(t.Context(), signedKey)
	if err != nil {
		t.Fatal(err)
	}
	_, attacker := pair(2)
	forged := state.Trusted(raw, state.Trust{Keys: []ed25519.PublicKey{attacker.Public().(ed25519.PublicKey)},
		Key: attacker, Project: trust.Project})
	elsewhere := state.Trusted(raw, state.Trust{Keys: trust.Keys, Key: trust.Key, Project: "other/data"})
	for name, attack := range map[string]func(){
		"unsigned":            func() { write(t, raw, signedKey, `{"version":"1","good":true}`) },
		"signed by another":   func() { write(t, forged, signedKey, `{"version":"1","good":true}`) },
		"another project":     func() { write(t, elsewhere, signedKey, `{"version":"1","good":true}`) },
		"another content":     func() { write(t, raw, signedKey, strings.Replace(string(stored), "true", "null", 1)) },
		"of another document": func() { write(t, s, "blame/two.json", "{}"); move(t, raw, "blame/two.json", signedKey) },
		"of another kind":     func() { write(t, s, "aside/one.json", "{}"); move(t, raw, "aside/one.json", signedKey) },
		"cut short":           func() { write(t, raw, signedKey, string(stored[:len(stored)-1])) },
		"no signature":        func() { write(t, raw, signedKey, `{"version":"prcheck-signed/v1","document":{}}`) },
		"old":                 func() { writeAt(t, raw, trust, time.Now().Add(-state.MaxSignedAge-time.Minute)) },
		"of the future":       func() { writeAt(t, raw, trust, time.Now().Add(2*time.Hour)) },
	} {
		attack()
		got, err := s.Read(t.Context(), signedKey)
		if !errors.Is(err, state.ErrUntrusted) ||
			!strings.HasSuffix(err.Error(), ": it is not signed with a key of the settings, or too long ago") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
		old := []byte("not called")
		if err := s.Update(t.Context(), signedKey, func(raw []byte) ([]byte, error) {
			old = raw
			return nil, nil
		}); err != nil || old != nil {
			t.Errorf("%s: updated from %q, %v", name, old, err)
		}
		write(t, raw, signedKey, string(stored))
		if _, err := s.Read(t.Context(), signedKey); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
	writeAt(t, raw, trust, time.Now().Add(-state.MaxSignedAge+time.Hour))
	if _, err := s.Read(t.Context(), signedKey); err != nil {
		t.Errorf("just young enough: %v", err)
	}
}

// A signature counts for two weeks, and from an hour before its time, since clocks differ.
func TestAgeOfSignatures(t *testing.T) {
	_, raw, trust := signing(t)
	at := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)
	writeAt(t, raw, trust, at)
	for _, tt := range []struct {
		after  time.Duration
		counts bool
	}{
		{14 * day, true}, {14*day + time.Nanosecond, false}, {-time.Hour, true}, {-time.Hour - time.Nanosecond, false},
	} {
		_, err := state.TrustedAt(raw, trust, at.Add(tt.after)).Read(t.Context(), signedKey)
		if tt.counts && err != nil || !tt.counts && !errors.Is(err, state.ErrUntrusted) {
			t.Errorf("after %s: got %v", tt.after, err)
		}
	}
}

// What a native integration remembers counts however long ago it was signed, and with all
// other conditions as everything else.
func TestSignedNatives(t *testing.T) {
	s, raw, trust := signing(t)
	long := state.TrustedAt(raw, trust, time.Now().Add(-100*state.MaxSignedAge))
	write(t, state.ForNative(long, "namespaces"), "known/a.json", `{"version":"1"}`)
	of := state.ForNative(s, "namespaces")
	if got, err := of.Read(t.Context(), "known/a.json"); err != nil || string(got) != `{"version":"1"}` {
		t.Errorf("got %q, %v", got, err)
	}
	move(t, raw, "native/"+state.Name("namespaces")+"/known/a.json", "native/"+state.Name("namespaces")+"/known/b.json")
	write(t, state.ForNative(raw, "namespaces"), "known/c.json", `{"version":"1"}`)
	for _, key := range []string{"known/b.json", "known/c.json"} {
		if got, err := of.Read(t.Context(), key); !errors.Is(err, state.ErrUntrusted) {
			t.Errorf("%s: got %q, %v", key, got, err)
		}
	}
	early := state.TrustedAt(raw, trust, time.Now().Add(2*time.Hour))
	write(t, state.ForNative(early, "namespaces"), "known/d.json", `{"version":"1"}`)
	if got, err := of.Read(t.Context(), "known/d.json"); !errors.Is(err, state.ErrUntrusted) {
		t.Errorf("of the future: got %q, %v", got, err)
	}
}

// The space around a document is not a part of it.
func TestSignedSpace(t *testing.T) {
	s, _, _ := signing(t)
	write(t, s, signedKey, " {\"version\": \"1\"}\n")
	if got, err := s.Read(t.Context(), signedKey); err != nil || string(got) != `{"version": "1"}` {
		t.Errorf("got %q, %v", got, err)
	}
}

// No document with a changed byte counts.
func TestChangedByte(t *testing.T) {
	s, raw, _ := signing(t)
	const text = `{"version":"1","runs":[{"inputs":"0123","passed":1,"failed":1}]}`
	write(t, s, signedKey, text)
	stored, err := raw.Read(t.Context(), signedKey)
	if err != nil {
		t.Fatal(err)
	}
	source := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same bytes each time
	for range 300 {
		changed := slices.Clone(stored)
		i := source.IntN(len(changed))
		changed[i] ^= byte(1 + source.IntN(255))
		write(t, raw, signedKey, string(changed))
		if got, err := s.Read(t.Context(), signedKey); err == nil && string(got) != text {
			t.Fatalf("byte %d: %q counts", i, got)
		}
	}
}

// A job without the private key writes nothing that counts, and leaves what is there. What
// makes nothing be skipped it writes.
func TestWithoutPrivateKey(t *testing.T) {
	s, raw, trust := signing(t)
	write(t, s, signedKey, `{"version":"1"}`)
	_, foreign := pair(2)
	for name, reader := range map[string]state.Store{
		"no key":      state.Trusted(raw, state.Trust{Keys: trust.Keys, Project: trust.Project}),
		"another key": state.Trusted(raw, state.Trust{Keys: trust.Keys, Key: foreign, Project: trust.Project}),
		"no trust":    state.Trusted(raw, state.Trust{}),
	} {
		change := func([]byte) ([]byte, error) { return []byte("{}"), nil }
		if err := errors.Join(reader.Write(t.Context(), signedKey, []byte("{}"))); !errors.Is(err, state.ErrReadOnly) {
			t.Errorf("%s: writing: %v", name, err)
		}
		if err := reader.Update(t.Context(), signedKey, change); !errors.Is(err, state.ErrReadOnly) {
			t.Errorf("%s: changing: %v", name, err)
		}
		for _, key := range []string{"durations/x.json", "tally/x.json", "leases/x.json", "collection/last.json", "corrupt/x",
			"audits/x.json"} {
			if err := errors.Join(reader.Write(t.Context(), key, []byte("{}")),
				reader.Update(t.Context(), key, change)); err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
			}
		}
	}
	for _, tt := range []struct {
		trust  state.Trust
		folder string
		listed int
	}{
		{state.Trust{}, "blame", 0}, {state.Trust{}, "leases", 1}, {state.Trust{Unsigned: true}, "blame", 1},
		{state.Trust{Keys: trust.Keys}, "blame", 1},
	} {
		list, err := state.Trusted(raw, tt.trust).List(t.Context(), tt.folder)
		if counts := tt.trust.Unsigned || tt.trust.Keys != nil; err != nil || len(list) != tt.listed ||
			tt.trust.Counts() != counts {
			t.Errorf("%+v: in %s there are %v, %v, want %d", tt.trust, tt.folder, list, err, tt.listed)
		}
	}
	if _, err := s.Read(t.Context(), signedKey); err != nil {
		t.Error(err)
	}
}

// A document that a later program sealed stays as it is.
func TestLaterSeal(t *testing.T) {
	s, raw, _ := signing(t)
	const later = `{"version":"prcheck-signed/v2","body":"x"}`
	write(t, raw, signedKey, later)
	if _, err := s.Read(t.Context(), signedKey); !errors.Is(err, state.ErrOtherVersion) {
		t.Errorf("got %v", err)
	}
	err := s.Update(t.Context(), signedKey, func([]byte) ([]byte, error) { return []byte("{}"), nil })
	if got, _ := raw.Read(t.Context(), signedKey); !errors.Is(err, state.ErrOtherVersion) || string(got) != later {
		t.Errorf("got %q, %v", got, err)
	}
}

// Old documents are collected whoever signed them, and unfinished files, too; also in a state that gives up writing.
func TestCollectSigned(t *testing.T) {
	for name, wrap := range map[string]func(state.Store) state.Store{
		"signed":     func(raw state.Store) state.Store { return state.Trusted(raw, state.Trust{}) },
		"expendable": func(raw state.Store) state.Store { return state.Expendable(raw, func(error) {}) },
	} {
		dir := t.TempDir()
		raw, err := state.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		write(t, raw, signedKey, "{}")
		unfinished := filepath.Join(dir, ".new-DEAD")
		if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := state.Collect(t.Context(), wrap(raw), state.Limits{Age: time.Hour, Size: 1 << 20},
			time.Now().Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := raw.Read(t.Context(), signedKey); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := os.Stat(unfinished); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the unfinished file: got %v", name, err)
		}
	}
}

func move(t *testing.T, s state.Store, from, to string) {
	t.Helper()
	raw, err := s.Read(context.Background(), from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, to, string(raw))
}

// writeAt writes a document that was signed at another time.
func writeAt(t *testing.T, raw state.Store, trust state.Trust, at time.Time) {
	t.Helper()
	write(t, state.TrustedAt(raw, trust, at), signedKey, `{"version":"1"}`)
}
