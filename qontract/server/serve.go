package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

// shutdownGrace is how long running requests may take after the server was told to stop.
const shutdownGrace = 20 * time.Second

// Serve answers the requests of a listener until ctx ends. Then it takes no more requests
// and waits up to 20 seconds for the running ones.
func (h *Hub) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(limitConnections(l, h.opts.Limits.Connections)) }()
	select {
	case err := <-served:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	h.opts.Log("ending: no more requests are taken")
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	err := server.Shutdown(end)
	if err != nil {
		_ = server.Close() // ends the requests that still run
	}
	if broken := <-served; !errors.Is(broken, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", broken)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("ending: some requests took longer than 20 s and were cut off")
	}
	return err
}
