package server

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// maxPersisted bounds the texts of persisted queries, in bytes.
const maxPersisted = 8 << 20

// persisted remembers queries by their sha256, for each bundle by itself. What
// was not asked for longest is forgotten first.
type persisted struct {
	mu    sync.Mutex
	at    map[string]*list.Element // of a persistedQuery, by bundle and sha256
	order list.List                // most recent first
	size  int
}

type persistedQuery struct{ key, text string }

func newPersisted() *persisted { return &persisted{at: map[string]*list.Element{}} }

func sumOf(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

func (p *persisted) get(on *Snapshot, sum string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.at[on.Bundle.SHA256()+sum]
	if e == nil {
		return "", false
	}
	p.order.MoveToFront(e)
	q, _ := e.Value.(persistedQuery)
	return q.text, true
}

func (p *persisted) put(on *Snapshot, text string) {
	key := on.Bundle.SHA256() + sumOf(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.at[key]; e != nil {
		p.order.MoveToFront(e)
		return
	}
	p.at[key] = p.order.PushFront(persistedQuery{key, text})
	p.size += len(key) + len(text)
	for p.size > maxPersisted {
		last := p.order.Back()
		old, _ := p.order.Remove(last).(persistedQuery)
		delete(p.at, old.key)
		p.size -= len(old.key) + len(old.text)
	}
}
