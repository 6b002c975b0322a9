package launch

import (
	"context"
	"errors"
	"net/http"

	"github.com/app-sre/prcheck/integration"
)

// Systems are what a native integration reads beside the data, as package natives/systems has
// them. Their libraries are large, so that only programs have them that start tasks.
type Systems interface {
	Secret(ctx context.Context, ref integration.SecretRef) (string, error)
	Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Trial(ctx context.Context, ref integration.ClusterRef) (integration.ClusterTrial, error)
	BucketReader(ctx context.Context, place string) (integration.BucketReader, error)
	EndpointReader(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	EndpointTrial(ctx context.Context, ref integration.EndpointRef) (http.RoundTripper, error)
	Variable(name string) (string, bool)
}

// errNowhere says that there is nothing to read.
var errNowhere = integration.Failure(integration.FailureOfConfig, errors.New("this program reaches no live systems"))

// nowhere are systems without any system.
type nowhere struct{}

func (nowhere) Secret(context.Context, integration.SecretRef) (string, error) { return "", errNowhere }

func (nowhere) Reader(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
	return nil, errNowhere
}

func (nowhere) Trial(context.Context, integration.ClusterRef) (integration.ClusterTrial, error) {
	return nil, errNowhere
}

func (nowhere) Variable(string) (string, bool) { return "", false }

func (nowhere) BucketReader(context.Context, string) (integration.BucketReader, error) {
	return nil, errNowhere
}

func (nowhere) EndpointReader(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}

func (nowhere) EndpointTrial(context.Context, integration.EndpointRef) (http.RoundTripper, error) {
	return nil, errNowhere
}
