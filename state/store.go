package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/internal/objects"
)

// MaxDocument is the size in bytes above which a document is neither written
// nor read.
const MaxDocument = 64 << 20

// Errors that callers tell apart.
var (
	// ErrNotFound says that there is no document with the key.
	ErrNotFound = fs.ErrNotExist
	// ErrUnreachable says that the state does not answer at present. That is nobody's
	// mistake, and a later call may succeed.
	ErrUnreachable = objects.ErrUnreachable
	// ErrReadOnly says that the state was opened for reading, or does not let us write.
	ErrReadOnly = errors.New("it can only be read")
	// ErrBusy says that others changed a document all the time, or held a lock for too
	// long.
	ErrBusy = errors.New("others are writing to it all the time")
)

// A Store keeps documents under keys. Several goroutines, processes and, with
// [S3], machines may use the same store at once.
//
// A call ends at once when its context ends, with the context's error. Without
// that it ends after about half a minute. A call that writes may have written
// although its context ended.
type Store interface {
	// Read returns a document. The error is [ErrNotFound] when there is none.
	Read(ctx context.Context, key string) ([]byte, error)
	// Write stores a document and replaces the one that is there.
	Write(ctx context.Context, key string, raw []byte) error
	// Update replaces a document by the one that change makes of it. Nobody else
	// writes the document in between. old is nil when there is no document. When
	// change returns nil, nothing is written. When somebody else was faster,
	// change is called again. The same happens when the new document was written
	// and only the answer was lost, so a second call must do no harm.
	Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error
	// Remove forgets a document. It is no error when there is none.
	Remove(ctx context.Context, key string) error
	// List returns the documents below a key, or the documents of the whole state
	// when the key is "": the newest first, and by key when they are equally old.
	List(ctx context.Context, folder string) ([]Entry, error)
	// Discard forgets a document if it is still as it was listed.
	Discard(ctx context.Context, e Entry) error
}

// An Entry describes a document of a list.
type Entry struct {
	Key     string
	Size    int64
	Written time.Time
	etag    string // the version of an S3 object
}

// sortNewestFirst sorts a list by age, and by key when documents are equally old.
func sortNewestFirst(list []Entry) {
	slices.SortFunc(list, func(a, b Entry) int {
		if c := b.Written.Compare(a.Written); c != 0 {
			return c
		}
		return strings.Compare(a.Key, b.Key)
	})
}

// keyPattern matches valid keys.
var keyPattern = lazyregexp.New(`^[a-z0-9_-][a-z0-9._-]*(/[a-z0-9_-][a-z0-9._-]*)*$`)

func checkKey(key string) error {
	if !keyPattern.MatchString(key) || len(key) > 200 {
		return fmt.Errorf("%q is not a key of the state", key)
	}
	return nil
}

// checkFolder checks the folder of a list: a key, or "" for the whole state.
func checkFolder(folder string) error {
	if folder == "" {
		return nil
	}
	return checkKey(folder)
}

func checkSize(raw []byte) error {
	if len(raw) > MaxDocument {
		return fmt.Errorf("it has more than %d bytes", MaxDocument)
	}
	return nil
}

// Name returns a part of a key for a list of texts: a digest of 32 hex digits. Other
// lists of texts have other names.
func Name(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(t), t) // never fails
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

// Access says what a state is opened for.
type Access int

// The kinds of access.
const (
	Reading Access = iota // calls that write fail with [ErrReadOnly]
	Writing
)

// At opens the state at a place: a folder, or s3://BUCKET/PREFIX. It sends a request to
// a bucket to find out whether the bucket can be used. The error is [ErrUnreachable] if
// the bucket does not answer; otherwise it says what to do. If the bucket allows no
// writes, the error is [ErrReadOnly], and the state that is returned with it can be read.
func At(ctx context.Context, place string, to Access) (Store, error) {
	if strings.HasPrefix(place, "s3://") {
		s, err := OpenS3(ctx, place, to)
		switch {
		case errors.Is(err, ErrReadOnly):
			return readOnly{s}, err
		case err != nil:
			return nil, err
		case to == Reading:
			return readOnly{s}, nil
		}
		return s, nil
	}
	d, err := Open(place)
	switch {
	case err != nil:
		return nil, err
	case to == Reading:
		return readOnly{d}, nil
	}
	return d, nil
}

// A readOnly store refuses calls that write.
type readOnly struct{ Store }

func refuseWrite(key string) error {
	return fmt.Errorf("writing %q to the state: %w", key, ErrReadOnly)
}

func (readOnly) Write(_ context.Context, key string, _ []byte) error { return refuseWrite(key) }
func (readOnly) Remove(_ context.Context, key string) error          { return refuseWrite(key) }
func (readOnly) Discard(_ context.Context, e Entry) error            { return refuseWrite(e.Key) }

func (readOnly) Update(_ context.Context, key string, _ func([]byte) ([]byte, error)) error {
	return refuseWrite(key)
}
