package server

import (
	"runtime"
	"time"
)

// Limits bound the resources of a hub. A field with the value 0 has the default that its
// comment names.
type Limits struct {
	Evaluations int           // number of queries that are evaluated at once; default 2 per CPU
	Waiting     int           // number of requests that wait for their evaluation; default 1000
	Evaluation  time.Duration // time to evaluate one query, with the waiting; default 1 minute
	Unsent      int64         // bytes of answers that are being sent to clients; default 1 GiB
	Bundles     int           // number of bundles; default 100
	Connections int           // number of open connections; default 1000
	Answers     int64         // bytes of cached answers; default 256 MiB; negative for no cache
}

// withDefaults returns the limits with the defaults of fields that are 0.
func (l Limits) withDefaults() Limits {
	if l.Evaluations <= 0 {
		l.Evaluations = 2 * runtime.GOMAXPROCS(0)
	}
	if l.Waiting <= 0 {
		l.Waiting = 1000
	}
	if l.Evaluation <= 0 {
		l.Evaluation = time.Minute
	}
	if l.Unsent <= 0 {
		l.Unsent = 1 << 30
	}
	if l.Bundles <= 0 {
		l.Bundles = 100
	}
	if l.Connections <= 0 {
		l.Connections = 1000
	}
	if l.Answers == 0 {
		l.Answers = 256 << 20
	}
	return l
}
