package objects

import (
	"context"
	"fmt"
	"io"
)

// A File is read from the start for each attempt to upload it. An [os.File] is one.
type File interface {
	io.ReaderAt
	io.Seeker
}

// Upload stores the content of a file, in place of the object that is there. It
// does not hold the content in memory.
func (b *Bucket) Upload(ctx context.Context, key string, file File) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = b.put(ctx, key, nil, file, size)
	return err
}

// Download writes an object to w. It does not hold the object in memory. The error
// is [ErrTooLarge] if the object has more than limit bytes; w may have got some of
// them.
func (b *Bucket) Download(ctx context.Context, key string, w io.Writer, limit int64) error {
	res, err := b.client.get(ctx, b.name, key)
	if err != nil {
		return classify(err)
	}
	defer res.Body.Close()
	if res.ContentLength > limit {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, res.ContentLength)
	}
	n, err := io.Copy(w, io.LimitReader(checkedBody(res), limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	return classify(err)
}
