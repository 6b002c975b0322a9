package server

import (
	"runtime"
	"time"
)

// Limits bound what a server uses. The zero value of a field stands for its
// default.
type Limits struct {
	Evaluations int           // queries that are evaluated at once; 2 for each CPU
	Waiting     int           // requests that wait for their evaluation; 1000
	Evaluation  time.Duration // of one query, with waiting; 1 minute
	Unsent      int64         // bytes of answers on their way to clients; 1 GiB
	Bundles     int           // bundles that are kept; 100
	Connections int           // that are open at once; 1000
	Answers     int64         // bytes of answers that are remembered; 256 MiB, below 0 none
}

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
