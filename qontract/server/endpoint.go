package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/app-sre/prcheck/qontract/bundle"
)

// Resources decide for which resources an integration may ask.
type Resources interface {
	Allow(path string) bool // the path of a resource in the bundle
	AllowAll() bool         // also for lists of resources
}

// Options are the settings of an endpoint: which bundles it serves to which integration.
type Options struct {
	Base, Head  *Snapshot
	Integration string
	// BaseAllowed and HeadAllowed are the schemas of the datafiles that the
	// integration may read in each bundle.
	BaseAllowed, HeadAllowed []bundle.SchemaPath
	// Definitions is the schema of the datafiles that define integrations. Every client
	// reads some of their fields. "" is that of app-interface.
	Definitions bundle.SchemaPath
	// Unenforced allows the integration to read datafiles of every schema.
	Unenforced bool
	// Strict forbids answers that depend on datafiles of other schemas, even if nothing is
	// read of these datafiles.
	Strict bool
	// Resources are those that the integration may ask for; nil are all.
	Resources Resources
	// Token is the value of the header Authorization without which nothing is answered; "" answers everybody.
	Token string
	// Observe is called with each exchange before the answer is sent. Several
	// goroutines call it at once. It may be nil.
	Observe func(Exchange)
}

// An Endpoint is a server for one task.
type Endpoint struct {
	opts     Options
	handler  *handler
	listener net.Listener
	server   *http.Server
	done     chan error

	mu        sync.Mutex
	closed    bool
	answering sync.WaitGroup
	forbidden ForbiddenError
}

// Open starts an endpoint on a free port of the loopback interface.
func Open(ctx context.Context, opts Options) (*Endpoint, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("opening an endpoint for %s: %w", opts.Integration, err)
	}
	e := &Endpoint{opts: opts, listener: listener, done: make(chan error, 1),
		forbidden: ForbiddenError{Integration: opts.Integration}}
	e.handler = &handler{snapshotStore: e, checkResponse: e.checkResponse, observe: opts.Observe,
		persisted: newQueryCache()}
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

// URL returns the address of /graphql, which answers over head.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() + "/graphql" }

// BaseURL returns the address of GraphQL over base.
func (e *Endpoint) BaseURL() string {
	return "http://" + e.listener.Addr().String() + "/graphqlsha/" + e.opts.Base.Bundle.SHA256()
}

// Close stops the endpoint and waits until the running requests have ended. It returns a
// [ForbiddenError] if the task read something that it may not read.
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
	if !e.forbidden.isEmpty() {
		return e.forbidden.clone()
	}
	return closing
}

// startAnswering counts a running request. It returns false if the endpoint is closed.
func (e *Endpoint) startAnswering() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.answering.Add(1)
	}
	return !e.closed
}

// ServeHTTP answers one request.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !e.startAnswering() {
		return
	}
	defer e.answering.Done()
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte(e.opts.Token)) == 0 && e.opts.Token != "" {
		http.Error(w, "this server belongs to one task: send its {graphql_token} as the header Authorization",
			http.StatusUnauthorized)
		return
	}
	e.handler.ServeHTTP(w, r)
}

// latest returns the snapshot of head.
func (e *Endpoint) latest() *Snapshot { return e.opts.Head }

// find returns the snapshot of base or head.
func (e *Endpoint) find(sha string) *Snapshot {
	switch sha {
	case e.opts.Base.Bundle.SHA256():
		return e.opts.Base
	case e.opts.Head.Bundle.SHA256():
		return e.opts.Head
	}
	return nil
}
