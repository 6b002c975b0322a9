package admission

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// bounds are the upper ends of the buckets of the duration, in seconds.
var bounds = []float64{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1}

// counts are the metrics of a handler.
type counts struct {
	mu       sync.Mutex
	outcomes map[string]int
	buckets  [8]int // as many as bounds
	seconds  float64
	all      int
	isStale  bool
}

func (c *counts) setStale(isStale bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isStale = isStale
}

func (c *counts) add(outcome string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outcomes == nil {
		c.outcomes = map[string]int{}
	}
	c.outcomes[outcome]++
	c.all++
	c.seconds += took.Seconds()
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			c.buckets[i]++
		}
	}
}

// text returns the metrics in the text format of Prometheus.
func (c *counts) text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var b strings.Builder
	b.WriteString("# HELP prcheck_webhook_reviews_total Reviews by outcome; late ones are refused unchecked, invalid " +
		"ones are no reviews.\n# TYPE prcheck_webhook_reviews_total counter\n")
	for _, outcome := range []string{allowed, refused, late, invalid} {
		fmt.Fprintf(&b, "prcheck_webhook_reviews_total{outcome=%q} %d\n", outcome, c.outcomes[outcome])
	}
	b.WriteString("# HELP prcheck_webhook_review_seconds How long an answer took.\n# TYPE " +
		"prcheck_webhook_review_seconds histogram\n")
	for i, bound := range bounds {
		fmt.Fprintf(&b, "prcheck_webhook_review_seconds_bucket{le=\"%v\"} %d\n", bound, c.buckets[i])
	}
	fmt.Fprintf(&b, "prcheck_webhook_review_seconds_bucket{le=\"+Inf\"} %d\n", c.all)
	fmt.Fprintf(&b, "prcheck_webhook_review_seconds_sum %v\nprcheck_webhook_review_seconds_count %d\n", c.seconds, c.all)
	stale := 0
	if c.isStale {
		stale = 1
	}
	fmt.Fprintf(&b, "# HELP prcheck_webhook_stale Whether newer specifications could not be read.\n# TYPE "+
		"prcheck_webhook_stale gauge\nprcheck_webhook_stale %d\n", stale)
	return b.String()
}
