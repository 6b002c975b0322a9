package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Serving say how a handler is served.
type Serving struct {
	Handler     http.Handler
	Certificate *Certificate
	// Reload is called at each interval, if that is not 0.
	Reload func(ctx context.Context)
	Every  time.Duration
}

// grace is how long running requests may take after the server was told to stop. An API server
// waits up to 30 s, and ours says 5 s.
const grace = 10 * time.Second

// The bounds of what a connection sends and nobody has read yet, in bytes. An API server has one
// connection for all its requests: small ones must find room beside large ones that wait.
const (
	maxUnread       = 512 << 10 // of a request
	maxUnreadOfAll  = 8 << 20   // of a connection
	maxSimultaneous = 250       // requests of a connection
)

// Serve answers the requests of a listener until ctx ends. Then it takes no more requests, and
// waits for the running ones.
func Serve(ctx context.Context, l net.Listener, o Serving) error {
	server := &http.Server{
		Handler:   o.Handler,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.Certificate.get},

		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: maxSimultaneous, MaxReceiveBufferPerConnection: maxUnreadOfAll,
			MaxReceiveBufferPerStream: maxUnread},
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	var serving sync.WaitGroup
	serving.Go(func() { served <- server.ServeTLS(l, "", "") })
	defer serving.Wait()
	err := o.wait(ctx, served)
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if server.Shutdown(end) != nil {
		_ = server.Close() // requests that still run are cut off
	}
	return err
}

// wait reloads until the server must end.
func (o Serving) wait(ctx context.Context, served <-chan error) error {
	var tick <-chan time.Time
	if o.Every > 0 {
		ticker := time.NewTicker(o.Every)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-served:
			if errors.Is(err, http.ErrServerClosed) {
				return nil
			}
			return fmt.Errorf("serving: %w", err)
		case <-tick:
			o.Reload(ctx)
		}
	}
}
