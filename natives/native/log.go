package native

import (
	"io"
	"sync"
)

// A lockedLog takes lines of several parts at once, each in one call of Write.
type lockedLog struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements [io.Writer].
func (l *lockedLog) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(line)
}
