package state_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/app-sre/prcheck/state"
)

// listedKeys returns the keys of a list, sorted.
func listedKeys(t *testing.T, s state.Store, folder string) []string {
	t.Helper()
	list, err := s.List(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Key)
	}
	slices.Sort(out)
	return out
}

// Each folder is a store of its own, and nothing outside of it can be reached.
func TestBelow(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		a, b := state.ForNative(s, "a"), state.ForNative(s, "b")
		write(t, s, "blame/one.json", "outside")
		write(t, a, "known/one.json", "a")
		write(t, a, "known/two.json", "a")
		write(t, b, "known/one.json", "b")
		if err := a.Update(t.Context(), "known/one.json", func(old []byte) ([]byte, error) {
			return append(old, '+'), nil
		}); err != nil {
			t.Error(err)
		}
		for key, want := range map[string]string{"native/" + state.Name("a") + "/known/one.json": "a+",
			"native/" + state.Name("b") + "/known/one.json": "b"} {
			if got, err := s.Read(t.Context(), key); err != nil || string(got) != want {
				t.Errorf("%s: got %q, %v, want %q", key, got, err, want)
			}
		}
		for folder, want := range map[string][]string{"": {"known/one.json", "known/two.json"},
			"known": {"known/one.json", "known/two.json"}, "kno": nil} {
			if got := listedKeys(t, a, folder); !slices.Equal(got, want) {
				t.Errorf("list of %q: got %q, want %q", folder, got, want)
			}
		}
		list, err := a.List(t.Context(), "known")
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.Key == "known/two.json" {
				err = a.Discard(t.Context(), e)
			}
		}
		if got := listedKeys(t, a, ""); err != nil || !slices.Equal(got, []string{"known/one.json"}) {
			t.Errorf("after a document was discarded: got %q, %v", got, err)
		}
		if err := a.Remove(t.Context(), "known/one.json"); err != nil {
			t.Error(err)
		}
		if got := listedKeys(t, s, "native"); len(got) != 1 {
			t.Errorf("after all of a was removed: got %q", got)
		}
		for _, key := range []string{"", "../" + state.Name("b") + "/known/one.json", "../../blame/one.json", "a//b",
			"/blame/one.json"} {
			raw, err := a.Read(t.Context(), key)
			written := a.Write(t.Context(), key, nil)
			updated := a.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte("x"), nil })
			removed, discarded := a.Remove(t.Context(), key), a.Discard(t.Context(), state.Entry{Key: key})
			if err == nil || written == nil || updated == nil || removed == nil || discarded == nil {
				t.Errorf("%q: got %q, %v, %v, %v, %v, %v", key, raw, err, written, updated, removed, discarded)
			}
		}
		if _, err := a.List(t.Context(), ".."); err == nil {
			t.Error("the folder above can be listed")
		}
	})
}

// A store for reading refuses each call that writes.
func TestReadOnly(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		write(t, s, "k", "text")
		for name, call := range calls(state.ReadOnly(s)) {
			err := call(t.Context())
			if reads := name == "read" || name == "list"; reads != !errors.Is(err, state.ErrReadOnly) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}
