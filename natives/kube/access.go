package kube

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/internal/retry"
)

// An Access says how a cluster is reached, and who asks.
type Access struct {
	Name     string // of the cluster, for messages
	Server   string // https://HOST[:PORT][/PATH]; http only for this machine
	Token    string // appears in no message
	Insecure bool   // the certificate of the server is not checked
	// Integration is the name of the integration that asks. The fields that it applies belong
	// to the field manager "prcheck-NAME".
	Integration string
	// Pause is the longest pause before a request is sent a second time; 0 is half a second.
	Pause time.Duration
}

// Open returns what reads the objects of a cluster. It sends no request yet. Its connection
// refuses to send anything but GET and HEAD.
func Open(a Access) (*Objects, error) {
	c, err := Dial(a, nil)
	if err != nil {
		return nil, err
	}
	return &Objects{c}, nil
}

// OpenTrial returns what lets a cluster try writes. It sends no request yet. Its connection
// refuses to send anything but GET and patches that the server does not keep.
func OpenTrial(a Access) (*Trial, error) {
	c, err := Dial(a, isTrial)
	if err != nil {
		return nil, err
	}
	return &Trial{c}, nil
}

// Limits of a connection. The rate lets 1,000 objects be made in seven seconds: each is read and
// then made. A server works on 600 requests of all its clients at once unless it is told
// otherwise, so one client that sends 300 in a second is far from filling it, and a loop that
// went wrong cannot either.
const (
	requestTime    = 30 * time.Second
	firstPause     = 500 * time.Millisecond
	requestsPerSec = 300
	requestsAtOnce = 300
	maxAnswer      = 32 << 20 // bytes
	maxManager     = 128      // the longest name that a server takes for a field manager
)

// A Connection sends requests to one cluster.
type Connection struct {
	cluster string
	token   string
	manager string
	base    *url.URL
	client  sender
	limit   flowcontrol.RateLimiter
	retries retry.Policy
	largest int // size of the largest answer that is read, in bytes
	known   discovery
}

// Manager returns the field manager to which belongs what is written.
func (c *Connection) Manager() string { return c.manager }

// Objects returns what reads the objects of the cluster.
func (c *Connection) Objects() *Objects { return &Objects{c} }

// A sender sends requests to one cluster.
type sender interface {
	Do(req *http.Request) (*http.Response, error)
}

// Dial returns a connection, which sends GET, HEAD and what else it may. It sends no request yet.
func Dial(a Access, may func(*http.Request) bool) (*Connection, error) {
	base, at, err := parseServer(a.Server)
	manager := integration.FieldManager(a.Integration)
	switch {
	case err != nil:
	case a.Token == "":
		err = errors.New("its token is empty")
	case strings.ContainsFunc(a.Token, func(r rune) bool { return r <= ' ' || r > '~' }):
		err = errors.New("its token has characters that no token has, such as blanks or line ends")
	case len(manager) > maxManager:
		err = fmt.Errorf("the name of the integration has more than %d bytes", maxManager-len(integration.FieldManager("")))
	}
	if err != nil {
		return nil, integration.Failure(integration.FailureOfConfig, fmt.Errorf("cluster %q: %w", a.Name, err))
	}
	server := outward.Party{At: at, May: may, Authorization: outward.Bearer(a.Token), Insecure: a.Insecure,
		Timeout: requestTime, Remedy: outward.NameInData}
	pause := cmp.Or(a.Pause, firstPause)
	return &Connection{
		cluster: a.Name, token: a.Token, manager: manager, base: base, client: server.Client(),
		limit:   flowcontrol.NewTokenBucketRateLimiter(requestsPerSec, requestsAtOnce),
		retries: retry.Policy{Attempts: 4, FirstPause: pause, MaxPause: 10 * pause, Spread: time.Second, Within: time.Minute},
		largest: maxAnswer,
	}, nil
}

// parseServer returns the address of a server to which a token may be sent.
func parseServer(server string) (*url.URL, origin.Origin, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, origin.Origin{}, errors.New("the address of its server is no URL")
	}
	at, err := origin.Server(server)
	if err != nil {
		return nil, origin.Origin{}, fmt.Errorf("the address of its server is %.200q: %w", u.Redacted(), err)
	}
	return u, at, nil
}

// isTrial reports whether a request is a patch of which the server keeps nothing.
func isTrial(req *http.Request) bool {
	return req.Method == http.MethodPatch && slices.Equal(req.URL.Query()["dryRun"], []string{meta.DryRunAll})
}
