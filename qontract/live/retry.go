package live

import (
	"net/http"
	"time"

	"github.com/app-sre/prcheck/internal/retry"
)

// maxAfter is the longest time to wait if a server asks to wait.
const maxAfter = 30 * time.Second

// requests is how requests to a server are repeated.
var requests = retry.Policy{Attempts: 5, FirstPause: 200 * time.Millisecond, MaxPause: 5 * time.Second}

// retryAfter returns how long a server asks to wait, up to [maxAfter].
func retryAfter(header http.Header) time.Duration {
	after, _ := retry.After(header, time.Now())
	return min(after, maxAfter)
}
