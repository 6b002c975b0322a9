package retry

import (
	"net/http"
	"strconv"
	"time"
)

// After returns how long a server asks to wait with Retry-After, in seconds or until
// a date (RFC 9110, section 10.2.3). It returns false when the header is missing or
// says neither. The duration is never negative.
func After(header http.Header, now time.Time) (time.Duration, bool) {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}
