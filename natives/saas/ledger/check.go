package ledger

import "time"

// A Check is a verification of what a run deployed: a measurement that must be good for some time.
type Check struct {
	Seconds int64     `json:"seconds"`         // for how long it must be good
	Since   time.Time `json:"since,omitzero"`  // from when on it was good without a break
	Result  Result    `json:"result,omitzero"` // Good, Failed, or not over
	Done    time.Time `json:"done,omitzero"`   // when the result was clear
}

// A Reading is what a verification measured.
type Reading string

// The readings. Unknown is the zero value: no answer is neither good nor bad.
const (
	Unknown Reading = ""
	Holds   Reading = "good"
	Broken  Reading = "bad"
)

// Checking returns the last run if its verification is under way.
func (b *Book) Checking() (Run, bool) {
	if b == nil || len(b.Runs) == 0 {
		return Run{}, false
	}
	r := b.Runs[len(b.Runs)-1]
	return r, r.Check != nil && r.Result == Good && r.Check.Result == Ended
}

// Measured returns a book with what the verification of the last run measured at a time. A reading that is not known
// begins the time anew, and says nothing about the commit.
func (b *Book) Measured(is Reading, now time.Time) *Book {
	r, ok := b.Checking()
	if !ok || now.Before(r.At) {
		return b
	}
	c := *r.Check
	now = now.UTC().Truncate(time.Microsecond)
	switch is {
	case Broken:
		c.Result, c.Done, c.Since = Failed, now, time.Time{}
	case Holds:
		if c.Since.IsZero() {
			c.Since = now
		}
		if end := c.Since.Add(time.Duration(c.Seconds) * time.Second); !now.Before(end) {
			c.Result, c.Done = Good, end
		}
	default:
		c.Since = time.Time{}
	}
	if c == *r.Check {
		return b
	}
	out := b.clone()
	r.Check = &c
	out.Runs[len(out.Runs)-1] = r
	return out
}

// Until returns when a verification ends if the measurement stays good; zero if nobody knows.
func (c Check) Until() time.Time {
	if c.Since.IsZero() {
		return time.Time{}
	}
	return c.Since.Add(time.Duration(c.Seconds) * time.Second)
}
