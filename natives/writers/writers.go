package writers

import (
	"context"
	"net/http"
	"sync"

	"github.com/app-sre/prcheck/integration"
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
