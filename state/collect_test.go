package state_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/fakes3"
	"github.com/app-sre/prcheck/state"
)

const day = 24 * time.Hour

// forFolderAndBucket runs a test over a folder and over a bucket. It passes the test a
// function that makes documents older, and one that lists all files or objects.
func forFolderAndBucket(t *testing.T, test func(t *testing.T, s state.Store, age func(name string, by time.Duration),
	names func() string)) {
	t.Run("folder", func(t *testing.T) {
		dir := t.TempDir()
		s, err := state.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		age := func(name string, by time.Duration) {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			at := time.Now().Add(-by)
			if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
		test(t, s, age, func() string {
			var out []string
			err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
				if name, _ := filepath.Rel(dir, name); !e.IsDir() && name != ".lock" && name != "collection/last.json" {
					out = append(out, name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(out, " ")
		})
	})
	t.Run("bucket", func(t *testing.T) {
		s, fake := openS3(t)
		if err := s.Remove(t.Context(), "k"); err != nil {
			t.Fatal(err)
		}
		age := func(name string, by time.Duration) {
			if strings.HasPrefix(name, ".") {
				fake.Put("p/"+name, "")
			}
			fake.Age("p/"+name, by)
		}
		test(t, s, age, func() string {
			var out []string
			for _, key := range fake.Keys() {
				if key = strings.TrimPrefix(key, "p/"); key != "collection/last.json" {
					out = append(out, key)
				}
			}
			return strings.Join(out, " ")
		})
	})
}

func TestCollect(t *testing.T) {
	forFolderAndBucket(t, func(t *testing.T, s state.Store, age func(string, time.Duration), names func() string) {
		write := func(key string, size int, by time.Duration) {
			t.Helper()
			if err := s.Write(t.Context(), key, make([]byte, size)); err != nil {
				t.Fatal(err)
			}
			age(key, by)
		}
		write("t/a", 100, 91*day)
		write("t/b", 100, 89*day)
		write("t/c", 100, 50*day)
		write("t/d", 100, 2*day)
		write("t/young", 1000, 23*time.Hour)
		write("kept/e", 100, 400*day)
		write("native/n/e", 100, 400*day)
		write("leases/held", 10, 5*time.Minute)
		age(".new-DEAD", 2*time.Hour)
		age(".new-BUSY", 10*time.Minute)
		now := time.Now()
		collect := func(size int64, after time.Duration) {
			t.Helper()
			if err := state.Collect(t.Context(), s, state.Limits{Age: 90 * day, Size: size, Keep: []string{"kept"}},
				now.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			size  int64
			after time.Duration
			want  string
		}{
			{10_000, 0, ".new-BUSY kept/e leases/held native/n/e t/b t/c t/d t/young"}, // by age
			{1500, time.Hour, ".new-BUSY kept/e leases/held native/n/e t/b t/c t/d t/young"},
			{1500, -time.Hour, ".new-BUSY kept/e leases/held native/n/e t/b t/c t/d t/young"},
			// by size, one; the clock was wrong
			{1500, -25 * time.Hour, ".new-BUSY kept/e leases/held native/n/e t/c t/d t/young"},
			{1, 0, ".new-BUSY kept/e leases/held native/n/e t/young"}, // by size, all that is not young
		} {
			collect(step.size, step.after)
			if got := names(); got != step.want {
				t.Errorf("size %d after %v: left are %s\nwant %s", step.size, step.after, got, step.want)
			}
		}
	})
}

// A document is removed when it is as old as documents get, and no younger than a day.
func TestCollectAges(t *testing.T) {
	for _, tt := range []struct {
		limit, age time.Duration
		left       int
	}{
		{2 * day, 2*day - time.Nanosecond, 1}, {2 * day, 2 * day, 0},
		{time.Hour, day - time.Nanosecond, 1}, {time.Hour, day, 0},
	} {
		s, _ := open(t)
		write(t, s, "t/a", "x")
		list, err := s.List(t.Context(), "t")
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		if err := state.Collect(t.Context(), s, state.Limits{Age: tt.limit, Size: 1000},
			list[0].Written.Add(tt.age)); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(t.Context(), "t"); err != nil || len(list) != tt.left {
			t.Errorf("limit %s, age %s: left is %v, %v, want %d", tt.limit, tt.age, list, err, tt.left)
		}
	}
}

// What an earlier program noted of its collection counts: there is none for a day.
func TestCollectedBefore(t *testing.T) {
	s, _ := open(t)
	write(t, s, "t/a", "x")
	now := time.Now().Add(10 * day)
	for _, tt := range []struct {
		ago  time.Duration
		left int
	}{{day - time.Second, 1}, {day, 0}} {
		write(t, s, "collection/last.json",
			fmt.Sprintf(`{"version":"1","at":%q}`, now.Add(-tt.ago).UTC().Format(time.RFC3339Nano)))
		if err := state.Collect(t.Context(), s, state.Limits{Age: day}, now); err != nil {
			t.Fatal(err)
		}
		if list, err := s.List(t.Context(), "t"); err != nil || len(list) != tt.left {
			t.Errorf("%s ago: left is %v, %v, want %d", tt.ago, list, err, tt.left)
		}
	}
}

// A document that is written during a collection stays.
func TestCollectBesideWriters(t *testing.T) {
	everywhere(t, func(t *testing.T, open func() state.Store) {
		var all sync.WaitGroup
		for i := range 4 {
			s := open()
			all.Go(func() {
				for j := range 8 {
					key := fmt.Sprintf("w/%d-%d", i, j)
					if err := s.Write(t.Context(), key, []byte(key)); err != nil {
						t.Error(err)
					}
					if raw, err := s.Read(t.Context(), key); err != nil || string(raw) != key {
						t.Errorf("got %q, %v", raw, err)
					}
				}
			})
		}
		s := open()
		all.Go(func() {
			for i := range 10 {
				if err := state.Collect(t.Context(), s, state.Limits{}, time.Now().Add(time.Duration(i)*2*time.Hour)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Wait()
		if list, err := open().List(t.Context(), "w"); err != nil || len(list) != 32 {
			t.Errorf("%d are left, %v, want 32", len(list), err)
		}
	})
}

// A stuck is a state from which nothing can be removed. It counts the attempts.
type stuck struct {
	state.Store
	attempts int
}

func (s *stuck) Discard(context.Context, state.Entry) error {
	s.attempts++
	return errors.New("stuck")
}

// After three documents that cannot be removed, no other one is tried.
func TestCollectGivesUp(t *testing.T) {
	dir, _ := open(t)
	for i := range 5 {
		write(t, dir, fmt.Sprint("t/", i), "x")
	}
	s := &stuck{Store: dir}
	err := state.Collect(t.Context(), s, state.Limits{}, time.Now().Add(2*day))
	if s.attempts != 3 || err == nil || err.Error() != "removing old documents: stuck\nstuck\nstuck" {
		t.Errorf("got %d attempts, %v", s.attempts, err)
	}
}

// The limits are those that the documents for users name.
func TestDefaultLimits(t *testing.T) {
	if got, want := state.DefaultLimits("promises"),
		(state.Limits{Age: 90 * day, Size: 1 << 30, Keep: []string{"promises"}}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if state.Grace != 20*time.Second {
		t.Errorf("got a grace of %s", state.Grace)
	}
}

func TestCollectFails(t *testing.T) {
	fakes3.Start(t)
	s, err := state.At(t.Context(), "s3://memory/p", state.Reading)
	if err != nil {
		t.Fatal(err)
	}
	err = state.Collect(t.Context(), s, state.Limits{}, time.Now())
	if !errors.Is(err, state.ErrReadOnly) || !strings.HasPrefix(err.Error(), "removing old documents: ") {
		t.Errorf("got %v", err)
	}
}
