package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
)

// Errors that callers tell apart.
var (
	// ErrNotFound says that there is no such object.
	ErrNotFound = errors.New("there is no such object")
	// ErrChanged says that the object was not, or no longer, as the condition of
	// a write had it.
	ErrChanged = errors.New("the object is not as it was")
	// ErrDenied says that the credentials do not allow it.
	ErrDenied = errors.New("access is denied")
	// ErrUnreachable says that nobody answered, or that the answer was that the
	// store has trouble of its own.
	ErrUnreachable = errors.New("it cannot be reached")
)

// patience is how long an answer may take to begin.
const patience = 10 * time.Second

// A Bucket reads and writes objects. Requests that fail for a passing reason are
// tried again as AWS_MAX_ATTEMPTS has it, by default three times in all.
type Bucket struct {
	name   string
	client *s3.Client
}

// Open returns a bucket. Nothing is asked yet.
func Open(ctx context.Context, name string) (*Bucket, error) {
	client, err := connect(ctx, func(o *s3.Options) {
		// Stores of others know no checksums in trailers; the signature covers the body.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
			o.HTTPClient = c.WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = patience })
		}
	})
	if err != nil {
		return nil, fmt.Errorf("opening bucket %q: %w", name, err)
	}
	return &Bucket{name, client}, nil
}

// A Version is what the store calls one content of an object. [None] is that
// there is no object, and [Any] that it does not matter.
type Version string

// The versions that stand for no content.
const (
	None Version = ""
	Any  Version = "*"
)

// Get returns an object and its version. The error is [ErrNotFound] when there
// is none.
func (b *Bucket) Get(ctx context.Context, key string, limit int64) ([]byte, Version, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return nil, None, kind(err)
	}
	defer out.Body.Close()
	raw, err := Reader{Limit: limit}.body(out)
	return raw, Version(aws.ToString(out.ETag)), kind(err)
}

// Put stores an object if its version is still was, and returns the new one. The
// error is [ErrChanged] when it is another.
func (b *Bucket) Put(ctx context.Context, key string, raw []byte, was Version) (Version, error) {
	in := &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: bytes.NewReader(raw)}
	switch was {
	case Any:
	case None:
		in.IfNoneMatch = aws.String("*")
	default:
		in.IfMatch = aws.String(string(was))
	}
	out, err := b.client.PutObject(ctx, in)
	if err = kind(err); errors.Is(err, ErrNotFound) {
		err = ErrChanged // it was removed in the meantime
	}
	if err != nil {
		return None, err
	}
	return Version(aws.ToString(out.ETag)), nil
}

// Delete removes an object if its version is still was, which is not [None]. The
// error is [ErrChanged] when it is another. One that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, key string, was Version) error {
	in := &s3.DeleteObjectInput{Bucket: &b.name, Key: &key}
	if was != Any {
		in.IfMatch = aws.String(string(was))
	}
	_, err := b.client.DeleteObject(ctx, in)
	if err = kind(err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// An Object is one of a list.
type Object struct {
	Key     string
	Version Version
	Size    int64
	Written time.Time
}

// maxObjects is how many objects a list may have.
const maxObjects = 1_000_000

// List returns the objects whose keys begin with a prefix.
func (b *Bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	var out []Object
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, kind(err)
		}
		for _, o := range page.Contents {
			out = append(out, Object{aws.ToString(o.Key), Version(aws.ToString(o.ETag)), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
		}
		if len(out) > maxObjects {
			return nil, fmt.Errorf("there are more than %d objects", maxObjects)
		}
	}
	return out, nil
}

// kind gives an error the name that callers tell it by.
func kind(err error) error {
	if err == nil {
		return nil
	}
	status := 0
	var answer *awshttp.ResponseError
	if errors.As(err, &answer) {
		status = answer.HTTPStatusCode()
	}
	code := ""
	var api smithy.APIError
	if errors.As(err, &api) {
		code = api.ErrorCode()
	}
	var network net.Error
	switch {
	case code == "NoSuchKey":
		return ErrNotFound // and no other 404: a proxy in between may say that of everything
	case status == http.StatusPreconditionFailed, status == http.StatusConflict:
		return ErrChanged
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return fmt.Errorf("%w (%s)", ErrDenied, code)
	case status == http.StatusNotImplemented:
		return fmt.Errorf("%w (%s)", errors.ErrUnsupported, code)
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout:
		return fmt.Errorf("%w: it answers %d %s", ErrUnreachable, status, code)
	case status == 0 && errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: it does not answer in time", ErrUnreachable)
	case status == 0 && errors.As(err, &network), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrUnreachable, plain(err))
	}
	return plain(err)
}

// plain leaves out what the SDK says about itself around the cause.
func plain(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		return fmt.Errorf("%s: %s", api.ErrorCode(), api.ErrorMessage())
	}
	var network *net.OpError
	if errors.As(err, &network) {
		return network
	}
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		return operation.Err
	}
	return err
}
