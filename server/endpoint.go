package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/app-sre/prcheck/bundle"
)

// Options say what an endpoint serves, and to whom.
type Options struct {
	Base, Head  *Snapshot
	Integration string
	// BaseAllowed and HeadAllowed are the schemas that the integration may
	// read of the datafiles of each bundle.
	BaseAllowed, HeadAllowed []bundle.Schema
	// Unenforced lets it read everything.
	Unenforced bool
	// Observe is told every exchange before the answer is sent, by several
	// goroutines at once. Nil: nobody is told.
	Observe func(Exchange)
}

// An Endpoint is a server for one task. It is open until it is closed.
type Endpoint struct {
	opts     Options
	site     *site
	listener net.Listener
	server   *http.Server
	done     chan error

	mu        sync.Mutex
	closed    bool
	answering sync.WaitGroup
	forbidden []bundle.Schema
}

// A ForbiddenError says which schemas a task read without being allowed to.
type ForbiddenError struct {
	Integration string
	Schemas     []bundle.Schema
}

func (e *ForbiddenError) Error() string {
	var names []string
	for _, s := range e.Schemas {
		names = append(names, string(s))
	}
	return fmt.Sprintf("%s reads %s, which its definition does not allow; add it to its schemas",
		e.Integration, strings.Join(names, ", "))
}

// Open starts an endpoint on a free port of the loopback interface.
func Open(ctx context.Context, opts Options) (*Endpoint, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening an endpoint for %s: %w", opts.Integration, err)
	}
	e := &Endpoint{opts: opts, listener: listener, done: make(chan error, 1)}
	e.site = &site{shelf: e, guard: e.check, observe: opts.Observe, persisted: newPersisted()}
	e.server = &http.Server{
		Handler:           e,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	go func() {
		defer close(e.done)
		e.done <- e.server.Serve(listener)
	}()
	return e, nil
}

// URL returns the address of /graphql.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/graphql" }

// BaseURL returns the address that answers over base.
func (e *Endpoint) BaseURL() string {
	return "http://" + e.listener.Addr().String() + "/graphqlsha/" + e.opts.Base.Bundle.SHA256()
}

// Close stops the endpoint at once and waits for it, also for the requests that
// it was answering. The error is a [ForbiddenError] when the task read what it
// may not.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	closing := e.server.Close()
	served := <-e.done
	e.answering.Wait()
	if served != nil && !errors.Is(served, http.ErrServerClosed) {
		return fmt.Errorf("serving %s: %w", e.opts.Integration, served)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.forbidden) > 0 {
		return &ForbiddenError{e.opts.Integration, append([]bundle.Schema{}, e.forbidden...)}
	}
	return closing
}

// enter counts a request as being answered, unless the endpoint is closed.
func (e *Endpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.answering.Add(1)
	}
	return !e.closed
}

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.enter() {
		return
	}
	defer e.answering.Done()
	e.site.ServeHTTP(w, r)
}

func (e *Endpoint) latest() *Snapshot { return e.opts.Head }

func (e *Endpoint) find(sha string) *Snapshot {
	switch sha {
	case e.opts.Base.Bundle.SHA256():
		return e.opts.Base
	case e.opts.Head.Bundle.SHA256():
		return e.opts.Head
	}
	return nil
}
