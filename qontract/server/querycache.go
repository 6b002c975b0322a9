package server

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"sync"
)

// maxQueryCacheBytes is the maximal size of all texts in a queryCache.
const maxQueryCacheBytes = 8 << 20

// A queryCache keeps the texts of persisted queries by bundle and sha256 of the text. When
// it is full, the query that was not used for the longest time is dropped first.
type queryCache struct {
	mu       sync.Mutex
	elements map[string]*list.Element // with persistedQuery values, by bundle and sha256
	recent   list.List                // most recently used first
	size     int
}

// A persistedQuery is the text of a query with its key in the cache.
type persistedQuery struct{ key, text string }

func newQueryCache() *queryCache { return &queryCache{elements: map[string]*list.Element{}} }

// sha256Hex returns the sha256 of a query in hex.
func sha256Hex(query string) string {
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:])
}

// get returns the text of a query over a bundle by the sha256 of the text.
func (p *queryCache) get(on *Snapshot, sum string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := p.elements[on.Bundle.SHA256()+sum]
	if e == nil {
		return "", false
	}
	p.recent.MoveToFront(e)
	q, _ := e.Value.(persistedQuery)
	return q.text, true
}

// put adds the text of a query over a bundle.
func (p *queryCache) put(on *Snapshot, text string) {
	key := on.Bundle.SHA256() + sha256Hex(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e := p.elements[key]; e != nil {
		p.recent.MoveToFront(e)
		return
	}
	p.elements[key] = p.recent.PushFront(persistedQuery{key, text})
	p.size += len(key) + len(text)
	for p.size > maxQueryCacheBytes {
		last := p.recent.Back()
		old, _ := p.recent.Remove(last).(persistedQuery)
		delete(p.elements, old.key)
		p.size -= len(old.key) + len(old.text)
	}
}
