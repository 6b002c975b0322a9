//go:build !unix

package metrics

import "github.com/prometheus/client_golang/prometheus"

// cpuSeries returns nothing: this system does not tell the processor times.
func cpuSeries() []prometheus.Collector { return nil }
