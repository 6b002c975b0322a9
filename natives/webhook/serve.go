package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
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

const (
	maxFile = 1 << 20         // bytes of a certificate or a key
	pause   = 5 * time.Second // between two looks at the files
)

// A Certificate is a certificate in two files.
type Certificate struct {
	certFile, keyFile string
	note              func(string)

	mu        sync.Mutex
	looked    time.Time
	cert, key []byte
	now       *tls.Certificate
}

// OpenCertificate reads a certificate. Note gets a line when a newer one cannot be read.
func OpenCertificate(certFile, keyFile string, note func(string)) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile, note: note}
	return c, c.read()
}

// read reads the files, and makes the certificate if they changed.
func (c *Certificate) read() error {
	c.looked = time.Now()
	cert, err := ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("reading the certificate: %w", err)
	}
	key, err := ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("reading the key of the certificate: %w", err)
	}
	if c.now != nil && bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("reading the certificate %q with its key: %w", c.certFile, err)
	}
	c.cert, c.key, c.now = cert, key, &pair
	return nil
}

// ReadFile reads a small file of at most 1 MiB. Links are followed, since mounted secrets are links.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = fmt.Errorf("%q is larger than %d MiB", name, maxFile>>20)
	}
	return raw, err
}

// get returns the certificate for a connection.
func (c *Certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= pause {
		if err := c.read(); err != nil {
			c.note(err.Error() + "; the old one stays in use")
		}
	}
	return c.now, nil
}
