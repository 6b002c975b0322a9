package lease

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// at is a moment; times of documents are counted from it.
var at = time.UnixMilli(1_000_000_000)

// look lets a new holder look at a document once, and returns the document afterwards, nil if it is
// not written.
func look(t *testing.T, a *attempt, old *document) *document {
	t.Helper()
	if a.now.IsZero() {
		a.now = at
	}
	a.id, a.next = "me", map[string]time.Time{}
	var raw []byte
	if old != nil {
		old.Version, old.Key = kind.Version, a.limit.Key
		raw, _ = json.Marshal(old) // it has no values that JSON does not know
	}
	next, err := a.change(raw)
	if err != nil {
		t.Fatal(err)
	}
	if next == nil {
		return nil
	}
	doc, err := kind.Decode(next)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// A place is free if fewer hold it than may. A holder is dead if its last sign of life was seen a whole
// TTL ago, and not a moment earlier.
func TestPlaces(t *testing.T) {
	limit := Limit{Key: "k", Max: 2, TTL: time.Second}
	two := func() *document { return &document{Holders: []holder{{"a", 3, 1000}, {"b", 1, 1000}}} }
	for name, c := range map[string]struct {
		old  *document
		seen map[string]time.Time
		want string // holders afterwards; "" if nothing is written
	}{
		"nobody":            {nil, nil, "me 0"},
		"one":               {&document{Holders: []holder{{"a", 3, 1000}}}, nil, "a 3, me 0"},
		"two":               {two(), nil, ""},
		"one dead":          {two(), map[string]time.Time{"a 3": at.Add(-time.Second)}, "b 1, me 0"},
		"one almost dead":   {two(), map[string]time.Time{"a 3": at.Add(-time.Second + time.Millisecond)}, ""},
		"a sign since then": {two(), map[string]time.Time{"a 2": at.Add(-time.Hour)}, ""},
		"ours already": {&document{Holders: []holder{{"a", 3, 1000}, {"me", 5, 1000}}},
			map[string]time.Time{"a 3": at.Add(-time.Hour)}, "a 3, me 6"},
		"a TTL beyond bounds": {&document{Holders: []holder{{"a", 3, 1 << 60}, {"b", 1, -5}}},
			map[string]time.Time{"a 3": at.Add(-time.Hour)}, "me 0"},
	} {
		a := &attempt{limit: limit, seen: c.seen}
		var got []string
		if doc := look(t, a, c.old); doc != nil {
			for _, h := range doc.Holders {
				got = append(got, fmt.Sprint(h.ID, " ", h.Beat))
			}
		}
		if text := strings.Join(got, ", "); text != c.want || a.got != (c.want != "") {
			t.Errorf("%s: got %q, taken: %t, want %q", name, text, a.got, c.want)
		}
	}
}

// A start is free if fewer were in the period before. Times that no clock explains are corrected, and
// the times of a document never go back.
func TestStarts(t *testing.T) {
	limit := Limit{Key: "k", Rate: Rate{Count: 2, Per: time.Minute}, TTL: time.Second}
	for name, c := range map[string]struct {
		starts []int64 // in milliseconds, from now
		want   []int64 // nil if nothing is written
		got    bool
		wait   time.Duration
	}{
		"none":                  {nil, []int64{0}, true, 0},
		"one":                   {[]int64{-30_000}, []int64{-30_000, 0}, true, 0},
		"two":                   {[]int64{-50_000, -30_000}, nil, false, 10 * time.Second},
		"one is a period old":   {[]int64{-60_000, -30_000}, []int64{-30_000, 0}, true, 0},
		"one is almost so old":  {[]int64{-59_999, -30_000}, nil, false, time.Millisecond},
		"more than are allowed": {[]int64{-40_000, -30_000, -20_000}, nil, false, 30 * time.Second},
		"in another order":      {[]int64{-30_000, -50_000}, nil, false, 10 * time.Second},
		"ahead":                 {[]int64{60_000}, []int64{60_000, 60_000}, true, 0},
		"too far ahead":         {[]int64{60_001}, []int64{0, 0}, true, 0},
		"two too far ahead":     {[]int64{70_000, 80_000}, []int64{0, 0}, false, time.Minute},
	} {
		old := &document{}
		for _, s := range c.starts {
			old.Starts = append(old.Starts, at.UnixMilli()+s)
		}
		a := &attempt{limit: limit}
		var got []int64
		if doc := look(t, a, old); doc != nil {
			for _, s := range doc.Starts {
				got = append(got, s-at.UnixMilli())
			}
			if len(doc.Holders) > 0 {
				t.Errorf("%s: a limit without places has holders: %+v", name, doc.Holders)
			}
		}
		if !slices.Equal(got, c.want) || a.got != c.got || a.wait != c.wait {
			t.Errorf("%s: got %v, taken: %t, wait %v, want %v, %t, %v", name, got, a.got, a.wait, c.want, c.got, c.wait)
		}
	}
}

// A corrupt document is replaced when it has been the same for one TTL.
func TestCorrupt(t *testing.T) {
	const sign = "corrupt "
	for age, want := range map[time.Duration]bool{0: false, time.Second - time.Millisecond: false, time.Second: true} {
		a := &attempt{id: "me", limit: Limit{Key: "k", Max: 1, TTL: time.Second}, now: at, next: map[string]time.Time{}}
		if next, err := a.change([]byte("{")); next != nil || err != nil || a.got || a.why != nil {
			t.Fatalf("at first: got %s, %v", next, err)
		}
		a.seen, a.now, a.next = a.next, at.Add(age), map[string]time.Time{}
		next, err := a.change([]byte("{"))
		if (next != nil) != want || err != nil || a.got != want || (a.why != nil) != want ||
			want && string(a.corrupt) != "{" {
			t.Errorf("after %v: got %s, %v, taken: %t", age, next, err, a.got)
		}
		for s := range a.next {
			if !strings.HasPrefix(s, sign) {
				t.Errorf("the sign is %q", s)
			}
		}
	}
}

// The bounds of limits and documents belong to what is allowed.
func TestBounds(t *testing.T) {
	for name, l := range map[string]Limit{
		"least":          {Key: "k", Max: 1, TTL: minTTL},
		"most":           {Key: strings.Repeat("k", maxKey), Max: maxCount, TTL: maxTTL},
		"shortest rate":  {Key: "k", Rate: Rate{Count: 1, Per: time.Millisecond}},
		"longest rate":   {Key: "k", Rate: Rate{Count: maxCount, Per: maxPeriod}},
		"default of TTL": {Key: "k", Max: 1},
	} {
		if got, err := l.check(); err != nil || got.TTL == 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, l := range map[string]Limit{
		"no key": {Max: 1}, "a long key": {Key: strings.Repeat("k", maxKey+1), Max: 1},
		"less than no places": {Key: "k", Max: -1},
		"too many places":     {Key: "k", Max: maxCount + 1}, "a short TTL": {Key: "k", Max: 1, TTL: minTTL - 1},
		"a long TTL": {Key: "k", Max: 1, TTL: maxTTL + 1},
		"nothing":    {Key: "k"}, "no starts": {Key: "k", Rate: Rate{Per: time.Second}},
		"too many starts": {Key: "k", Rate: Rate{Count: maxCount + 1, Per: time.Second}},
		"a short period":  {Key: "k", Rate: Rate{Count: 1, Per: time.Millisecond - 1}},
		"a long period":   {Key: "k", Rate: Rate{Count: 1, Per: maxPeriod + 1}},
		"no period":       {Key: "k", Max: 1, Rate: Rate{Count: 1}},
	} {
		if got, err := l.check(); err == nil {
			t.Errorf("%s: %+v is allowed", name, got)
		}
	}
	for n, want := range map[int]bool{maxCount: true, maxCount + 1: false} {
		for _, d := range []document{{Holders: make([]holder, n)}, {Starts: make([]int64, n)}} {
			d.Version = kind.Version
			raw, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := kind.Decode(raw); (err == nil) != want {
				t.Errorf("%d holders and %d starts: %v", len(d.Holders), len(d.Starts), err)
			}
		}
	}
}

// A bucket gives the larger number if it is half full afterwards, and else the least. Tokens that are
// not there yet can be used later, up to the longest queue. A time that no clock explains, and a
// corrupt document, count as an empty bucket.
func TestTaking(t *testing.T) {
	b := Bucket{Key: "k", Tokens: 10, PerSecond: 10}
	const second = 1_000_000
	full := func(micros int64) []byte {
		raw, _ := json.Marshal(level{Version: levels.Version, Key: "k", Full: at.UnixMicro() + micros})
		return raw
	}
	for name, c := range map[string]struct {
		old   []byte
		got   int
		after time.Duration // when the tokens may be used
		full  int64         // in microseconds from now
	}{
		"full":                {nil, 4, 0, second * 4 / 10},
		"full for long":       {full(-60 * second), 4, 0, second * 4 / 10},
		"just half full":      {full(second / 10), 4, 0, second / 2},
		"not half full":       {full(second/10 + 1), 2, 0, second*3/10 + 1},
		"empty":               {full(second), 2, second / 5 * time.Microsecond, second * 12 / 10},
		"the longest queue":   {full(61 * second), 2, 60*time.Second + 200*time.Millisecond, second * 612 / 10},
		"a longer queue":      {full(61*second + 1), 0, 0, 0},
		"as far as clocks go": {full(122 * second), 0, 0, 0},
		"further":             {full(122*second + 1), 2, 200 * time.Millisecond, second * 12 / 10},
		"corrupt":             {[]byte("{"), 2, 200 * time.Millisecond, second * 12 / 10},
	} {
		t.Run(name, func(t *testing.T) {
			take := &taking{Bucket: b, least: 2, most: 4}
			raw, err := take.change(c.old, at)
			if err != nil || (raw != nil) != (c.got > 0) || take.got != c.got || (take.why != nil) != (name == "corrupt") {
				t.Fatalf("took %d: %s, %v, %v, want %d", take.got, raw, err, take.why, c.got)
			}
			if c.got == 0 {
				return
			}
			doc, err := levels.Decode(raw)
			if err != nil || doc.Full-at.UnixMicro() != c.full || take.usable.Sub(at) != c.after {
				t.Errorf("full after %d, usable after %v, want %d and %v (%v)", doc.Full-at.UnixMicro(), take.usable.Sub(at),
					c.full, c.after, err)
			}
		})
	}
	for _, b := range []Bucket{{"k", maxCount, 1000}, {strings.Repeat("k", maxKey), 1, 1}, {"k", 36, 0.01}} {
		if err := b.check(1, b.Tokens); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
	for _, b := range []Bucket{{"k", maxCount + 1, 1000}, {"k", 1, 1000.5}, {"k", 37, 0.01}, {"k", 1, -1}} {
		if err := b.check(1, 1); err == nil {
			t.Errorf("%+v is allowed", b)
		}
	}
}
