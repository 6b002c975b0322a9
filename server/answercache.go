package server

import (
	"container/list"
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// An answerCache keeps answers to GraphQL requests. An answer over a bundle never changes,
// since a bundle does not. When the cache is full, the answer that was not used for the
// longest time is dropped first.
type answerCache struct {
	mu       sync.Mutex
	elements map[cacheKey]*list.Element // with *cachedAnswer values
	recent   list.List                  // most recently used first
	size     int64
	limit    int64
}

// A cacheKey is the digest of a bundle and a request over it.
type cacheKey [sha256.Size]byte

// A cachedAnswer is an answer with its key.
type cachedAnswer struct {
	key   cacheKey
	reply reply // prepared, without a content type
}

// answerOverhead is about the memory in bytes that a cached answer takes beside its body.
const answerOverhead = 512

// newAnswerCache returns a cache of at most limit bytes, or nil if limit is not positive.
func newAnswerCache(limit int64) *answerCache {
	if limit <= 0 {
		return nil
	}
	return &answerCache{elements: map[cacheKey]*list.Element{}, limit: limit}
}

// cacheKeyOf returns the key of a request over a bundle. The method of the request is not
// part of the key, since it does not change an answer without errors.
func cacheKeyOf(on *Snapshot, req *gql.Request) cacheKey {
	h := sha256.New()
	var vars []byte
	if req.Variables != nil {
		vars = bundle.AppendCanonical(nil, req.Variables)
	}
	for _, part := range []string{on.Bundle.SHA256(), req.Operation, strconv.FormatBool(req.EmptyName), req.Query, string(vars)} {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // never fails
		_, _ = h.Write([]byte(":" + part))
	}
	return cacheKey(h.Sum(nil))
}

// get returns the answer for a key, nil if there is none.
func (a *answerCache) get(q cacheKey) *reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.elements[q]
	if e == nil {
		return nil
	}
	a.recent.MoveToFront(e)
	known, _ := e.Value.(*cachedAnswer)
	p := known.reply
	return &p
}

// put adds an answer to the cache. An answer larger than an eighth of the cache is not
// added, since too many others would be dropped for it.
func (a *answerCache) put(q cacheKey, p *reply) {
	cost := int64(len(p.body)) + answerOverhead
	if cost > a.limit/8 {
		return
	}
	p.prepare()
	kept := *p
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.elements[q] != nil {
		return
	}
	a.elements[q] = a.recent.PushFront(&cachedAnswer{q, kept})
	for a.size += cost; a.size > a.limit; {
		old, _ := a.recent.Remove(a.recent.Back()).(*cachedAnswer)
		delete(a.elements, old.key)
		a.size -= int64(len(old.reply.body)) + answerOverhead
	}
}
