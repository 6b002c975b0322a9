package ledger

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
)

// Folder has the books, in the bucket of the records of promotions.
const Folder = "state/prcheck-saas-deploy/ledger/"

// maxTries is how often a book is written again because somebody else was faster.
const maxTries = 8

// Key returns the key of the book of a target.
func Key(uid string) (string, error) {
	if uid == "" || strings.Trim(uid, "0123456789abcdefghijklmnopqrstuvwxyz-") != "" {
		return "", fmt.Errorf("%.60q is no identity of a target", uid)
	}
	return Folder + uid, nil
}

// Read returns the book of a target with its version in the bucket, a new one if there is none.
func Read(ctx context.Context, bucket integration.BucketReader, uid, target string) (*Book, string, error) {
	key, err := Key(uid)
	if err != nil {
		return nil, "", err
	}
	raw, version, err := bucket.Get(ctx, key)
	if errors.Is(err, integration.ErrNotThere) {
		return New(uid, target), "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading the ledger of %s: %w", target, err)
	}
	b, err := Parse(raw)
	if err == nil && b.UID != uid {
		err = fmt.Errorf("it is that of %.60q", b.UID)
	}
	if err != nil {
		return nil, "", fmt.Errorf("the ledger of %s, %s, cannot be used: %w; nothing is promoted or run for the target until "+
			"it is mended, or removed: then rejections and pins are forgotten", target, key, err)
	}
	return b, version, nil
}

// Update changes the book of a target, and returns it as it was written. A change that changes nothing writes nothing.
// The change may be called several times: another program may write at the same time.
func Update(ctx context.Context, bucket integration.BucketWriter, uid, target string,
	change func(*Book) (*Book, error)) (*Book, error) {
	key, err := Key(uid)
	if err != nil {
		return nil, err
	}
	writer := rand.Text()
	for range maxTries {
		was, version, err := Read(ctx, bucket, uid, target)
		if err != nil {
			return nil, err
		}
		if was.Writer == writer {
			return was, nil // an earlier try was written, and its answer was lost
		}
		next, err := change(was)
		if err != nil || next.Same(was) {
			return was, err
		}
		next = next.Bounded()
		next.Generation, next.Writer, next.Version = was.Generation+1, writer, Version
		raw, err := json.Marshal(next)
		if err != nil {
			return nil, err
		}
		if _, err := Parse(raw); err != nil {
			return nil, fmt.Errorf("the new ledger of %s is not valid, which is a mistake of the program: %w", target, err)
		}
		_, err = bucket.Put(ctx, key, raw, version)
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, integration.ErrChanged) {
			return nil, fmt.Errorf("writing the ledger of %s: %w", target, err)
		}
	}
	return nil, fmt.Errorf("writing the ledger of %s: %w", target, integration.ErrChanged)
}

// Books reads books, each once. Several goroutines may use them at once.
type Books struct {
	bucket integration.BucketReader
	mu     sync.Mutex
	read   map[string]*reading
}

// A reading is a book that was read.
type reading struct {
	once sync.Once
	book *Book
	err  error
}

// NewBooks returns the books of a bucket.
func NewBooks(bucket integration.BucketReader) *Books {
	return &Books{bucket: bucket, read: map[string]*reading{}}
}

// Of returns the book of a target.
func (b *Books) Of(ctx context.Context, uid, target string) (*Book, error) {
	b.mu.Lock()
	r := b.read[uid]
	if r == nil {
		r = &reading{}
		b.read[uid] = r
	}
	b.mu.Unlock()
	r.once.Do(func() { r.book, _, r.err = Read(ctx, b.bucket, uid, target) })
	return r.book, r.err
}

// Known returns the book of a target as it is known, nil if it was not read, or cannot be used.
func (b *Books) Known(uid string) *Book {
	b.mu.Lock()
	r := b.read[uid]
	b.mu.Unlock()
	if r == nil {
		return nil
	}
	r.once.Do(func() { r.err = errNotRead })
	if r.err != nil {
		return nil
	}
	return r.book
}

// errNotRead says that nobody read a book.
var errNotRead = errors.New("nobody read it")

// Now takes a book that was written as the one that is there.
func (b *Books) Now(book *Book) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &reading{book: book}
	r.once.Do(func() {})
	b.read[book.UID] = r
}
