package promotion

import (
	"context"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// Ask reads what a gate needs, and says whether a target may run a commit.
func Ask(ctx context.Context, records *Records, books *ledger.Books, of Subject, t *saas.Target, commit string,
	now time.Time) Verdict {
	of.Own, of.OwnErr = OwnBook(ctx, records, books, t)
	return Gate(of, commit, WithBooks(ctx, books, records.Read(ctx, of, commit)), now)
}

// OwnBook returns the ledger of a target. One without runs has those that the records of its own channels tell, which
// an earlier program wrote.
func OwnBook(ctx context.Context, records *Records, books *ledger.Books, t *saas.Target) (*ledger.Book, error) {
	b, err := books.Of(ctx, t.UID(), t.Label())
	if err != nil || len(b.Runs) > 0 || t.Promotion == nil || len(t.Promotion.Publish) == 0 {
		return b, err
	}
	return taken(ctx, records, b, t.UID(), t.Promotion.Publish)
}

// taken returns a ledger with the runs that the records of the channels of a target tell.
func taken(ctx context.Context, records *Records, b *ledger.Book, uid string, channels []string) (*ledger.Book, error) {
	logs := Logs{}
	var places []RecordPlace
	for _, c := range channels {
		at := RecordPlace{Channel: c, UID: uid}
		log := records.Log(ctx, at)
		log.Book = b
		logs[at], places = log, append(places, at)
	}
	h := historyOf(places, logs)
	if h.err != nil {
		return nil, fmt.Errorf("taking over the records of %s: %w", b.Target, h.err)
	}
	return h.book, nil
}
