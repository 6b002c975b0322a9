// Package webhook serves an HTTPS handler to a Kubernetes API server until it is told to stop.
//
// The certificate is read again when its files change, as they do when a secret that is
// mounted into a Pod is renewed. A certificate that cannot be read leaves the old one in use.
package webhook
