package webhook

import "crypto/tls"

// Get returns the certificate for a connection.
func (c *Certificate) Get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return c.get(hello) }
