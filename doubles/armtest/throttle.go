package armtest

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// Limits are the rates of one subscription, one for each kind of request.
type Limits struct{ Reads, Writes, Deletes Rate }

// A Rate allows Burst requests at once, and PerSecond more of them in each second.
type Rate struct {
	Burst     float64
	PerSecond float64
}

// A bucket holds the tokens of one subscription and kind of request.
type bucket struct {
	tokens float64
	at     time.Time
}

// throttled takes a token for a request, and answers 429 if there is none.
func (s *Server) throttled(c *call) bool {
	if s.Limits == nil || len(c.parts) < 2 || !strings.EqualFold(c.parts[0], "subscriptions") {
		return false
	}
	kind, rate := "reads", s.Limits.Reads
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodDelete:
		kind, rate = "deletes", s.Limits.Deletes
	default:
		kind, rate = "writes", s.Limits.Writes
	}
	if rate.PerSecond == 0 {
		return false
	}
	id, now := strings.ToLower(c.parts[1])+" "+kind, s.Now()
	b := s.buckets[id]
	if b == nil {
		b = &bucket{tokens: rate.Burst, at: now}
		s.buckets[id] = b
	}
	b.tokens = min(rate.Burst, b.tokens+now.Sub(b.at).Seconds()*rate.PerSecond)
	b.at = now
	const slack = 1e-6 // of sums of fractions
	if b.tokens < 1-slack {
		c.answer.Header().Set("Retry-After", seconds(time.Duration((1-b.tokens)/rate.PerSecond*float64(time.Second))))
		c.refuse(http.StatusTooManyRequests, "TooManyRequests", "", "the subscription has sent too many requests")
		return true
	}
	b.tokens--
	c.answer.Header().Set("x-ms-ratelimit-remaining-subscription-"+kind, fmt.Sprintf("%.0f", math.Floor(b.tokens)))
	return false
}

// seconds returns a duration as Retry-After wants it, at least 1.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%.0f", max(1, math.Ceil(d.Seconds())))
}
