package heap

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestPrepare checks that collections are rare while little memory is in use, and as frequent
// as usual afterwards.
func TestPrepare(t *testing.T) {
	before := debug.SetGCPercent(usually)
	defer debug.SetGCPercent(before)
	Prepare(1<<20, "")
	if got := percent(); got != rarely {
		t.Fatalf("got %d percent, want %d", got, rarely)
	}
	used := make([]byte, 2*maxRarely)
	deadline := time.Now().Add(10 * time.Second)
	for percent() != usually && time.Now().Before(deadline) {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run after the collection
	}
	if got := percent(); got != usually {
		t.Errorf("got %d percent with %d bytes in use, want %d", got, len(used), usually)
	}
	runtime.KeepAlive(used)
}

func TestPrepareAsTheUserWants(t *testing.T) {
	before := debug.SetGCPercent(50)
	defer debug.SetGCPercent(before)
	Prepare(1<<20, "50")
	if got := percent(); got != 50 {
		t.Errorf("got %d percent, want 50", got)
	}
}

// percent returns how much the heap grows between two collections.
func percent() int {
	now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(now)
	return int(now[0].Value.Uint64())
}
