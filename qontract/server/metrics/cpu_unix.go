//go:build unix

package metrics

import (
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
)

// cpuSeries returns the processor time in user mode and in system mode.
func cpuSeries() []prometheus.Collector {
	return []prometheus.Collector{
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "qontract_server_process_cpu_user_seconds_total", Help: "Total user CPU time spent in seconds.",
		}, func() float64 { return cpuSeconds(func(u *syscall.Rusage) syscall.Timeval { return u.Utime }) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "qontract_server_process_cpu_system_seconds_total", Help: "Total system CPU time spent in seconds.",
		}, func() float64 { return cpuSeconds(func(u *syscall.Rusage) syscall.Timeval { return u.Stime }) }),
	}
}

// cpuSeconds returns one of the processor times of this process.
func cpuSeconds(which func(*syscall.Rusage) syscall.Timeval) float64 {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	t := which(&used)
	return float64(t.Sec) + float64(t.Usec)/1e6
}
