package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
)

// A bucket has objects with versions.
type bucket struct {
	objects map[string][]byte
	version map[string]int
	puts    int
	before  func() // what happens just before the next write
	lost    bool   // the answer to the next write is lost
}

func newBucket() *bucket { return &bucket{objects: map[string][]byte{}, version: map[string]int{}} }

func (b *bucket) Get(_ context.Context, key string) ([]byte, string, error) {
	raw, ok := b.objects[key]
	if !ok {
		return nil, "", integration.ErrNotThere
	}
	return raw, fmt.Sprint(b.version[key]), nil
}

func (b *bucket) Keys(context.Context, string) ([]string, error) { return nil, errors.ErrUnsupported }

func (b *bucket) Put(_ context.Context, key string, raw []byte, version string) (string, error) {
	if do := b.before; do != nil {
		b.before = nil
		do()
	}
	is := ""
	if b.objects[key] != nil {
		is = fmt.Sprint(b.version[key])
	}
	if is != version {
		return "", integration.ErrChanged
	}
	b.puts++
	b.objects[key] = raw
	b.version[key]++
	if b.lost {
		b.lost = false
		return "", fmt.Errorf("no answer: %w", integration.ErrChanged)
	}
	return fmt.Sprint(b.version[key]), nil
}

func (b *bucket) Remove(context.Context, string, string) error { return errors.ErrUnsupported }

const uid = "0123456789abcdef"

func (b *bucket) say(t *testing.T, e Entry) *Book {
	t.Helper()
	out, err := Update(t.Context(), b, uid, "target", func(is *Book) (*Book, error) { return is.Say(e), nil })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWritersAtOnce(t *testing.T) {
	b := newBucket()
	b.before = func() { b.say(t, Entry{At: begin, Verb: Rejected, Commit: "x", Who: "jane"}) }
	b.lost = true
	is := b.say(t, Entry{At: begin, Verb: Pinned, Commit: "y", Who: "joe"})
	s := is.Standing()
	if s.Pin == nil || s.Rejected["x"].Who != "jane" || is.Generation != 2 || b.puts != 2 {
		t.Errorf("got %+v after %d writes", is, b.puts)
	}
	if b.say(t, Entry{At: begin.Add(time.Hour), Verb: Rejected, Commit: "x", Who: "jane"}); b.puts != 2 {
		t.Error("the same word was written twice")
	}
}

func TestBooksThatCannotBeUsed(t *testing.T) {
	good := `{"version":"saas-ledger/v1","generation":1,"writer":"w","uid":"` + uid + `","target":"t"`
	for name, raw := range map[string]string{
		"newer":           strings.Replace(good, "v1", "v2", 1) + `,"more":1}`,
		"cut":             good,
		"nothing":         ``,
		"a list":          `[]`,
		"an unknown key":  good + `,"more":1}`,
		"two documents":   good + `}{}`,
		"no generation":   strings.Replace(good, `"generation":1`, `"generation":0`, 1) + `}`,
		"another target":  strings.Replace(good, uid, "f"+uid[1:], 1) + `}`,
		"unknown word":    good + `,"entries":[{"at":"2026-01-01T00:00:00Z","verb":"liked"}]}`,
		"unknown result":  good + `,"runs":[{"commit":"c","at":"2026-01-01T00:00:00Z","result":"fine"}]}`,
		"clock goes back": good + `,"runs":[{"commit":"c","at":"2026-01-02T00:00:00Z"},{"commit":"d","at":"2026-01-01T00:00:00Z"}]}`,
		"too large":       good + `}` + strings.Repeat(" ", 2*MaxBook),
	} {
		b := newBucket()
		key, err := Key(uid)
		if err != nil {
			t.Fatal(err)
		}
		b.objects[key] = []byte(raw)
		_, _, err = Read(t.Context(), b, uid, "shop/web")
		if err == nil || !strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "shop/web") {
			t.Errorf("%s: got %v", name, err)
		}
		_, err = Update(t.Context(), b, uid, "shop/web", func(is *Book) (*Book, error) {
			return is.Say(Entry{At: begin, Verb: Holding, Who: "jane"}), nil
		})
		if err == nil || string(b.objects[key]) != raw {
			t.Errorf("%s: it was written over: %v", name, err)
		}
	}
	if _, err := Key("../x"); err == nil {
		t.Error("a key leaves the folder")
	}
}

// Words that stand and what gates need are in a book of any age, and it stays small.
func TestBooksAreBounded(t *testing.T) {
	b := New(uid, "target")
	sha := func(i int) string { return fmt.Sprintf("%040x", i) }
	var branch []string
	for i := range 400 {
		branch = append([]string{sha(i)}, branch...)
		at := begin.Add(time.Duration(i) * time.Hour)
		b = b.Append(Run{Commit: sha(i), At: at, Result: Good, Config: "0123456789abcdef"}).
			Say(Entry{At: at, Verb: Proposed, Commit: sha(i), Number: i + 1})
		if i == 3 {
			b = b.Say(Entry{At: at, Verb: Rejected, Commit: sha(5), Who: "jane"}).
				Say(Entry{At: at, Verb: Holding, Who: "jane"})
		}
		b = b.Along(branch[:min(len(branch), 200)]).Bounded()
		if n := b.size(); n > MaxBook || len(b.Runs) > MaxRuns {
			t.Fatalf("after %d runs it has %d bytes and %d runs", i, n, len(b.Runs))
		}
	}
	s := b.Standing()
	if s.Rejected[sha(5)].Who != "jane" || s.Hold == nil || len(b.Runs) != MaxRuns {
		t.Errorf("what stands was lost: %+v", s)
	}
	if !b.Ran(sha(300)) || b.Ran(sha(400)) {
		t.Error("what ran well was lost")
	}
	if got := b.Stay(sha(390), Order{}, begin.Add(400*time.Hour), false); got.Ran != 10*time.Hour || !got.Lasts {
		t.Errorf("got %+v", got)
	}
}

func TestClocksThatGoBack(t *testing.T) {
	b := New(uid, "target").Append(Run{Commit: "a", At: begin.Add(time.Hour), Result: Good}).
		Append(Run{Commit: "b", At: begin, Result: Good}).Append(Run{Commit: "a", At: begin, Result: Good})
	order := NewOrder([]string{"b", "a"})
	if s := b.Stay("b", order, begin.Add(48*time.Hour), false); s.Bad != Undone || s.Lasts {
		t.Errorf("the run that came last is not the last one: %+v", s)
	}
	if s := b.Stay("a", order, begin, false); s.Ran != 0 || !s.Lasts {
		t.Errorf("it soaked before it ran: %+v", s)
	}
	said := b.Say(Entry{At: begin.Add(time.Hour), Verb: Rejected, Commit: "b", Who: "jane"}).
		Say(Entry{At: begin, Verb: Unrejected, Commit: "b", Who: "jane"})
	if len(said.Standing().Rejected) > 0 {
		t.Error("the word that came last does not count")
	}
}

func TestCommands(t *testing.T) {
	ground := Ground{May: []string{"jane"}, Ref: "a", Ran: func(c string) bool { return c == "b" }}
	b := New(uid, "target")
	for _, c := range []struct{ text, who, want string }{
		{"reject t b", "joe", "may not speak"}, {"reject t b", "jane", ""}, {"promote t c", "jane", "no publisher ran"},
		{"promote t b", "jane", ""}, {"pin t", "jane", ""}, {"hold t", "", "may not speak"}, {"hold t", "jane", ""},
		{"retry t", "jane", ""}, {"unhold t", "jane", ""}, {"unpin t", "jane", ""},
	} {
		cmd, err := ParseCommand(c.text)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Who, cmd.At = c.who, begin
		was := len(b.Entries)
		after, refused := Apply(b, cmd, ground)
		if (refused == "") != (c.want == "") || !strings.Contains(refused, c.want) || len(after.Entries) != was+1 {
			t.Errorf("%s of %s: refused %q, %d entries", c.text, c.who, refused, len(after.Entries)-was)
		}
		if e := after.Entries[was]; e.Who != c.who || (e.Verb == Refused) != (refused != "") {
			t.Errorf("%s of %s: got the entry %+v", c.text, c.who, e)
		}
		b = after
	}
	s := b.Standing()
	if len(s.Rejected) > 0 || s.Promoted["b"].Who != "jane" || s.Pin != nil || s.Hold != nil || s.Retry == nil {
		t.Errorf("got %+v", s)
	}
	for _, text := range []string{"", "reject", "reject t", "promote t", "like t b", "hold t b c"} {
		if _, err := ParseCommand(text); err == nil {
			t.Errorf("%q is taken for a command", text)
		}
	}
	if words := Words(); !slices.IsSorted(words) || len(words) != len(verbs) {
		t.Errorf("got %q", words)
	}
}

// No answer is neither good nor bad.
func TestVerification(t *testing.T) {
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	run := func() *Book {
		return New(uid, "target").Append(Run{Commit: "a", At: begin, Result: Good, Check: &Check{Seconds: 1800}})
	}
	for name, c := range map[string]struct {
		readings map[int]Reading
		want     Result
		done     int
	}{
		"good for the time":      {map[int]Reading{0: Holds, 30: Holds}, Good, 30},
		"looked at later":        {map[int]Reading{0: Holds, 50: Holds}, Good, 30},
		"not for the time":       {map[int]Reading{5: Holds, 30: Holds}, Ended, 0},
		"bad":                    {map[int]Reading{0: Holds, 20: Broken, 30: Holds}, Failed, 20},
		"bad at last":            {map[int]Reading{0: Holds, 40: Broken}, Failed, 40},
		"unknown is not good":    {map[int]Reading{0: Holds, 30: Unknown, 40: Holds}, Ended, 0},
		"unknown is not bad":     {map[int]Reading{0: Unknown, 10: Holds, 40: Holds}, Good, 40},
		"nobody looked":          {nil, Ended, 0},
		"before the run it says": {map[int]Reading{-5: Broken}, Ended, 0},
	} {
		b := run()
		for m := -5; m <= 60; m++ {
			if is, ok := c.readings[m]; ok {
				b = b.Measured(is, at(m))
			}
		}
		got := b.Runs[0].Check
		if got.Result != c.want || c.want != Ended && !got.Done.Equal(at(c.done)) || b.Ran("a") != (c.want == Good) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":"saas-ledger/v1","generation":1,"writer":"w","uid":"u","target":"t"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := Parse(raw)
		if err != nil {
			return
		}
		for _, c := range append(b.Commits(), "x") {
			b.Stay(c, Order{}, begin, false)
		}
		b.Standing()
		if b.Bounded().size() == 0 {
			t.Error("it has no size")
		}
	})
}

// A loop over many targets spends little on their books.
func BenchmarkStay(b *testing.B) {
	book := New(uid, "target")
	var branch []string
	for i := range 200 {
		c := fmt.Sprintf("%040x", i)
		branch = append([]string{c}, branch...)
		book = book.Append(Run{Commit: c, At: begin.Add(time.Duration(i) * time.Hour), Result: Good})
	}
	book = book.Along(branch).Bounded()
	order := NewOrder(branch)
	for b.Loop() {
		for _, c := range branch[:50] {
			book.Stay(c, order, begin.Add(300*time.Hour), false)
		}
	}
}
