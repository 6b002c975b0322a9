package metrics

import (
	"runtime/metrics"

	"github.com/prometheus/client_golang/prometheus"
)

// processSeries returns the series about the process that qontract-server has and that the
// collectors of the Prometheus client do not have.
func processSeries() []prometheus.Collector {
	heap := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "qontract_server_process_heap_bytes", Help: "Process heap size in bytes.",
	}, heapBytes)
	return append(cpuSeries(), heap)
}

// heapBytes returns the size of the heap, without the memory that was given back to the
// system.
func heapBytes() float64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	sum := 0.0
	for _, s := range samples {
		sum += float64(s.Value.Uint64())
	}
	return sum
}
