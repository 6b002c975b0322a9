package objects

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// ErrTooLarge says that an object is larger than the caller takes.
var ErrTooLarge = errors.New("it is too large")

// Upload stores what a file holds, in place of what is there, without holding it
// in memory.
func (b *Bucket) Upload(ctx context.Context, key string, file io.ReadSeeker) error {
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &key, Body: file})
	return kind(err)
}

// Download writes an object to w, without holding it in memory. The error is
// [ErrTooLarge] for one of more than limit bytes, of which w may have some then.
func (b *Bucket) Download(ctx context.Context, key string, w io.Writer, limit int64) error {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &key})
	if err != nil {
		return kind(err)
	}
	defer out.Body.Close()
	if size := aws.ToInt64(out.ContentLength); size > limit {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, size)
	}
	n, err := io.Copy(w, io.LimitReader(out.Body, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return kind(err)
}
