package server

import (
	"container/list"
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
)

// An answerCache keeps answers to GraphQL requests. An answer over a bundle never changes,
// since a bundle does not.
//
// An answer is on trial until it is asked for again. Answers on trial get an eighth of the
// memory, so that requests that never repeat do not fill the cache. When a list is full, its
// answer that was not used for the longest time is dropped first.
type answerCache struct {
	mu       sync.Mutex
	elements map[cacheKey]*list.Element // with *cachedAnswer values
	trial    answerList
	kept     answerList // answers that were asked for again
}

// An answerList has answers, the most recently used first.
type answerList struct {
	list.List
	size, limit int64
}

// A cacheKey is the digest of a bundle and a request over it.
type cacheKey [sha256.Size]byte

// A cachedAnswer is an answer with its key.
type cachedAnswer struct {
	key   cacheKey
	on    *answerList
	reply reply // prepared, without a content type
}

// answerOverhead is about the memory in bytes that a cached answer takes beside its body.
const answerOverhead = 512

// cost returns about the memory in bytes that the answer takes.
func (c *cachedAnswer) cost() int64 { return int64(len(c.reply.body)) + answerOverhead }

// newAnswerCache returns a cache of at most limit bytes, or nil if limit is not positive.
func newAnswerCache(limit int64) *answerCache {
	if limit <= 0 {
		return nil
	}
	trial := limit / 8
	return &answerCache{elements: map[cacheKey]*list.Element{}, trial: answerList{limit: trial},
		kept: answerList{limit: limit - trial}}
}

// cacheKeyOf returns the key of a request over a bundle. The method of the request is not
// part of the key, since it does not change an answer without errors.
func cacheKeyOf(on *Snapshot, req *gql.Request) cacheKey {
	h := sha256.New()
	var vars []byte
	if req.Variables != nil {
		vars = bundle.AppendOrdered(nil, req.Variables) // the order of keys counts in a filter
	}
	for _, part := range []string{on.Bundle.SHA256(), req.Operation, strconv.FormatBool(req.EmptyName), req.Query,
		string(vars)} {
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
	known, _ := e.Value.(*cachedAnswer)
	known.on.Remove(e)
	known.on.size -= known.cost()
	a.add(&a.kept, known)
	p := known.reply
	return &p
}

// put adds an answer to the cache, on trial. An answer larger than an eighth of the cache is
// not added, since too many others would be dropped for it.
func (a *answerCache) put(q cacheKey, p *reply) {
	answer := &cachedAnswer{key: q, reply: *p}
	if answer.cost() > a.trial.limit {
		return
	}
	p.prepare()
	answer.reply = *p
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.elements[q] == nil {
		a.add(&a.trial, answer)
	}
}

// add adds an answer to a list, and drops answers while the list is too large.
func (a *answerCache) add(to *answerList, answer *cachedAnswer) {
	answer.on = to
	a.elements[answer.key] = to.PushFront(answer)
	for to.size += answer.cost(); to.size > to.limit; {
		old, _ := to.Remove(to.Back()).(*cachedAnswer)
		delete(a.elements, old.key)
		to.size -= old.cost()
	}
}
