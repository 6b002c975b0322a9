package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
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

// CheckKey returns an error for a text that is not a key of a document.
func CheckKey(key string) error {
	if !keyPattern.MatchString(key) || len(key) > 200 {
		return fmt.Errorf("%q is not a key of the state", key)
	}
	return nil
}

// CheckFolder returns an error for a text that is not the folder of a list: a key, or "" for the whole state.
func CheckFolder(folder string) error {
	if folder == "" {
		return nil
	}
	return CheckKey(folder)
}

// CheckSize returns an error for a document that is too large.
func CheckSize(raw []byte) error {
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

// Natives is the folder with what native integrations remember. Nothing in it is collected,
// and a signature counts there however old it is: what an integration made must not be
// forgotten only because nothing changed for some weeks.
const Natives = "native"

// ForNative returns the documents of one native integration.
func ForNative(s Store, name string) Store { return Below(s, Natives+"/"+Name(name)) }

// Below returns the documents below a folder as a store of their own, whose keys do not have
// the folder. Documents elsewhere cannot be read, listed or written through it.
func Below(s Store, folder string) Store { return below{s, folder + "/"} }

// ReadOnly returns a store that refuses to write, with [ErrReadOnly].
func ReadOnly(s Store) Store { return readOnly{s} }

// A below is a store of the documents below a folder.
type below struct {
	store  Store
	prefix string // the folder with a slash at the end
}

// Read implements [Store].
func (b below) Read(ctx context.Context, key string) ([]byte, error) {
	if err := CheckKey(key); err != nil {
		return nil, err
	}
	return b.store.Read(ctx, b.prefix+key)
}

// Write implements [Store].
func (b below) Write(ctx context.Context, key string, raw []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return b.store.Write(ctx, b.prefix+key, raw)
}

// Update implements [Store].
func (b below) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return b.store.Update(ctx, b.prefix+key, change)
}

// Remove implements [Store].
func (b below) Remove(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return b.store.Remove(ctx, b.prefix+key)
}

// List implements [Store].
func (b below) List(ctx context.Context, folder string) ([]Entry, error) {
	if err := CheckFolder(folder); err != nil {
		return nil, err
	}
	list, err := b.store.List(ctx, strings.TrimSuffix(b.prefix+folder, "/"))
	var out []Entry
	for _, e := range list {
		if key, ok := strings.CutPrefix(e.Key, b.prefix); ok {
			e.Key = key
			out = append(out, e)
		}
	}
	return out, err
}

// Discard implements [Store].
func (b below) Discard(ctx context.Context, e Entry) error {
	if err := CheckKey(e.Key); err != nil {
		return err
	}
	e.Key = b.prefix + e.Key
	return b.store.Discard(ctx, e)
}

// Expendable returns a store that need not be writable. After the first write that the system
// refuses, for instance because the disk is full, it refuses all others with [ErrReadOnly], and failed
// was told the reason once. What is there can be read as before.
func Expendable(s Store, failed func(error)) Store {
	return &expendable{Store: s, failed: failed}
}

// An expendable is a store that gives up writing when the system refuses it.
type expendable struct {
	Store
	failed func(error)
	isOver atomic.Bool
}

// Write implements [Store].
func (e *expendable) Write(ctx context.Context, key string, raw []byte) error {
	return e.try(ctx, key, func() error { return e.Store.Write(ctx, key, raw) })
}

// Remove implements [Store].
func (e *expendable) Remove(ctx context.Context, key string) error {
	return e.try(ctx, key, func() error { return e.Store.Remove(ctx, key) })
}

// Discard implements [Store].
func (e *expendable) Discard(ctx context.Context, of Entry) error {
	return e.try(ctx, of.Key, func() error { return e.Store.Discard(ctx, of) })
}

// Update implements [Store]. An error of change is no failure of the store.
func (e *expendable) Update(ctx context.Context, key string, change func(old []byte) ([]byte, error)) error {
	var refused error
	err := e.try(ctx, key, func() error {
		err := e.Store.Update(ctx, key, func(old []byte) (raw []byte, err error) {
			raw, refused = change(old)
			return raw, refused
		})
		if refused != nil {
			return nil
		}
		return err
	})
	if refused != nil {
		return fmt.Errorf("changing %q in the state: %w", key, refused)
	}
	return err
}

// try calls a function that writes, unless an earlier one failed.
func (e *expendable) try(ctx context.Context, key string, write func() error) error {
	if e.isOver.Load() {
		return refuseWrite(key)
	}
	err := write()
	var refused syscall.Errno
	if ctx.Err() != nil || !errors.As(err, &refused) {
		return err // the next document may be written
	}
	if !e.isOver.Swap(true) {
		e.failed(err)
	}
	return fmt.Errorf("%w: %w", ErrReadOnly, err)
}

// tidy removes what writers left that died, see [Collect].
func (e *expendable) tidy(ctx context.Context, before time.Time) error {
	if t, ok := e.Store.(tidier); ok {
		return t.tidy(ctx, before)
	}
	return nil
}
