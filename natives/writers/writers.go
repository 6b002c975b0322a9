package writers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/objects"
	"github.com/app-sre/prcheck/internal/outward"
	"github.com/app-sre/prcheck/natives/kube/writer"
	"github.com/app-sre/prcheck/natives/systems"
)

// maxClusters is how many connections are kept.
const maxClusters = 1000

// Writers are the systems of an integration, for reading and writing. Several goroutines may use them at once.
type Writers struct {
	*systems.Systems

	mu       sync.Mutex
	clusters map[integration.ClusterRef]cluster
}

// A cluster is a connection with the token that it was made with.
type cluster struct {
	token  string
	writer *writer.Writer
}

// Of returns the writers of the systems of one integration. It asks nobody.
func Of(s *systems.Systems) *Writers {
	return &Writers{Systems: s, clusters: map[integration.ClusterRef]cluster{}}
}

// Writer returns what reads and changes the objects of a cluster. It sends no request to the
// cluster yet. A token that was replaced makes a new connection.
func (w *Writers) Writer(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error) {
	access, err := w.Access(ctx, ref)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.clusters[ref]; ok && c.token == access.Token {
		return c.writer, nil
	}
	c := cluster{token: access.Token}
	if c.writer, err = writer.Open(access); err != nil {
		return nil, err
	}
	if len(w.clusters) < maxClusters {
		w.clusters[ref] = c
	}
	return c.writer, nil
}

// EndpointWriter returns what sends any request to an API.
func (w *Writers) EndpointWriter(_ context.Context, ref integration.EndpointRef) (http.RoundTripper, error) {
	return w.Endpoint(ref, outward.Anything)
}

// PutSecret puts a value into a field of a secret of the store of secrets.
func (w *Writers) PutSecret(ctx context.Context, ref integration.SecretRef, value string) error {
	return w.Systems.PutSecret(ctx, ref, value, outward.Anything)
}

// A bucket is a place of a bucket that can be written.
type bucket struct {
	systems.SharedBucket
	whole *objects.Bucket
}

// BucketWriter returns what reads and writes objects at a place. It sends no request yet.
func (w *Writers) BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error) {
	b, whole, err := w.Bucket(ctx, place)
	if err != nil {
		return nil, err
	}
	return bucket{b, whole}, nil
}

var errNoVersion = errors.New("the store tells no version of what it wrote")

// Put implements [integration.BucketWriter].
func (b bucket) Put(ctx context.Context, key string, raw []byte, version string) (string, error) {
	err := b.Check(key)
	switch {
	case err != nil:
	case version == string(objects.Any):
		err = systems.ErrVersion
	case len(raw) > systems.MaxObject:
		err = fmt.Errorf("%w: it has more than %d bytes", objects.ErrTooLarge, systems.MaxObject)
	}
	if err != nil {
		return "", b.Explain("writing", key, err)
	}
	v, err := b.whole.Put(ctx, b.Key(key), raw, objects.Version(version))
	if err == nil && v == objects.None {
		err = errNoVersion
	}
	return string(v), b.Explain("writing", key, err)
}

// Remove implements [integration.BucketWriter]. It is no error if the object is gone.
func (b bucket) Remove(ctx context.Context, key, version string) error {
	err := b.Check(key)
	if err == nil && (version == string(objects.None) || version == string(objects.Any)) {
		err = systems.ErrVersion
	}
	if err == nil {
		err = b.whole.Delete(ctx, b.Key(key), objects.Version(version))
	}
	return b.Explain("removing", key, err)
}
