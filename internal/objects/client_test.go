package objects

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// bucketOf returns a bucket whose store is a handler. It sends failed requests
// again without a pause.
func bucketOf(t *testing.T, h http.HandlerFunc) *Bucket {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	settings(t, map[string]string{"AWS_ENDPOINT_URL": s.URL})
	b, err := Open(t.Context(), "b")
	if err != nil {
		t.Fatal(err)
	}
	atOnce := retry.AddWithMaxBackoffDelay(retry.NewStandard(), time.Millisecond)
	b.client.retries = retry.NewAttemptMiddleware(atOnce, func(r any) any { return r })
	return b
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `<?xml version="1.0"?><Error><Code>`+code+`</Code><Message>says why</Message></Error>`)
}

// The signature is that of the request that arrives: its path, query, headers and
// body.
func TestSignature(t *testing.T) {
	b := bucketOf(t, func(w http.ResponseWriter, r *http.Request) {
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil {
			t.Error(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		hash, _ := request{body: bytes.NewReader(body), size: int64(len(body))}.hash()
		again := r.Clone(r.Context())
		again.URL.Scheme, again.URL.Host = "http", r.Host
		again.Header = http.Header{}
		for name, values := range r.Header {
			if name != "Authorization" && name != "Accept-Encoding" && name != "Content-Length" {
				again.Header[name] = values
			}
		}
		err = v4.NewSigner().SignHTTP(r.Context(),
			aws.Credentials{AccessKeyID: "AKIDEXAMPLE", SecretAccessKey: "sesame-open"},
			again, hash, "s3", "eu-west-1", at, func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		if got, want := r.Header.Get("Authorization"), again.Header.Get("Authorization"); err != nil || got != want {
			t.Errorf("%s %s: signed %s\nwant %s, %v", r.Method, r.URL, got, want, err)
		}
		if r.Header.Get("X-Amz-Content-Sha256") != hash {
			t.Errorf("%s %s: the hash of the body is %s, want %s", r.Method, r.URL, r.Header.Get("X-Amz-Content-Sha256"), hash)
		}
		if key := strings.TrimPrefix(r.URL.Path, "/b/"); r.Method == http.MethodPut && key != "odd //%41+ä?" {
			t.Errorf("the key arrives as %q", key)
		}
		_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
	})
	for _, size := range []int{0, 5, largeBody + 1} {
		if _, err := b.Put(t.Context(), "odd //%41+ä?", make([]byte, size), None); err != nil {
			t.Error(err)
		}
	}
	if _, err := b.List(t.Context(), "a b/+ä"); err != nil {
		t.Error(err)
	}
	if err := b.Delete(t.Context(), "x", `"etag"`); err != nil {
		t.Error(err)
	}
}

// A request that fails for a passing reason is sent again, with its whole body.
func TestRetries(t *testing.T) {
	content := strings.Repeat("content", 1000)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fail  func(http.ResponseWriter)
		asked int
		want  error
	}{
		"trouble of the store": {func(w http.ResponseWriter) { refuse(w, 503, "SlowDown") }, 3, nil},
		"cut connection":       {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 3, nil},
		"refusal":              {func(w http.ResponseWriter) { refuse(w, 403, "AccessDenied") }, 1, ErrDenied},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			b := bucketOf(t, func(w http.ResponseWriter, r *http.Request) {
				if raw, err := io.ReadAll(r.Body); err != nil || string(raw) != content {
					t.Errorf("got %d bytes, %v", len(raw), err)
				}
				if asked++; asked < 3 {
					c.fail(w)
				}
			})
			f, err := os.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := b.Upload(t.Context(), "k", f); !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("got %v after %d requests, want %v after %d", err, asked, c.want, c.asked)
			}
		})
	}
}

// A store whose clock is another one gets signatures of its own time.
func TestClock(t *testing.T) {
	ahead := 20 * time.Minute
	asked := 0
	b := bucketOf(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		now := time.Now().Add(ahead)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		at, _ := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if now.Sub(at).Abs() > time.Minute {
			refuse(w, 403, "RequestTimeTooSkewed")
		}
	})
	for _, want := range []int{2, 3} { // the second request knows
		if _, _, err := b.Get(t.Context(), "k", 10); err != nil || asked != want {
			t.Errorf("got %v after %d requests, want %d", err, asked, want)
		}
	}
	ahead = 0
	if _, _, err := b.Get(t.Context(), "k", 10); err != nil {
		t.Errorf("after the clock was set right: %v", err)
	}
}

func TestClockIsRight(t *testing.T) {
	asked := 0
	b := bucketOf(t, func(w http.ResponseWriter, _ *http.Request) {
		asked++
		refuse(w, 403, "SignatureDoesNotMatch")
	})
	if _, _, err := b.Get(t.Context(), "k", 10); !errors.Is(err, ErrDenied) || asked != 1 {
		t.Errorf("got %v after %d requests", err, asked)
	}
}

// The bytes of an object have the checksum that the store names.
func TestChecksums(t *testing.T) {
	for name, c := range map[string]struct {
		header, sum string
		damaged     bool
	}{
		"none":        {"X-Other", "x", false},
		"CRC-64":      {"X-Amz-Checksum-Crc64nvme", "rosUhgp5mIg=", false},
		"CRC-32":      {"X-Amz-Checksum-Crc32", "y/Q5Jg==", false},
		"CRC-32C":     {"X-Amz-Checksum-Crc32c", "4waSgw==", false},
		"SHA-1":       {"X-Amz-Checksum-Sha1", "98O8HYCOBHMq32eZZczDTKeuNEE=", false},
		"SHA-256":     {"X-Amz-Checksum-Sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=", false},
		"other bytes": {"X-Amz-Checksum-Crc32", "AAAAAA==", true},
		"of parts":    {"X-Amz-Checksum-Crc32", "AAAAAA==-2", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := bucketOf(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Amz-Checksum-Mode") != "ENABLED" {
					t.Error("the checksum was not asked for")
				}
				w.Header().Set(c.header, c.sum)
				_, _ = io.WriteString(w, "123456789")
			})
			raw, _, err := b.Get(t.Context(), "k", 100)
			if errors.Is(err, errDamaged) != c.damaged || !c.damaged && string(raw) != "123456789" {
				t.Errorf("got %q, %v", raw, err)
			}
			var out bytes.Buffer
			if err := b.Download(t.Context(), "k", &out, 100); errors.Is(err, errDamaged) != c.damaged {
				t.Errorf("download: got %v", err)
			}
		})
	}
}

// An answer that is no success is told by its kind, whoever gave it.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
		text   string
	}{
		"no object": {404, "<Error><Code>NoSuchKey</Code></Error>", ErrNotFound, "there is no such object"},
		"no bucket": {404, "<Error><Code>NoSuchBucket</Code><Message>none</Message></Error>", nil, "NoSuchBucket: none"},
		"proxy":     {404, "<html>not here", nil, "NotFound: Not Found"},
		"denied":    {403, "<Error><Code>AccessDenied</Code></Error>", ErrDenied, "access is denied (AccessDenied)"},
		"changed":   {412, "", ErrChanged, ""},
		"at once":   {409, "", ErrChanged, ""},
		"unknown":   {501, "<Error><Code>NotImplemented</Code></Error>", errors.ErrUnsupported, ""},
		"trouble":   {500, "", ErrUnreachable, "it cannot be reached: it answers 500 InternalServerError"},
		"moved": {301, "<Error><Code>PermanentRedirect</Code><Message>elsewhere</Message></Error>", nil,
			"PermanentRedirect: elsewhere"},
		"endless error": {400, "<Error><Message>" + strings.Repeat("x", 2*maxErrorBody), nil, "BadRequest: Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			b := bucketOf(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, _, err := b.Get(t.Context(), "k", 10)
			if err == nil || c.want != nil && !errors.Is(err, c.want) || c.text != "" && err.Error() != c.text {
				t.Errorf("got %v, want %v, %s", err, c.want, c.text)
			}
		})
	}
}

// Errors do not name the parts of the SDK that they came through.
func TestErrorsWithoutAnswer(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	tls := httptest.NewUnstartedServer(nil)
	tls.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake fails, as it shall
	tls.StartTLS()
	defer tls.Close()
	for name, c := range map[string]struct{ endpoint, want string }{
		"nobody listens": {closed.URL, "it cannot be reached: dial tcp 127.0.0.1:"},
		"certificate":    {tls.URL, "it cannot be reached: Get \"https://127.0.0.1:"},
	} {
		t.Run(name, func(t *testing.T) {
			settings(t, map[string]string{"AWS_ENDPOINT_URL": c.endpoint, "AWS_MAX_ATTEMPTS": "1"})
			b, err := Open(t.Context(), "b")
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := b.Get(t.Context(), "k", 10); !errors.Is(err, ErrUnreachable) ||
				!strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s…", err, c.want)
			}
		})
	}
	t.Run("credentials", func(t *testing.T) {
		settings(t, map[string]string{"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_MAX_ATTEMPTS": "1"})
		_, err := Reader{}.Read(t.Context(), Place{"b", "k"})
		if err == nil || !strings.HasPrefix(err.Error(), "reading s3://b/k: getting credentials: ") {
			t.Errorf("got %v", err)
		}
	})
}
