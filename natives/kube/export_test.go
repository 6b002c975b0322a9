package kube

import (
	"net/http"
	"time"

	"k8s.io/client-go/util/flowcontrol"
)

// What the tests of this package know beside its exported names.
const (
	MaxPages     = maxPages
	NeverVersion = neverVersion
	MaxValue     = maxValue
)

var WithoutValues = withoutValues

func (o *Objects) Connection() *Connection { return o.c }
func (t *Trial) Connection() *Connection   { return t.c }

func (c *Connection) Token() string                              { return c.token }
func (c *Connection) Do(r *http.Request) (*http.Response, error) { return c.client.Do(r) }
func (c *Connection) SetTransport(t http.RoundTripper)           { c.client = &http.Client{Transport: t} }
func (c *Connection) SetHost(host string)                        { c.base.Host = host }
func (c *Connection) Unlimit()                                   { c.limit = flowcontrol.NewFakeAlwaysRateLimiter() }
func (c *Connection) Forget()                                    { c.known.since = time.Now().Add(-2 * knownFor) }

// Hurry makes pauses short, and answers small.
func (c *Connection) Hurry() {
	c.largest = 1 << 20
	c.retries.FirstPause, c.retries.Spread = time.Millisecond, time.Millisecond
}
