package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
)

// A Place is where an object is kept.
type Place struct{ Bucket, Key string }

func (p Place) String() string { return "s3://" + p.Bucket + "/" + p.Key }

// A Reader reads objects. The zero value waits for none.
type Reader struct {
	// Wait is how long an object is waited for that does not exist yet; 0: not
	// at all.
	Wait time.Duration
	// Limit is the largest size of an object in bytes; 0: none.
	Limit int64
}

// Read returns the bytes of an object. The error names the place and never a
// credential.
func (r Reader) Read(ctx context.Context, p Place) ([]byte, error) {
	raw, err := r.read(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p, err)
	}
	return raw, nil
}

func (r Reader) read(ctx context.Context, p Place) ([]byte, error) {
	client, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	if r.Wait > 0 {
		waiter := s3.NewObjectExistsWaiter(client, func(o *s3.ObjectExistsWaiterOptions) { o.MinDelay, o.MaxDelay = pause, pause })
		if err := waiter.Wait(ctx, &s3.HeadObjectInput{Bucket: &p.Bucket, Key: &p.Key}, r.Wait); err != nil {
			return nil, err
		}
	}
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &p.Bucket, Key: &p.Key})
	if err != nil {
		return nil, err
	}
	defer out.Body.Close()
	return r.body(out)
}

// connect finds settings and credentials. Nothing is asked yet.
func connect(ctx context.Context, more ...func(*s3.Options)) (*s3.Client, error) {
	// Errors are returned, and nothing else is worth a line on stderr.
	cfg, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return nil, err
	}
	return s3.NewFromConfig(cfg, append(more, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })...), nil
}

// pause is how long to wait before asking for an object again.
const pause = 5 * time.Second

// body reads the whole object, as large as it says it is and no larger.
func (r Reader) body(out *s3.GetObjectOutput) ([]byte, error) {
	if r.Limit <= 0 {
		return io.ReadAll(out.Body)
	}
	if out.ContentLength != nil && *out.ContentLength > r.Limit {
		return nil, r.tooLarge()
	}
	if out.ContentLength != nil {
		raw := make([]byte, *out.ContentLength)
		if _, err := io.ReadFull(out.Body, raw); err != nil {
			return nil, errors.New("the object is cut short")
		}
		return raw, nil
	}
	raw, err := io.ReadAll(io.LimitReader(out.Body, r.Limit+1))
	if err == nil && int64(len(raw)) > r.Limit {
		err = r.tooLarge()
	}
	return raw, err
}

func (r Reader) tooLarge() error {
	return fmt.Errorf("the object is larger than the limit of %d bytes", r.Limit)
}
