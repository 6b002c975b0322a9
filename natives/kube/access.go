package kube

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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

// applyPatch is the media type of server-side apply. JSON is YAML as well.
const applyPatch = string(types.ApplyYAMLPatchType)

// neverVersion is a resourceVersion that no object ever has. An apply with it succeeds only if
// there is no object: then the precondition does not apply, and the object is made.
const neverVersion = "9223372036854775807"

// Creation returns the call of a server-side apply that makes an object.
func (c *Connection) Creation(ref integration.ObjectRef, object json.RawMessage) (Call, error) {
	of := c.apply(ref, "create and patch")
	body, was, err := decodeApplied(object, ref)
	if err == nil && was != (integration.Preconditions{}) {
		err = errors.New("an object that is to be made has no uid and no resourceVersion")
	}
	if err == nil {
		body["metadata"].(map[string]any)["resourceVersion"] = neverVersion // checked by decodeApplied
		of.Body, err = json.Marshal(body)
	}
	if err != nil {
		return of, c.Refuse(of, err.Error())
	}
	return of, nil
}

// Application returns the call of a server-side apply to an object, which has preconditions
// or none.
func (c *Connection) Application(ref integration.ObjectRef, object json.RawMessage) (Call, error) {
	of := c.apply(ref, "patch")
	of.Body = object
	_, was, err := decodeApplied(object, ref)
	if err == nil && (was.UID == "") != (was.ResourceVersion == "") {
		err = errors.New("uid and resourceVersion are preconditions together")
	}
	if err != nil {
		return of, c.Refuse(of, err.Error())
	}
	return of, nil
}

// AsThere returns the error of a creation. An object whose fields are those of others is there.
func (c *Connection) AsThere(of Call, err error) error {
	if fields := (*integration.FieldConflict)(nil); errors.As(err, &fields) {
		return c.explain(of, integration.ErrChanged)
	}
	return err
}

// apply returns the call of a server-side apply. It never forces.
func (c *Connection) apply(ref integration.ObjectRef, verbs string) Call {
	return Call{Method: http.MethodPatch, Verbs: verbs, Ref: ref, Kind: applyPatch,
		Query: url.Values{"fieldManager": {c.manager}, "fieldValidation": {meta.FieldValidationStrict}}}
}

// decodeApplied returns the fields of an object that is to be applied, and its preconditions.
// The object must be the one that ref names.
func decodeApplied(object json.RawMessage,
	ref integration.ObjectRef) (map[string]any, integration.Preconditions, error) {
	var is header
	var body map[string]any
	numbers := json.NewDecoder(bytes.NewReader(object))
	numbers.UseNumber()
	if err := errors.Join(json.Unmarshal(object, &is), numbers.Decode(&body)); err != nil {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is no JSON: %w", err)
	}
	m := is.Metadata
	if is.APIVersion != apiVersion(ref.Resource) || is.Kind == "" || m.Name != ref.Name || m.Namespace != ref.Namespace ||
		m.Name == "" {
		return nil, integration.Preconditions{}, fmt.Errorf("the object is %.100q %.100q of %.100q in namespace %.100q",
			is.Kind, m.Name, is.APIVersion, m.Namespace)
	}
	return body, integration.Preconditions{UID: m.UID, ResourceVersion: m.ResourceVersion}, nil
}
