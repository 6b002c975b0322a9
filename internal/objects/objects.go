package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A Place is where an object is kept.
type Place struct{ Bucket, Key string }

func (p Place) String() string { return "s3://" + p.Bucket + "/" + p.Key }

// A Reader reads objects. The zero value does not wait, and has no limit.
type Reader struct {
	// Wait is how long to wait for an object that does not exist yet.
	Wait time.Duration
	// Limit is the largest size of an object in bytes; 0 means no limit.
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
	c, err := connect(ctx, 0)
	if err != nil {
		return nil, err
	}
	if err := c.waitFor(ctx, p, r.Wait); err != nil {
		return nil, err
	}
	res, err := c.get(ctx, p.Bucket, p.Key)
	if err != nil {
		return nil, plain(err)
	}
	defer res.Body.Close()
	return r.body(res)
}

// get asks for an object, and for its checksum.
func (c *client) get(ctx context.Context, bucket, key string) (*http.Response, error) {
	header := map[string]string{}
	if c.checksums {
		header["X-Amz-Checksum-Mode"] = "ENABLED"
	}
	return c.do(ctx, request{method: http.MethodGet, bucket: bucket, key: key, header: header})
}

// pause is how long to wait before asking for an object again.
const pause = 5 * time.Second

// waitFor returns when an object exists, or after a time with an error.
func (c *client) waitFor(ctx context.Context, p Place, atMost time.Duration) error {
	if atMost <= 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	for {
		res, err := c.do(ctx, request{method: http.MethodHead, bucket: p.Bucket, key: p.Key})
		if err == nil {
			return res.Body.Close()
		}
		var answer *answerError
		if !errors.As(err, &answer) || answer.status != http.StatusNotFound {
			return plain(err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the object: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// body reads the whole object, unless it is larger than the limit.
func (r Reader) body(res *http.Response) ([]byte, error) {
	body, size := checkedBody(res), res.ContentLength
	if r.Limit > 0 {
		body = io.LimitReader(body, r.Limit+1)
		if size > r.Limit {
			return nil, r.tooLarge()
		}
	}
	var raw bytes.Buffer
	if size > 0 && r.Limit > 0 {
		raw.Grow(int(size) + bytes.MinRead)
	}
	_, err := raw.ReadFrom(body)
	switch {
	case err == nil && r.Limit > 0 && int64(raw.Len()) > r.Limit:
		return nil, r.tooLarge()
	case err != nil && size >= 0 && !errors.Is(err, errDamaged):
		return nil, errors.New("the object is cut short")
	case err != nil:
		return nil, err
	}
	return raw.Bytes(), nil
}

func (r Reader) tooLarge() error {
	return fmt.Errorf("the object is larger than the limit of %d bytes", r.Limit)
}
