package promotion

import (
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// subject returns a subject that follows the publisher p, and what the records of p tell: it ran b and then c well.
func subject(t *testing.T, b *testBucket) Subject {
	t.Helper()
	at := RecordPlace{"stage", "aa"}
	b.put(t, at, "b", `{"success": true, "check_in": "2026-11-20 12:00:00+00:00"}`)
	b.put(t, at, "c", `{"success": true, "check_in": "2026-11-21 12:00:00+00:00"}`)
	return Subject{Channels: []Channel{{"stage", []string{"aa"}}}, Order: [][]string{{"c", "b", "a"}}}
}

// A ledger that cannot be used says nothing good: the gate stays shut, with and without a soak time.
func TestLedgersThatCannotBeUsed(t *testing.T) {
	b := newBucket()
	s := subject(t, b)
	ask := func(s Subject) Verdict {
		return Gate(s, "b", WithBooks(t.Context(), ledger.NewBooks(b), NewRecords(b, 1).Read(t.Context(), s, "b")), now)
	}
	for _, soak := range []time.Duration{0, 24 * time.Hour} {
		s.SoakTime = soak
		if v := ask(s); !v.Open {
			t.Errorf("without a ledger: %+v", v)
		}
		for name, raw := range map[string]string{"damaged": `{"version":"saas-ledger/v1",`, "newer": `{"version":"saas-ledger/v2"}`} {
			b.objects[ledger.Folder+"aa"] = stored{[]byte(raw), 1}
			if v := ask(s); v.Open || v.Code != Unknown || !strings.Contains(v.Reason, "cannot be used") {
				t.Errorf("%s, %v to soak: %+v", name, soak, v)
			}
			delete(b.objects, ledger.Folder+"aa")
		}
	}
}

// What the records tell is taken over: the time of a commit goes on while newer ones run, and nothing soaks anew.
func TestTakeOver(t *testing.T) {
	b := newBucket()
	s := subject(t, b)
	s.SoakTime = 72 * time.Hour // since the 20th
	logs := NewRecords(b, 1).Read(t.Context(), s, "b")
	if v := Gate(s, "b", logs, now); !v.Open {
		t.Errorf("before the first run of ours: %+v", v)
	}
	h := historyOf(s.places(), logs)
	book := h.book.Append(ledger.Run{Commit: "d", At: now, Result: ledger.Good})
	for at, log := range logs {
		log.Book = book
		logs[at] = log
	}
	s.Order = [][]string{{"d", "c", "b", "a"}}
	if v := Gate(s, "b", logs, now.Add(time.Hour)); !v.Open {
		t.Errorf("after it: %+v", v)
	}
	if v := Gate(s, "c", logs, now.Add(time.Hour)); v.Open || v.Code != Soaks ||
		!v.Opens.Equal(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("a day later: %+v", v)
	}
}
