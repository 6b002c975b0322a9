package state

import "time"

// Patience sets how long one call may take.
func (s *S3) Patience(d time.Duration) { s.wait = d }

// Patience sets how long a call waits for the lock.
func (d *Dir) Patience(wait time.Duration) { d.wait = wait }

// Recover forgets the last outage, so that the next call tries again.
func (s *S3) Recover() { s.mu.Lock(); s.outageEnds = time.Time{}; s.mu.Unlock() }

// Exact reports whether the bucket supports conditional deletes.
func (s *S3) Exact() bool { return s.conditionalDeletes }

// TrustedAt is [Trusted] at another time.
func TrustedAt(s Store, t Trust, at time.Time) Store {
	return trusted{s, t, func() time.Time { return at }}
}
