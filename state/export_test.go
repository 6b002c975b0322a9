package state

import "time"

// Patience sets how long one call may take, for tests of stores that hang.
func (s *S3) Patience(d time.Duration) { s.wait = d }

// Patience sets how long the lock is waited for.
func (d *Dir) Patience(wait time.Duration) { d.wait = wait }

// Recover forgets that nobody answered.
func (s *S3) Recover() { s.mu.Lock(); s.outageEnds = time.Time{}; s.mu.Unlock() }

// Exact tells whether the store keeps to the conditions of deletes.
func (s *S3) Exact() bool { return s.conditionalDeletes }
