package server

import (
	"container/list"
	"crypto/sha256"
	"strconv"
	"sync"

	"github.com/app-sre/prcheck/bundle"
	"github.com/app-sre/prcheck/gql"
)

// answers remembers what was answered: a bundle does not change, so neither
// does an answer over it. What was not asked for longest is forgotten first.
type answers struct {
	mu    sync.Mutex
	at    map[question]*list.Element // of a knownAnswer
	order list.List                  // most recent first
	size  int64
	limit int64
}

// A question is a request over a bundle, as a digest.
type question [sha256.Size]byte

type knownAnswer struct {
	question question
	reply    reply // sealed, without a content type
}

// answerCost is about what remembering an answer takes beside its bytes.
const answerCost = 512

// newAnswers returns a memory of so many bytes, nil for none.
func newAnswers(limit int64) *answers {
	if limit <= 0 {
		return nil
	}
	return &answers{at: map[question]*list.Element{}, limit: limit}
}

// questionOf is what a request asks of a bundle. Persisted queries and the
// method are not part of it: they make no difference to a good answer.
func questionOf(on *Snapshot, req *gql.Request) question {
	h := sha256.New()
	var vars []byte
	if req.Variables != nil {
		vars = bundle.AppendCanonical(nil, req.Variables)
	}
	for _, part := range []string{on.Bundle.SHA256(), req.Operation, strconv.FormatBool(req.EmptyName), req.Query, string(vars)} {
		_, _ = h.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // never fails
		_, _ = h.Write([]byte(":" + part))
	}
	return question(h.Sum(nil))
}

// get returns the answer to a question, nil when it is not known.
func (a *answers) get(q question) *reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.at[q]
	if e == nil {
		return nil
	}
	a.order.MoveToFront(e)
	known, _ := e.Value.(*knownAnswer)
	p := known.reply
	return &p
}

// put remembers the answer to a question, unless it is too large to be worth
// the others.
func (a *answers) put(q question, p *reply) {
	cost := int64(len(p.body)) + answerCost
	if cost > a.limit/8 {
		return
	}
	p.seal()
	kept := *p
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at[q] != nil {
		return
	}
	a.at[q] = a.order.PushFront(&knownAnswer{q, kept})
	for a.size += cost; a.size > a.limit; {
		old, _ := a.order.Remove(a.order.Back()).(*knownAnswer)
		delete(a.at, old.question)
		a.size -= int64(len(old.reply.body)) + answerCost
	}
}
