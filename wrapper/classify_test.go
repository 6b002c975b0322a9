package wrapper_test

import (
	"context"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/app-sre/prcheck/internal/mask"
	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/wrapper"
)

// fails is a Runner that prints a text and fails.
func fails(text string) runnerFunc {
	return func(_ context.Context, _ plan.Task, log io.Writer) error {
		_, _ = io.WriteString(log, text)
		return &wrapper.ExitError{Code: 1}
	}
}

// traceback returns a Python traceback that ends with the given lines.
func traceback(lines ...string) string {
	return "Traceback (most recent call last):\n  File \"x.py\", line 1, in run\n    connect()\n" +
		strings.Join(lines, "\n") + "\n"
}

const during = "\nDuring handling of the above exception, another exception occurred:\n"

// A failure with transient and other errors is not transient, but it is worth another
// attempt.
var mixed = []string{
	"a real error before a passing one", "logfmt, another", "two tracebacks that are not chained",
	"a logged error, then a passing traceback",
}

func TestClassOfAFailure(t *testing.T) {
	const at = "[2026-11-21 10:00:00] "
	tests := []struct {
		name, text string
		transient  bool
	}{
		{"nothing", "", false},
		{"an ordinary failure", "the shelves are gone", false},
		{"reset", "curl: (56) Recv failure: Connection reset by peer", true},
		{"refused", "dial tcp 10.0.0.1:443: connect: connection refused", true},
		{"Go timeout", `Get "https://x": net/http: TLS handshake timeout`, true},
		{"i/o timeout", "read tcp 10.0.0.1:443: i/o timeout", true},
		{"deadline", "rpc error: code = DeadlineExceeded desc = context deadline exceeded", true},
		{"429", "HTTP 429 Too Many Requests", true},
		{"python requests", "requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: https://x", true},
		{"python 429", "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://x", true},
		{"status code", "unexpected status code: 502", true},
		{"status in JSON", `{"status": 504, "message": "x"}`, true},
		{"errno", "connect ECONNREFUSED 127.0.0.1:1", true},
		{"AWS",
			"botocore.exceptions.ClientError: An error occurred (ThrottlingException) when calling the X operation: Rate exceeded", true},
		{"read timed out", "ReadTimeoutError: HTTPSConnectionPool(host='x', port=443): Read timed out. (read timeout=60)",
			true},
		{"DNS that fails for now", "Temporary failure in name resolution", true},

		{"numbers alone", "found 503 users and 429 groups in 500 ms", false},
		{"a number that is data", "replicas: 503 is more than 500", false},
		{"a port", "listening on :5030, error 1", false},
		{"the word alone", "namespace timeout-tests has no owner", false},
		{"a setting", "timeout: must be a duration, got 503", false},
		{"a host that is mistyped", "dial tcp: lookup vualt.example.com: no such host", false},
		{"not found", "404 Client Error: Not Found for url: https://x", false},
		{"conflict", "409: Conflict", false},
		{"forbidden", "403 Client Error: Forbidden for url: https://x", false},
		{"input that ends", "yaml: unexpected EOF", false},
		{"a status that is no error", "status: 200", false},

		{"a passing error before a real one", "HTTP 503\n" + at + "[ERROR] [DRY-RUN] user x has no role\n", false},
		{"a real error before a passing one", at + "[ERROR] user x has no role\n" + at + "[ERROR] 503 Server Error: x\n",
			false},
		{"two passing errors", at + "[ERROR] [a] Connection reset by peer\n" + at + "[ERROR] [b] 503 Server Error: x\n",
			true},
		{"a passing warning, then a real error", at + "[WARNING] 409: Conflict, HTTP 503\n" + at +
			"[ERROR] user x has no role\n", false},
		{"only a warning, then an ordinary end", at + "[WARNING] connection reset by peer, once more\nuser x has no role\n",
			false},
		{"a passing error, then what it was about to do", at + "[ERROR] connection reset by peer\n" + at +
			"[INFO] done with 3 clusters\n", true},
		{"logfmt", "level=error msg=\"i/o timeout\"\nlevel=info msg=bye\n", true},
		{"logfmt, another", "level=error msg=\"no owner\"\nlevel=error msg=\"i/o timeout\"\n", false},

		{"chained", traceback("ConnectionResetError: [Errno 104] Connection reset by peer") + during +
			traceback("requests.exceptions.ConnectionError: ('Connection aborted.', ConnectionResetError(104, 'Connection reset by peer'))"), true},
		{"the handler of another",
			traceback("KeyError: 'cached'") + during + traceback("requests.exceptions.ReadTimeout: read timed out"), true},
		{"raised while handling", traceback("requests.exceptions.ReadTimeout: read timed out") + during +
			traceback("KeyError: 'x'"), false},
		{"two tracebacks that are not chained", traceback("KeyError: 'x'") + traceback("TimeoutError: timed out"), false},
		{"a logged error, then a passing traceback", at + "[ERROR] user x has no role\n" + during +
			traceback("TimeoutError: x"), false},

		{"of this task's own", "flurbl overflow", true},
		{"a passing line, then 100 lines", "HTTP 503\n" + strings.Repeat("cleaning up\n", 100), false},
		{"invalid UTF-8", "\xff\xfe connection reset by peer \xff\n", true},
		{"escapes", "\x1b[31mError: connection \x1b[1mreset by peer\x1b[0m\n", true},
		{"a very long line", strings.Repeat("x", 10<<20) + " connection reset by peer", true},
		{"a very long line that ends otherwise", "connection reset by peer " + strings.Repeat("x", 10<<20), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := runOne(t, task("a"), fails(test.text), wrapper.RunOptions{
					Transient: func(t plan.Task) []*regexp.Regexp {
						return []*regexp.Regexp{regexp.MustCompile(`flurbl over` + map[string]string{"a": "flow"}[t.ID])}
					},
				})
				want, attempts := plan.ClassTask, 1
				if test.transient {
					want = plan.ClassTransient
				}
				if test.transient || slices.Contains(mixed, test.name) {
					attempts = 2
				}
				if got.Class != want || got.Attempts != attempts || got.Status != plan.Failed {
					t.Errorf("got class %q after %d attempts, want %q after %d", got.Class, got.Attempts, want, attempts)
				}
			})
		})
	}
}

// A secret that looks like a transient error does not make a failure transient, and
// the patterns never see it.
func TestClassIsDecidedOnMaskedText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen strings.Builder
		got := runOne(t, task("a"), fails("token connection reset by peer"), wrapper.RunOptions{
			Masker: mask.New([]string{"connection reset by peer"}), Logs: nil,
			Observe: func(e wrapper.Event) {
				if e.Result != nil {
					seen.WriteString(e.Result.Tail + e.Result.Reason)
				}
			},
		})
		if got.Class != plan.ClassTask || strings.Contains(seen.String(), "reset") {
			t.Errorf("got %+v, seen %q", got, seen.String())
		}
	})
}

// Of 100 MB of output only the tail is kept and classified.
func TestClassOfAFlood(t *testing.T) {
	piece := strings.Repeat("connection reset by peer\n", 40_000)
	got := runOne(t, task("a"), runnerFunc(func(_ context.Context, _ plan.Task, log io.Writer) error {
		for range 100 {
			_, _ = io.WriteString(log, piece)
		}
		_, _ = io.WriteString(log, "Error: no owner\n")
		return &wrapper.ExitError{Code: 1}
	}), wrapper.RunOptions{})
	if got.Class != plan.ClassTask || len(got.Tail) > 4<<10 {
		t.Errorf("got class %q and a tail of %d bytes", got.Class, len(got.Tail))
	}
}
