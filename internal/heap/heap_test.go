package heap

import (
	"runtime"
	"runtime/debug"
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

// TestPrepareOfACommand checks that a command keeps what it sets itself.
func TestPrepareOfACommand(t *testing.T) {
	before := debug.SetGCPercent(usually)
	defer debug.SetGCPercent(before)
	Prepare(1<<20, "")
	debug.SetGCPercent(50)
	used := make([]byte, 2*maxRarely)
	for range 20 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if got := percent(); got != 50 {
		t.Errorf("got %d percent, want 50", got)
	}
	runtime.KeepAlive(used)
}

// percent returns how much the heap grows between two collections.
func percent() int {
	_, percent := state()
	return int(percent)
}
