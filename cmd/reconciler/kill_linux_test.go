package main

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/internal/script"
)

var kills = flag.Int("kills", 5, "how often TestReconcileKilledAtRandom kills the program")

// A run that is killed at any moment leaves nothing that the next run does not put right. What
// its journal says is true, and things of others stay as they are.
func TestReconcileKilledAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	keeper := script.Program(t, "keeper")
	bundle, err := filepath.Abs("../../testdata/shop/base.json")
	if err != nil {
		t.Fatal(err)
	}
	const foreign = "5 other/quay\n"
	want := map[string]string{"harbor": "200 warehouse-stock/harbor\n", "hillside": "120 warehouse-stock/hillside\n",
		"quay": foreign}
	cut := 0
	for range *kills {
		dir := t.TempDir()
		world := filepath.Join(dir, "world")
		if err := os.Mkdir(world, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(world, "quay"), foreign)
		run := func() *exec.Cmd {
			cmd := exec.CommandContext(t.Context(), keeper, "run", "warehouse-stock", "--bundle", bundle, "--no-dry-run",
				"--state", "state", "--journal", "journal")
			cmd.Dir, cmd.Env = dir, []string{"WORLD=" + world, "GORACE=atexit_sleep_ms=0"}
			return cmd
		}
		killed := run()
		if err := killed.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(250 * time.Millisecond))
		_ = killed.Process.Kill()
		_ = killed.Wait()
		checkJournal(t, dir, false)
		if _, err := os.Stat(filepath.Join(world, "hillside")); err != nil {
			cut++
		}
		removeLeases(t, filepath.Join(dir, "state")) // or the next run waits for a minute
		if out, err := run().CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		checkJournal(t, dir, true)
		for name, text := range want {
			if got := read(t, filepath.Join(world, name)); got != text {
				t.Errorf("%s is %q, want %q", name, got, text)
			}
		}
		if out, err := run().CombinedOutput(); err != nil || !strings.Contains(string(out), "done: nothing to do") {
			t.Errorf("the third run: %v\n%s", err, out)
		}
	}
	t.Logf("%d of %d runs were killed before they had done everything", cut, *kills)
}

// checkJournal wants that everything that the journal calls done is there. All lines of a run
// that was not killed are whole.
func checkJournal(t *testing.T, dir string, isWhole bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(dir, "journal"))
	if os.IsNotExist(err) && !isWhole {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var e struct{ Key, Status string }
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			continue // it was cut off, and the next run began a new line
		}
		if _, err := os.Stat(filepath.Join(dir, "world", e.Key)); err != nil || e.Status != "done" || e.Key == "quay" {
			t.Errorf("the journal says %q: %v", line, err)
		}
	}
}
