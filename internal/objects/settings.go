package objects

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/smithy-go/logging"
)

// connect returns a client with the settings and credentials that the AWS SDK
// finds. It sends no request to the store. An answer must begin within patience;
// 0 means no limit.
func connect(ctx context.Context, patience time.Duration) (*client, error) {
	// Errors are returned; nothing else is worth a line on stderr.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, err
	}
	if cfg.Region == "" {
		return nil, errors.New("the settings of AWS name no region: set AWS_REGION")
	}
	site, err := siteOf(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &client{
		http:        transport(cfg, patience),
		credentials: cfg.Credentials,
		signer:      v4.NewSigner(),
		retries:     retry.NewAttemptMiddleware(retryer(cfg), func(r any) any { return r }),
		region:      cfg.Region,
		site:        site,
		checksums:   cfg.ResponseChecksumValidation != aws.ResponseChecksumValidationWhenRequired,
		fixClock:    !cfg.DisableClockSkewCorrection,
	}, nil
}

// transport returns the HTTP client of the SDK, which knows the settings for
// certificates.
func transport(cfg aws.Config, patience time.Duration) aws.HTTPClient {
	c, ok := cfg.HTTPClient.(*awshttp.BuildableClient)
	if !ok {
		c = awshttp.NewBuildableClient()
	}
	return c.WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = patience })
}

// retryer decides which errors are retried, and when, as AWS_RETRY_MODE and
// AWS_MAX_ATTEMPTS say.
func retryer(cfg aws.Config) aws.Retryer {
	attempts := func(o *retry.StandardOptions) {
		if cfg.RetryMaxAttempts > 0 {
			o.MaxAttempts = cfg.RetryMaxAttempts
		}
	}
	if cfg.RetryMode == aws.RetryModeAdaptive {
		return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
			o.StandardOptions = append(o.StandardOptions, attempts)
		})
	}
	return retry.NewStandard(attempts)
}
