package state_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
	"github.com/app-sre/prcheck/state/statetest"
)

// everywhere runs a test over each kind of store: a folder, one that is
// written without waiting for the disk, a bucket in this process, and
// a real bucket if PRCHECK_STATE names one, such as s3://prcheck/test.
func everywhere(t *testing.T, test func(t *testing.T, open func() state.Store)) {
	at := func(t *testing.T, place string) func() state.Store {
		return func() state.Store {
			s, err := state.At(t.Context(), place, state.Writing)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Run("folder", func(t *testing.T) { test(t, at(t, t.TempDir()+"/state")) })
	t.Run("loose folder", func(t *testing.T) {
		folder := t.TempDir() + "/state"
		test(t, func() state.Store {
			s, err := state.OpenLoose(folder)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
	t.Run("memory", func(t *testing.T) {
		s := statetest.NewMemory()
		test(t, func() state.Store { return s })
	})
	t.Run("bucket", func(t *testing.T) {
		fakes3.Start(t).Page(3)
		test(t, at(t, "s3://memory/some/prefix"))
	})
	t.Run("real", func(t *testing.T) {
		place := os.Getenv("PRCHECK_STATE")
		if place == "" {
			t.Skip("PRCHECK_STATE names no bucket, such as s3://prcheck/test, to try this with")
		}
		place += "/" + strings.ToLower(rand.Text())
		test(t, at(t, place))
		s := at(t, place)()
		list, err := s.List(t.Context(), "")
		for _, e := range list {
			err = errors.Join(err, s.Remove(t.Context(), e.Key))
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func keys(t *testing.T, s state.Store, folder string) string {
	t.Helper()
	list, err := s.List(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprintf("%s:%d", e.Key, e.Size))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestLawsOfOne(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		if _, err := s.Read(t.Context(), "a/b.json"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("before the first write: %v", err)
		}
		if got := keys(t, s, "a") + keys(t, s, ""); got != "" {
			t.Errorf("list before the first write: %s", got)
		}
		for _, text := range []string{"first", "second", ""} {
			if err := s.Write(t.Context(), "a/b.json", []byte(text)); err != nil {
				t.Fatal(err)
			}
			if raw, err := open().Read(t.Context(), "a/b.json"); err != nil || string(raw) != text {
				t.Errorf("got %q, %v, want %q", raw, err, text)
			}
		}
		for i := range 7 {
			if err := s.Write(t.Context(), fmt.Sprintf("a/c/%d", i), make([]byte, i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Write(t.Context(), "ab", nil); err != nil {
			t.Fatal(err)
		}
		for folder, want := range map[string]string{
			"":    "a/b.json:0 a/c/0:0 a/c/1:1 a/c/2:2 a/c/3:3 a/c/4:4 a/c/5:5 a/c/6:6 ab:0",
			"a":   "a/b.json:0 a/c/0:0 a/c/1:1 a/c/2:2 a/c/3:3 a/c/4:4 a/c/5:5 a/c/6:6",
			"a/c": "a/c/0:0 a/c/1:1 a/c/2:2 a/c/3:3 a/c/4:4 a/c/5:5 a/c/6:6", "b": "",
		} {
			if got := keys(t, s, folder); got != want {
				t.Errorf("below %q: got %s, want %s", folder, got, want)
			}
		}
		for range 2 { // the second time there is none
			if err := s.Remove(t.Context(), "a/b.json"); err != nil {
				t.Error(err)
			}
		}
		if _, err := s.Read(t.Context(), "a/b.json"); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("after removal: %v", err)
		}
		if err := s.Write(t.Context(), "big", make([]byte, state.MaxDocument+1)); err == nil ||
			!strings.Contains(err.Error(), "more than 67108864 bytes") {
			t.Errorf("too large: %v", err)
		}
		for _, key := range []string{"", "/a", "../a", "a/../../b", "a//b", "A", "a b", "a\x00", ".hidden", "a/.new",
			strings.Repeat("a", 201)} {
			_, err := s.Read(t.Context(), key)
			update := s.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte("x"), nil })
			if err == nil || update == nil || s.Write(t.Context(), key, nil) == nil || s.Remove(t.Context(), key) == nil {
				t.Errorf("key %q is taken", key)
			}
		}
	})
}

func TestLawsOfUpdate(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		var saw []string
		update := func(raw []byte, err error) error {
			return s.Update(t.Context(), "k", func(old []byte) ([]byte, error) {
				saw = append(saw, fmt.Sprintf("%q %t", old, old == nil))
				return raw, err
			})
		}
		wrong := errors.New("no")
		for _, c := range []struct {
			raw  []byte
			fail error
			want string // afterwards
		}{
			{nil, nil, "none"}, {nil, wrong, "none"}, {[]byte("1"), nil, "1"}, {nil, nil, "1"}, {[]byte("2"), wrong, "1"},
			{[]byte{}, nil, ""}, {[]byte("3"), nil, "3"}, {make([]byte, state.MaxDocument+1), nil, "3"},
		} {
			err := update(c.raw, c.fail)
			if (err != nil) != (c.fail != nil || len(c.raw) > state.MaxDocument) || c.fail != nil && !errors.Is(err, c.fail) {
				t.Errorf("%.9q: got %v", c.raw, err)
			}
			raw, err := s.Read(t.Context(), "k")
			if errors.Is(err, state.ErrNotFound) {
				raw = []byte("none")
			}
			if string(raw) != c.want {
				t.Errorf("got %q, want %q", raw, c.want)
			}
		}
		const want = `["\"\" true" "\"\" true" "\"\" true" "\"1\" false" "\"1\" false" "\"1\" false" "\"\" false" "\"3\" false"]`
		if got := fmt.Sprintf("%q", saw); got != want {
			t.Errorf("change got %s\nwant       %s", got, want)
		}
	})
}

// Discard removes a document only if it is still as it was listed.
func TestLawsOfDiscard(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		s := open()
		for _, key := range []string{"f/same", "f/gone", "f/changed"} {
			if err := s.Write(t.Context(), key, []byte("1")); err != nil {
				t.Fatal(err)
			}
		}
		list, err := s.List(t.Context(), "f")
		if err != nil || len(list) != 3 {
			t.Fatal(list, err)
		}
		if err := errors.Join(s.Remove(t.Context(), "f/gone"), s.Write(t.Context(), "f/changed", []byte("2"))); err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if err := s.Discard(t.Context(), e); err != nil {
				t.Error(err)
			}
		}
		if got := keys(t, s, ""); got != "f/changed:1" {
			t.Errorf("left are %s, want what was changed", got)
		}
	})
}

// When many processes update a document, no update is lost, and readers see whole
// documents.
func TestLawsOfMany(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		const writers, times = 6, 8
		var all sync.WaitGroup
		for range writers {
			s := open()
			all.Go(func() {
				for range times {
					err := s.Update(t.Context(), "k/count", func(old []byte) ([]byte, error) {
						n, _ := strconv.Atoi(string(old))
						return strconv.AppendInt(nil, int64(n+1), 10), nil
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if raw, err := open().Read(t.Context(), "k/count"); err != nil || string(raw) != strconv.Itoa(writers*times) {
			t.Errorf("got %s, %v, want %d", raw, err, writers*times)
		}
		for i := range writers {
			s := open()
			all.Go(func() {
				doc := bytes.Repeat(fmt.Appendf(nil, "%d", i), 100_000)
				for range 3 {
					err := s.Write(t.Context(), "k/same", doc)
					raw, err2 := s.Read(t.Context(), "k/same")
					if err != nil || err2 != nil || len(raw) != 100_000 || bytes.Count(raw, raw[:1]) != len(raw) {
						t.Errorf("read a mixture of %d bytes, %v, %v", len(raw), err, err2)
					}
				}
			})
		}
		all.Wait()
		if got := keys(t, open(), ""); got != "k/count:2 k/same:100000" {
			t.Errorf("left behind: %s", got)
		}
	})
}

// A state that was opened for reading refuses writes.
func TestLawsOfReading(t *testing.T) {
	fakes3.Start(t).Put("p/k", "1")
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/k", []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for place, none := range map[string]string{dir: "no such file or directory", "s3://memory/p": "file does not exist"} {
		s, err := state.At(t.Context(), place, state.Reading)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.List(t.Context(), "")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		refused := map[string]error{
			"write": s.Write(t.Context(), "k", nil), "remove": s.Remove(t.Context(), "k"),
			"discard": s.Discard(t.Context(), list[0]),
			"update":  s.Update(t.Context(), "k", func([]byte) ([]byte, error) { return []byte("2"), nil }),
		}
		for name, err := range refused {
			if !errors.Is(err, state.ErrReadOnly) || err.Error() != `writing "k" to the state: it can only be read` {
				t.Errorf("%s: %s: got %v", place, name, err)
			}
		}
		if _, err := s.Read(t.Context(), "a/none"); !errors.Is(err, state.ErrNotFound) ||
			err.Error() != `reading "a/none" in the state: `+none {
			t.Errorf("%s: got %v", place, err)
		}
		if raw, err := s.Read(t.Context(), "k"); err != nil || string(raw) != "1" {
			t.Errorf("%s: got %q, %v", place, raw, err)
		}
	}
}
