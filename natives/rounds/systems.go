package rounds

import (
	"context"
	"net/http"

	"github.com/app-sre/prcheck/integration"
)

// Systems are the live systems that a native integration reads and writes, as package
// natives/systems has them.
type Systems interface {
	Secret(ctx context.Context, ref integration.SecretRef) (string, error)
	Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error)
	Writer(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error)
	BucketReader(ctx context.Context, place string) (integration.BucketReader, error)
	BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error)
	EndpointReader(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointTrial(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointWriter(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	Variable(name string) (string, bool)
}
