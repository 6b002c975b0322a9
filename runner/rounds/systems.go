package rounds

import (
	"context"
	"errors"

	"github.com/app-sre/prcheck/integration"
)

// Systems are the live systems that a native integration reads and writes, as package
// runner/systems has them.
type Systems interface {
	Secret(ctx context.Context, ref integration.SecretRef) (string, error)
	Reader(ctx context.Context, ref integration.ClusterRef) (integration.ClusterReader, error)
	Writer(ctx context.Context, ref integration.ClusterRef) (integration.ClusterWriter, error)
	BucketReader(ctx context.Context, place string) (integration.BucketReader, error)
	BucketWriter(ctx context.Context, place string) (integration.BucketWriter, error)
}

// errNowhere says that there are no live systems.
var errNowhere = integration.Failure(integration.FailureOfConfig, errors.New("this program reaches no live systems"))

// nowhere are systems without any system.
type nowhere struct{}

func (nowhere) Secret(context.Context, integration.SecretRef) (string, error) { return "", errNowhere }

func (nowhere) Reader(context.Context, integration.ClusterRef) (integration.ClusterReader, error) {
	return nil, errNowhere
}

func (nowhere) Writer(context.Context, integration.ClusterRef) (integration.ClusterWriter, error) {
	return nil, errNowhere
}

func (nowhere) BucketReader(context.Context, string) (integration.BucketReader, error) {
	return nil, errNowhere
}

func (nowhere) BucketWriter(context.Context, string) (integration.BucketWriter, error) {
	return nil, errNowhere
}
