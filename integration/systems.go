package integration

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"time"
)

// Errors of live systems that callers tell apart.
var (
	// ErrNotThere says that there is no object of this name.
	ErrNotThere = errors.New("it is not there")
	// ErrChanged says that the object is not the one that the precondition names: somebody
	// else was faster.
	ErrChanged = errors.New("somebody else changed it")
	// ErrUntrusted says that a change names or alters an address or a secret, so that it
	// cannot be used before the change is merged.
	ErrUntrusted = errors.New("the change alters its address or its secret, so it is not asked before the merge")
)

// A SecretRef names a secret as the data do. Its value is masked in all output from the
// moment at which it is read.
type SecretRef struct {
	Path    string `json:"path"`
	Field   string `json:"field"`
	Version string `json:"version,omitempty"` // "" is the latest
}

// A ClusterRef says how a cluster of Kubernetes is reached. In a dry run only a reference
// that base has as well can be used: head could name any address for a token.
type ClusterRef struct {
	Name     string    `json:"name"`
	Server   string    `json:"server"` // https://…
	Token    SecretRef `json:"token"`
	Insecure bool      `json:"insecure,omitempty"` // the certificate of the server is not checked
	// ServerField is the field of the token's secret that must hold the same address, so that a
	// token goes only to the server that it was made for; "" is no check.
	ServerField string `json:"server_field,omitempty"`
}

// Where returns the address of the server for people, without credentials.
func (c ClusterRef) Where() string { return where(c.Server, c.Name) }

// Where returns the address of the API for people, without credentials.
func (e EndpointRef) Where() string { return where(e.URL, e.Name) }

// where returns the scheme and host of an address, or a name if it has none.
func where(address, name string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return name
}

// FieldManager returns the name by which the server of a cluster knows what an integration has set.
func FieldManager(integration string) string { return "prcheck-" + integration }

// An EndpointRef says how an API is reached. In a dry run only a reference that base has as well
// can be used, and only hosts that the settings of base name get the token: head could name any
// address for it.
type EndpointRef struct {
	Name string `json:"name"` // of the API, for messages
	// URL is https://HOST, with a port and a path if the API has them. Requests go to this host
	// alone.
	URL string `json:"url"`
	// Token is the secret of the credential: without Login it is sent as "Authorization: Bearer", and the
	// zero value sends none.
	Token    SecretRef `json:"token"`
	Login    Login     `json:"login,omitzero"`
	Insecure bool      `json:"insecure,omitempty"` // the certificate of the server is not checked
	// Reads are the last parts of addresses whose POST only reads, such as listKeys.
	Reads []string `json:"reads,omitempty"`
}

// A LoginKind is a way in which requests to an API show who sends them.
type LoginKind string

// The ways. LoginBearer sends the secret as bearer token, LoginHeader in a header of its own, and LoginBasic as
// the password of a user. LoginClient exchanges the id and the secret of a client for tokens, and LoginFederated
// a token that the platform keeps in a file.
const (
	LoginBearer    LoginKind = "bearer"
	LoginHeader    LoginKind = "header"
	LoginBasic     LoginKind = "basic"
	LoginClient    LoginKind = "client_credentials"
	LoginFederated LoginKind = "workload_identity"
)

// A Login says how requests to an API show who sends them. The zero value is [LoginBearer].
type Login struct {
	Kind   LoginKind `json:"kind,omitempty"`
	Header string    `json:"header,omitempty"` // its name
	User   string    `json:"user,omitempty"`
	// TokenURL is the address of the service that gives tokens: https://HOST/PATH. ClientID and Scope are sent
	// to it, and with InBody the secret in the body and not in the header.
	TokenURL string `json:"token_url,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	Scope    string `json:"scope,omitempty"`
	InBody   bool   `json:"in_body,omitempty"`
	// TokenFile is the file of the platform's token, which settings name. It is read for each exchange.
	TokenFile string `json:"token_file,omitempty"`
}

// A Resource is a type of objects of Kubernetes.
type Resource struct {
	Group, Version string // Group is "" for the core group
	Plural         string // as in addresses: "namespaces"
}

// A Kind is a kind of objects of Kubernetes, with the resource by which a cluster knows it.
type Kind struct {
	Resource
	Name       string // as objects have it: "Namespace"
	Namespaced bool   // its objects are in namespaces
}

// String returns the name.
func (k Kind) String() string { return k.Name }

// APIVersion returns the group and version as objects have them.
func (k Kind) APIVersion() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Ref names an object of the kind. The namespace does not count if the kind has none.
func (k Kind) Ref(namespace, name string) ObjectRef {
	if !k.Namespaced {
		namespace = ""
	}
	return ObjectRef{Resource: k.Resource, Namespace: namespace, Name: name}
}

// An ObjectRef names an object of a cluster.
type ObjectRef struct {
	Resource
	Namespace string // "" if the resource has none
	Name      string
}

// A ClusterReader reads objects of one cluster, as JSON.
type ClusterReader interface {
	// Get returns an object. The error is [ErrNotThere] if there is none.
	Get(ctx context.Context, ref ObjectRef) (json.RawMessage, error)
	// List returns all objects of a resource, in one namespace or ("") in all, with a label
	// selector or ("") without. It returns all of them or an error.
	List(ctx context.Context, of Resource, namespace, labels string) ([]json.RawMessage, error)
	// Kind returns what the cluster calls a kind of objects, such as "apps/v1" and "Deployment".
	// A group without version ("apps/") stands for the version that the cluster prefers, and ""
	// for any group: the core group counts first, then the groups in the order of the cluster.
	// The error is [ErrNotThere] if the cluster says that it has no such kind.
	Kind(ctx context.Context, apiVersion, kind string) (Kind, error)
}

// A LogReader reads what containers wrote. Readers of clusters may implement it.
type LogReader interface {
	// Log returns the beginning of the log of a container of a pod, at most so many bytes.
	Log(ctx context.Context, namespace, pod, container string, limit int) ([]byte, error)
}

// A ClusterWriter changes objects of one cluster.
type ClusterWriter interface {
	ClusterReader
	// Create makes an object. The error is [ErrChanged] if there is one of this name.
	Create(ctx context.Context, ref ObjectRef, object json.RawMessage) (json.RawMessage, error)
	// Apply sets the fields of an object by server-side apply, never by force. If the object
	// carries metadata.resourceVersion and metadata.uid, they are preconditions: the error is
	// [ErrChanged] if it is another one by now. A [FieldConflict] names fields of others.
	Apply(ctx context.Context, ref ObjectRef, object json.RawMessage) (json.RawMessage, error)
	// Merge changes an object by a JSON merge patch, if it still is the one that the
	// preconditions name; else the error is [ErrChanged] or [ErrNotThere]. What it sets belongs
	// to us as an update, see TakeFields. It is for what an apply cannot do, such as to scale a
	// Deployment down whose other fields must stay as they are.
	Merge(ctx context.Context, ref ObjectRef, patch json.RawMessage, was Preconditions) (json.RawMessage, error)
	// TakeFields makes the fields that the named managers and our own updates set fields that
	// we applied, so that the next apply removes those that it does not name. It takes the
	// object as it was read, which is the precondition, and changes no other field but the
	// annotation of kubectl apply, which it removes. It returns the object as it was read if
	// there is nothing to take.
	TakeFields(ctx context.Context, ref ObjectRef, object json.RawMessage, managers []string) (json.RawMessage, error)
	// Delete deletes an object if it still is the one that the preconditions name; else the
	// error is [ErrChanged] or [ErrNotThere].
	Delete(ctx context.Context, ref ObjectRef, was Preconditions, dependents Propagation) error
}

// A Propagation says what becomes of the objects that depend on a deleted one, such as the
// pods of a Deployment.
type Propagation string

// The propagations. Background: they are deleted afterwards. Foreground: the object is there
// until they are gone. Orphan: they stay.
const (
	Background Propagation = "Background"
	Foreground Propagation = "Foreground"
	Orphan     Propagation = "Orphan"
)

// A ClusterTrial asks a cluster to check a write in all ways and not to do it. Kubernetes
// authorizes this like the write.
type ClusterTrial interface {
	// TryApply returns the object as an apply would make it. It creates it if the object has no
	// metadata.resourceVersion and metadata.uid. The errors are those of the apply.
	TryApply(ctx context.Context, ref ObjectRef, object json.RawMessage) (json.RawMessage, error)
}

// Preconditions name one state of an object. Both are required.
type Preconditions struct{ UID, ResourceVersion string }

// A FieldConflict says that another manager owns fields that were to be applied.
type FieldConflict struct {
	Managers []string // names of the managers
	Fields   []string // such as .spec.replicas, in the order of Managers
}

// Error returns the message with managers and fields.
func (e *FieldConflict) Error() string {
	text := "other managers own fields"
	for i := range e.Fields {
		text += ", " + e.Managers[i] + " owns " + e.Fields[i]
	}
	return text
}

// A BucketReader reads objects below a place of a bucket that others own as well. Its keys
// are any text.
type BucketReader interface {
	// Get returns an object and its version. The error is [ErrNotThere] if there is none.
	Get(ctx context.Context, key string) (raw []byte, version string, err error)
	// Keys returns the keys below a prefix, sorted.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// A BucketEntry is an object of a list.
type BucketEntry struct {
	Key     string
	Written time.Time
}

// A BucketLister is a BucketReader that knows when objects were written.
type BucketLister interface {
	// Entries returns the objects below a prefix, sorted by key.
	Entries(ctx context.Context, prefix string) ([]BucketEntry, error)
}

// A BucketWriter writes objects below a place of a bucket.
type BucketWriter interface {
	BucketReader
	// Put stores an object if its version is still the given one, "" for none, and returns
	// the new version. The error is [ErrChanged] if it is another.
	Put(ctx context.Context, key string, raw []byte, version string) (string, error)
	// Remove removes an object if its version is still the given one.
	Remove(ctx context.Context, key, version string) error
}
