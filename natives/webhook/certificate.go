package webhook

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

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
