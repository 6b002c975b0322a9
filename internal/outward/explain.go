package outward

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// A failedError is an error of a connection with its class.
type failedError struct {
	error
	class string
}

// Unwrap returns the error of the connection.
func (f failedError) Unwrap() error { return f.error }

// FailureClass returns the class, as package integration names it.
func (f failedError) FailureClass() string { return f.class }

// lost returns the error of an answer that did not come.
func lost(format string, args ...any) error {
	return failedError{fmt.Errorf(format, args...), "transient"}
}

// Explain returns the error of a request for people: without the address, which they know, and without words of the
// server. who is the server, such as "it".
func Explain(ctx context.Context, who string, err error) error {
	var refused *RefusedError
	var certificate *tls.CertificateVerificationError
	var connection *net.OpError
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.DeadlineExceeded):
		return lost("%s does not answer in time", who)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &certificate):
		return failedError{fmt.Errorf("the certificate of %s cannot be trusted: %w; let SSL_CERT_FILE name its authority",
			who, certificate), "config"}
	case errors.As(err, &connection):
		return lost("reaching %s: %w", who, connection)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return lost("%s ends its answer early", who)
	}
	return lost("%s gives no answer that can be read", who)
}
