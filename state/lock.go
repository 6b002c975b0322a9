package state

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/app-sre/prcheck/internal/safepath"
)

// lockFile is the file that is locked while a document of the folder is replaced. It
// is never removed, since a process that waits for it would go on waiting for the
// removed file while others lock a new one.
const lockFile = ".lock"

// How long a process waits for the lock, and how long it first pauses between two
// tries. The lock is held for one small write, so whoever holds it for longer than
// lockWait is a stopped process.
const (
	lockWait  = 10 * time.Second
	lockPause = time.Millisecond
)

// errNoLocks says that the system, or the file system, has no file locks.
var errNoLocks = errors.New("it cannot be changed safely, since there are no file locks here: use a bucket")

// locked calls do while no other goroutine and no other process does so for the
// same folder. It does not wait any longer when ctx ends. The system releases the
// lock of a process that dies.
func (d *Dir) locked(ctx context.Context, root *os.Root, do func() error) error {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { <-d.turn }()
	f, err := safepath.OpenFileIn(root, lockFile, os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return err
	}
	defer f.Close() // releases the lock
	end := time.Now().Add(d.wait)
	for pause := lockPause; ; pause = min(2*pause, 20*lockPause) {
		got, err := tryLock(f)
		switch {
		case err != nil:
			return err
		case got:
			return do()
		case time.Now().After(end):
			return ErrBusy
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ended(ctx)
		}
	}
}
