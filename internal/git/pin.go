package git

import (
	"context"
	"path/filepath"
	"sync"
)

// pins are what git said first.
type pins struct {
	mu   sync.Mutex
	said map[pin]any
}

// A pin names what git was asked, and of which folder.
type pin struct{ about, dir, asked string }

type pinsKey struct{}

// Pin returns a context in which git is asked once: a revision keeps the commit that it named first, though its branch
// moves meanwhile, and a folder its repository and settings. So all parts of one check see the same two commits.
func Pin(ctx context.Context) context.Context {
	return context.WithValue(ctx, pinsKey{}, &pins{said: map[pin]any{}})
}

// pinned returns what git said first, if the context is one of [Pin]. Errors are asked again: a fetch may mend them.
func pinned[T any](ctx context.Context, about, dir, asked string, ask func() (T, error)) (T, error) {
	p, ok := ctx.Value(pinsKey{}).(*pins)
	at, err := filepath.Abs(dir)
	if !ok || err != nil {
		return ask()
	}
	key := pin{about, at, asked}
	p.mu.Lock()
	first, ok := p.said[key].(T)
	p.mu.Unlock()
	if ok {
		return first, nil
	}
	found, err := ask()
	if err != nil {
		return found, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first, ok := p.said[key].(T); ok { // another one asked meanwhile
		return first, nil
	}
	p.said[key] = found
	return found, nil
}
