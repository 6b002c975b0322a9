package objects

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// A client sends requests to a store that speaks S3. Settings, credentials,
// signatures, retries and connections are those of the AWS SDK; only the requests
// themselves are written here, since the SDK's package for S3 is very large.
type client struct {
	http        aws.HTTPClient
	credentials aws.CredentialsProvider
	signer      *v4.Signer
	retries     *retry.Attempt
	region      string
	site        site
	checksums   bool // ask for the checksums of objects
	fixClock    bool

	skew atomic.Int64 // how far the clock of the store is ahead of ours, in nanoseconds
}

// do sends a request, as often as the settings of retries allow, and returns the
// answer if it is a success. The caller closes the body of the answer.
func (c *client) do(ctx context.Context, r request) (*http.Response, error) {
	hash, err := r.hash()
	if err != nil {
		return nil, err
	}
	once := func(ctx context.Context,
		_ middleware.FinalizeInput) (out middleware.FinalizeOutput, _ middleware.Metadata, err error) {
		out.Result, err = c.send(ctx, r, hash) //nolint:bodyclose // the caller of do closes the body
		return out, middleware.Metadata{}, err
	}
	out, _, err := c.retries.HandleFinalize(ctx, middleware.FinalizeInput{}, middleware.FinalizeHandlerFunc(once))
	if err != nil {
		return nil, err
	}
	return out.Result.(*http.Response), nil
}

// send sends a request once. The kinds of its errors tell the retries of the SDK
// which of them to try again.
func (c *client) send(ctx context.Context, r request, hash string) (*http.Response, error) {
	req, err := r.build(ctx, c.site)
	if err != nil {
		return nil, err
	}
	if err := c.sign(ctx, req, hash); err != nil {
		return nil, err
	}
	// Without this header the transport would ask for gzip and unpack it.
	req.Header.Set("Accept-Encoding", "identity")
	res, err := c.http.Do(req)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, &smithy.CanceledError{Err: ctx.Err()}
	case err != nil:
		return nil, &smithyhttp.RequestSendError{Err: err}
	case res.StatusCode >= http.StatusMultipleChoices:
		defer res.Body.Close()
		return nil, c.checkClock(res, readError(res))
	}
	return res, nil
}

// sign adds the signature of a request, and the headers that it needs.
func (c *client) sign(ctx context.Context, req *http.Request, hash string) error {
	credentials, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return fmt.Errorf("getting credentials: %w", err)
	}
	req.Header.Set("X-Amz-Content-Sha256", hash)
	return c.signer.SignHTTP(ctx, credentials, req, hash, "s3", c.region, c.now(), func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping = true // the path of S3 is escaped once
	})
}

// now is the time by the clock of the store.
func (c *client) now() time.Time { return time.Now().Add(time.Duration(c.skew.Load())) }

// maxSkew is how far both clocks may differ. AWS takes signatures that are up to
// five minutes old.
const maxSkew = 4 * time.Minute

// checkClock makes the error of an answer one that is tried again if the store
// refused the signature and its clock differs from the clock of the signature.
// Signatures follow the clock of the store from then on.
func (c *client) checkClock(res *http.Response, err *answerError) error {
	switch err.code {
	case "RequestTimeTooSkewed", "SignatureDoesNotMatch", "InvalidSignatureException", "AuthFailure",
		"AccessDeniedException":
	default:
		return err
	}
	theirs, bad := http.ParseTime(res.Header.Get("Date"))
	if !c.fixClock || bad != nil || theirs.Sub(c.now()).Abs() <= maxSkew {
		return err
	}
	c.skew.Store(int64(time.Until(theirs)))
	return &skewError{err}
}
