package writers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/systems"
	"github.com/app-sre/prcheck/settings"
)

// oddKeys are keys that a careless client changes.
var oddKeys = []string{
	"a", "a b", " a ", "a+b", "a%20b", "a%2Fb", "ä/€/😀", "a//b", "/a", "//", "a/", "a/../b", "./a", "..", "a?b=c#d",
	"a&amp;b", "<a>&'\"",
	`a\b`, "a\tb", "a\nb", "a\r\nb", "a\rb", "\x01", "a=b;c", "*", "key=a/date=2026-01-01", strings.Repeat("k", 900),
}

func bucketAt(t *testing.T, place string) integration.BucketWriter {
	t.Helper()
	w, err := Of(systems.New(systems.Sources{Settings: &settings.Settings{}})).BucketWriter(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Keys of others arrive as they are, in each direction, below their prefix and nowhere else.
func TestBucketKeys(t *testing.T) {
	for place, prefix := range map[string]string{
		"s3://memory": "", "s3://memory/": "", "s3://memory/p": "p/", "s3://memory/p/": "p/", "s3://memory/p//": "p//",
		"s3://memory/a b/%41": "a b/%41/",
	} {
		t.Run(place, func(t *testing.T) {
			store := fakes3.Start(t)
			outside := []string{}
			if prefix != "" {
				outside = []string{"elsewhere", strings.TrimSuffix(prefix, "/") + "x"}
				store.Put(prefix, "the place itself")
			}
			for _, key := range outside {
				store.Put(key, "x")
			}
			w := bucketAt(t, place)
			for _, key := range oddKeys {
				if _, err := w.Put(t.Context(), key, []byte(key), ""); err != nil {
					t.Errorf("%q: %v", key, err)
				}
				if raw, _, err := w.Get(t.Context(), key); err != nil || string(raw) != key {
					t.Errorf("%q: got %q, %v", key, raw, err)
				}
			}
			want := slices.Concat(outside, prefixed(prefix, oddKeys))
			if prefix != "" {
				want = append(want, prefix)
			}
			slices.Sort(want)
			if got := store.Keys(); !slices.Equal(got, want) {
				t.Errorf("stored are %q\nwant %q", got, want)
			}
			got, err := w.Keys(t.Context(), "")
			if all := slices.Sorted(slices.Values(oddKeys)); err != nil || !slices.Equal(got, all) {
				t.Errorf("listed are %q, %v\nwant %q", got, err, all)
			}
			if got, err := w.Keys(t.Context(), "a/"); err != nil || !slices.Equal(got, []string{"a/", "a/../b", "a//b"}) {
				t.Errorf("below a/: %q, %v", got, err)
			}
		})
	}
}

func prefixed(prefix string, keys []string) []string {
	var out []string
	for _, k := range keys {
		out = append(out, prefix+k)
	}
	return out
}

// A list is whole, however many pages it has.
func TestBucketLongList(t *testing.T) {
	store := fakes3.Start(t)
	var want []string
	for i := range 2345 {
		key := fmt.Sprintf("a b/%04d", i)
		store.Put("p/"+key, "x")
		want = append(want, key)
	}
	before := store.Requests()
	got, err := bucketAt(t, "s3://memory/p").Keys(t.Context(), "a b/")
	if err != nil || !slices.Equal(got, want) || store.Requests()-before != 3 {
		t.Errorf("got %d keys, %v, in %d requests", len(got), err, store.Requests()-before)
	}
}

// A write happens only if the object is as it was read.
func TestBucketConditions(t *testing.T) {
	store := fakes3.Start(t)
	w := bucketAt(t, "s3://memory/p")
	ctx := t.Context()
	first, err := w.Put(ctx, "k", []byte("1"), "")
	if err != nil || first == "" {
		t.Fatalf("got %q, %v", first, err)
	}
	second, err := w.Put(ctx, "k", []byte("2"), first)
	if err != nil || second == "" || second == first {
		t.Fatalf("got %q, %v", second, err)
	}
	for name, do := range map[string]func() error{
		"make what is there":      func() error { _, err := w.Put(ctx, "k", []byte("3"), ""); return err },
		"write over another":      func() error { _, err := w.Put(ctx, "k", []byte("3"), first); return err },
		"write what is not there": func() error { _, err := w.Put(ctx, "none", []byte("3"), first); return err },
		"remove another":          func() error { return w.Remove(ctx, "k", first) },
	} {
		if err := do(); !errors.Is(err, integration.ErrChanged) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, do := range map[string]func() error{
		"write over any":    func() error { _, err := w.Put(ctx, "k", []byte("3"), "*"); return err },
		"remove any":        func() error { return w.Remove(ctx, "k", "*") },
		"remove without":    func() error { return w.Remove(ctx, "k", "") },
		"no key":            func() error { _, err := w.Put(ctx, "", nil, ""); return err },
		"NUL":               func() error { return w.Remove(ctx, "a\x00", first) },
		"not UTF-8":         func() error { _, _, err := w.Get(ctx, "\xff"); return err },
		"too long":          func() error { _, _, err := w.Get(ctx, strings.Repeat("k", 1024)); return err },
		"too long a prefix": func() error { _, err := w.Keys(ctx, strings.Repeat("k", 1024)); return err },
	} {
		if err := do(); integration.ClassOfFailure(err) != integration.FailureOfConfig {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if raw, version, err := w.Get(ctx, "k"); err != nil || string(raw) != "2" || version != second {
		t.Errorf("got %q, %q, %v", raw, version, err)
	}
	if err := w.Remove(ctx, "k", second); err != nil {
		t.Error(err)
	}
	if _, _, err := w.Get(ctx, "k"); !errors.Is(err, integration.ErrNotThere) {
		t.Errorf("after it was removed: got %v", err)
	}
	if err := w.Remove(ctx, "k", second); err != nil {
		t.Errorf("removed twice: %v", err)
	}
	if keys := store.Keys(); len(keys) != 0 {
		t.Errorf("left are %q", keys)
	}
}

// What is wrong with a bucket has a class, and a wrong place is an error at once.
func TestBucketTrouble(t *testing.T) {
	store := fakes3.Start(t)
	for status, want := range map[int]integration.FailureClass{503: integration.FailureTransient,
		403: integration.FailureOfConfig} {
		store.Fail(func(*http.Request) fakes3.Fault { return fakes3.Fault{Status: status} })
		_, _, err := bucketAt(t, "s3://memory/p").Get(t.Context(), "k")
		if integration.ClassOfFailure(err) != want || !strings.Contains(err.Error(), `reading "p/k" in the bucket memory`) {
			t.Errorf("%d: got %v", status, err)
		}
	}
	s := systems.New(systems.Sources{Settings: &settings.Settings{}})
	for _, place := range []string{"", "memory/p", "s3://", "s3:///p", "https://memory/p", "s3://me@memory/p",
		"s3://memory/\xff", "s3://memory?a"} {
		if r, err := s.BucketReader(t.Context(), place); integration.ClassOfFailure(err) != integration.FailureOfConfig {
			t.Errorf("%q: got %v, %v", place, r, err)
		}
	}
}
