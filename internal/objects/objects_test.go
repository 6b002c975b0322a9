package objects_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"github.com/app-sre/prcheck/internal/objects"
)

// store starts an S3 in this process, with one bucket, and points the
// environment at it.
func store(t *testing.T, bucket string, wrap func(http.Handler) http.Handler) *s3mem.Backend {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	h := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	for name, v := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
		"AWS_SECRET_ACCESS_KEY": "sesame-open",
		"AWS_CONFIG_FILE":       t.TempDir() + "/none", "AWS_SHARED_CREDENTIALS_FILE": t.TempDir() + "/none",
		"AWS_MAX_ATTEMPTS": "1",
	} {
		t.Setenv(name, v)
	}
	return backend
}

func put(t *testing.T, b *s3mem.Backend, bucket, key, text string) {
	t.Helper()
	if _, err := b.PutObject(bucket, key, nil, strings.NewReader(text), int64(len(text)), nil); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	b := store(t, "bundles", nil)
	put(t, b, "bundles", "a/b.json", "12345")
	tests := []struct {
		name   string
		reader objects.Reader
		place  objects.Place
		want   string
		wrong  string
	}{
		{"whole", objects.Reader{}, objects.Place{Bucket: "bundles", Key: "a/b.json"}, "12345", ""},
		{"just small enough", objects.Reader{Limit: 5}, objects.Place{Bucket: "bundles", Key: "a/b.json"}, "12345", ""},
		{"too large", objects.Reader{Limit: 4}, objects.Place{Bucket: "bundles", Key: "a/b.json"}, "",
			"reading s3://bundles/a/b.json: the object is larger than the limit of 4 bytes"},
		{"waited for", objects.Reader{Wait: time.Minute}, objects.Place{Bucket: "bundles", Key: "a/b.json"}, "12345", ""},
		{"no object", objects.Reader{}, objects.Place{Bucket: "bundles", Key: "c"}, "", "reading s3://bundles/c: "},
		{"no bucket", objects.Reader{}, objects.Place{Bucket: "none", Key: "c"}, "", "reading s3://none/c: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.reader.Read(t.Context(), tt.place)
			if string(got) != tt.want || (err != nil) != (tt.wrong != "") {
				t.Fatalf("got %q, %v, want %q, %q", got, err, tt.want, tt.wrong)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.wrong) || strings.Contains(err.Error(), "sesame")) {
				t.Errorf("got %q, want %q", err, tt.wrong)
			}
		})
	}
}

// Who waits for an object stops when nobody wants it any more.
func TestWaitEnds(t *testing.T) {
	store(t, "bundles", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (objects.Reader{Wait: time.Hour}).Read(ctx, objects.Place{Bucket: "bundles", Key: "later"}); err == nil {
		t.Error("read what is not there")
	}
}

// An object whose size is not known, or not true, is read up to the limit.
func TestReadOddSizes(t *testing.T) {
	var says string
	b := store(t, "bundles", func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				h.ServeHTTP(w, r)
				return
			}
			if says != "" {
				w.Header().Set("Content-Length", says)
			}
			_, _ = io.Copy(w, bytes.NewReader(make([]byte, 100))) // the length may be wrong
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
		})
	})
	put(t, b, "bundles", "x", "x")
	for _, tt := range []struct {
		says  string
		limit int64
		want  int
	}{{"", 100, 100}, {"", 99, -1}, {"200", 300, -1}, {"200", 150, -1}} {
		says = tt.says
		got, err := objects.Reader{Limit: tt.limit}.Read(t.Context(), objects.Place{Bucket: "bundles", Key: "x"})
		if (err == nil) != (tt.want >= 0) || err == nil && len(got) != tt.want {
			t.Errorf("says %q, limit %d: got %d bytes, %v, want %d", tt.says, tt.limit, len(got), err, tt.want)
		}
	}
}
