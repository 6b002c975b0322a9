package lease

import (
	"errors"
	"fmt"
	"time"

	"github.com/app-sre/prcheck/state"
)

// The bounds of a limit.
const (
	DefaultTTL = time.Minute
	minTTL     = 100 * time.Millisecond
	maxTTL     = time.Hour
	maxCount   = 1000 // of places, and of starts in a period
	maxPeriod  = time.Hour
	maxKey     = 500 // bytes
)

// A Limit says how many tasks may use one thing. All tasks that use the thing must give
// the same limit.
type Limit struct {
	Key  string        // identifies the thing, for instance "aws/app-sre"; any text
	Max  int           // places: how many tasks may use it at once; 0 is any number
	Rate Rate          // how many tasks may start; the zero value is any number
	TTL  time.Duration // how long the place of a dead holder is kept; 0 is DefaultTTL
}

// A Rate says how many tasks may start in a period of a length. It holds for every
// period, wherever the period begins.
type Rate struct {
	Count int
	Per   time.Duration
}

// check returns the limit with defaults, or an error if it exceeds the bounds.
func (l Limit) check() (Limit, error) {
	if l.TTL == 0 {
		l.TTL = DefaultTTL
	}
	wrong := ""
	switch {
	case l.Key == "":
		wrong = "it has no key"
	case len(l.Key) > maxKey:
		return l, fmt.Errorf("limit %.40q…: its key has more than %d bytes", l.Key, maxKey)
	case l.Max < 0 || l.Max > maxCount:
		wrong = fmt.Sprintf("its places must be from 0 to %d", maxCount)
	case l.TTL < minTTL || l.TTL > maxTTL:
		wrong = fmt.Sprintf("its TTL must be from %v to %v", minTTL, maxTTL)
	case l.Rate == Rate{} && l.Max == 0:
		wrong = "it limits neither places nor starts"
	case l.Rate == Rate{}:
	case l.Rate.Count < 1 || l.Rate.Count > maxCount:
		wrong = fmt.Sprintf("its starts must be from 1 to %d", maxCount)
	case l.Rate.Per < time.Millisecond || l.Rate.Per > maxPeriod:
		wrong = fmt.Sprintf("its period must be from 1ms to %v", maxPeriod)
	}
	if wrong != "" {
		return l, fmt.Errorf("limit %q: %s", l.Key, wrong)
	}
	return l, nil
}

func (l Limit) document() string { return "leases/" + state.Name(l.Key) + ".json" }

// A document holds the holders and starts of one limit.
type document struct {
	Version string   `json:"version"`
	Key     string   `json:"key"`     // for people to read
	Holders []holder `json:"holders"` // in the order they came
	// Starts are the times of the last starts, in milliseconds since 1970, the
	// oldest first.
	Starts []int64 `json:"starts,omitempty"`
}

type holder struct {
	ID   string `json:"id"`
	Beat int    `json:"beat"` // the number of signs of life
	TTL  int64  `json:"ttl"`  // in milliseconds
}

// ttl returns how long a holder may give no sign of life. It is bounded, whatever the
// document says.
func (h holder) ttl() time.Duration {
	return min(max(0, time.Duration(min(h.TTL, maxTTL.Milliseconds()))*time.Millisecond), maxTTL)
}

var kind = state.Kind[document]{Version: "1", Limit: 1 << 20, Valid: func(d *document) error {
	if len(d.Holders) > maxCount || len(d.Starts) > maxCount {
		return errors.New("it has too many holders or starts")
	}
	return nil
}}
