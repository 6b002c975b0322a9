package objects

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// answerTime is how long the answer of a [Bucket] may take to begin.
const answerTime = 10 * time.Second

// A Bucket reads and writes objects. A request that fails for a passing reason is
// sent again as AWS_MAX_ATTEMPTS says, by default three times in all.
type Bucket struct {
	name   string
	client *client
}

// Open returns a bucket. It sends no request to the store.
func Open(ctx context.Context, name string) (*Bucket, error) {
	c, err := connect(ctx, answerTime)
	if err != nil {
		return nil, fmt.Errorf("opening bucket %q: %w", name, err)
	}
	return &Bucket{name, c}, nil
}

// A Version is the name that the store gives to one content of an object: its ETag.
type Version string

const (
	// None is the version of an object that does not exist.
	None Version = ""
	// Any stands for every version, and for no object at all.
	Any Version = "*"
)

// Get returns an object of at most limit bytes, and its version. The error is
// [ErrNotFound] if there is no such object.
func (b *Bucket) Get(ctx context.Context, key string, limit int64) ([]byte, Version, error) {
	res, err := b.client.get(ctx, b.name, key)
	if err != nil {
		return nil, None, classify(err)
	}
	defer res.Body.Close()
	raw, err := Reader{Limit: limit}.body(res)
	return raw, versionOf(res), classify(err)
}

func versionOf(res *http.Response) Version { return Version(res.Header.Get("ETag")) }

// Put stores an object if its version is still was, and returns the new version.
// The error is [ErrChanged] if the version is another.
func (b *Bucket) Put(ctx context.Context, key string, raw []byte, was Version) (Version, error) {
	condition := map[string]string{}
	switch was {
	case Any:
	case None:
		condition["If-None-Match"] = "*"
	default:
		condition["If-Match"] = string(was)
	}
	version, err := b.put(ctx, key, condition, bytes.NewReader(raw), int64(len(raw)))
	if errors.Is(err, ErrNotFound) {
		err = ErrChanged // the object was removed in the meantime
	}
	return version, err
}

func (b *Bucket) put(ctx context.Context, key string, condition map[string]string, body io.ReaderAt,
	size int64) (Version, error) {
	res, err := b.client.do(ctx, request{method: http.MethodPut, bucket: b.name, key: key, header: condition, body: body,
		size: size})
	if err != nil {
		return None, classify(err)
	}
	return versionOf(res), res.Body.Close()
}

// Delete removes an object if its version is still was, which is not [None]. The
// error is [ErrChanged] if the version is another. It is no error if there is no
// such object.
func (b *Bucket) Delete(ctx context.Context, key string, was Version) error {
	condition := map[string]string{}
	if was != Any {
		condition["If-Match"] = string(was)
	}
	res, err := b.client.do(ctx, request{method: http.MethodDelete, bucket: b.name, key: key, header: condition})
	if err = classify(err); errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// An Object is an entry of a list.
type Object struct {
	Key     string
	Version Version
	Size    int64
	Written time.Time
}

const (
	// maxObjects is how many objects a list may have.
	maxObjects = 1_000_000
	// maxPage is how many bytes a page of a list may have. A page has at most a
	// thousand objects.
	maxPage = 16 << 20
)

// A page is a part of a list, as S3 writes it.
type page struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string
	EncodingType          string // "url" if the store encodes keys
	Contents              []struct {
		Key, ETag    string
		Size         int64
		LastModified time.Time
	}
}

// List returns the objects whose keys begin with a prefix.
func (b *Bucket) List(ctx context.Context, prefix string) ([]Object, error) {
	var out []Object
	// Without the encoding XML would change some characters of keys, and cannot hold others.
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}, "encoding-type": {"url"}}
	for {
		p, err := b.page(ctx, query)
		if err != nil {
			return nil, classify(err)
		}
		for _, o := range p.Contents {
			out = append(out, Object{o.Key, Version(o.ETag), o.Size, o.LastModified})
		}
		if len(out) > maxObjects {
			return nil, fmt.Errorf("there are more than %d objects", maxObjects)
		}
		if !p.IsTruncated || p.NextContinuationToken == "" {
			return out, nil
		}
		query.Set("continuation-token", p.NextContinuationToken)
	}
}

// page asks for one page of a list.
func (b *Bucket) page(ctx context.Context, query url.Values) (page, error) {
	var out page
	res, err := b.client.do(ctx, request{method: http.MethodGet, bucket: b.name, query: query})
	if err != nil {
		return out, err
	}
	defer res.Body.Close()
	if err := xml.NewDecoder(io.LimitReader(res.Body, maxPage)).Decode(&out); err != nil {
		return out, fmt.Errorf("reading the list of objects: %w", err)
	}
	if out.EncodingType == "url" {
		for i := range out.Contents {
			if out.Contents[i].Key, err = url.QueryUnescape(out.Contents[i].Key); err != nil {
				return out, fmt.Errorf("reading the list of objects: a key is not encoded as the store says: %w", err)
			}
		}
	}
	return out, nil
}

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
