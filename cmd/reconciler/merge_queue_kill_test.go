package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// queueKills is how often the loop is killed: go test ./cmd/reconciler -run MergeQueueKilled -queue-kills 500.
var queueKills = flag.Int("queue-kills", 6, "how often a loop that merges is killed")

// A loop that is killed anywhere merges nothing twice, nothing by another tree, and the next one goes on.
func TestMergeQueueKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills programs")
	}
	q := newMergeQueue(t)
	r := rand.New(rand.NewPCG(38, 1))
	var rooms []string
	killed, last := 0, ""
	for n := 0; killed < *queueKills && n < 10**queueKills; n++ {
		if len(q.repository.OpenMergeRequests()) < 2 {
			name := fmt.Sprintf("room%d", n)
			q.open(name, "data/"+name+".yml", "$schema: /room-1.yml\nname: "+name+"\n")
			rooms = append(rooms, name)
		}
		cmd := exec.CommandContext(t.Context(), "reconciler", "run", "merge-queue", "--once", "--no-dry-run",
			"--repository", q.clone, "--state", q.state)
		cmd.Env = append(slices.Clone(q.env), "PRCHECK_GITLAB_TOKEN="+queueToken)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		end := time.AfterFunc(time.Duration(r.IntN(900))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		if err := cmd.Wait(); err != nil && !end.Stop() {
			killed++
			removeLeases(t, q.state) // they end by themselves after a while
		} else if err != nil {
			t.Fatal(err)
		}
		history := q.repository.Git(t, "log", "--format=%s", "main")
		if !strings.HasSuffix(history, last) {
			t.Fatalf("the branch has lost %q, and has %q", last, history)
		}
		last = history
	}
	for range 3 {
		q.loop("--no-dry-run")
	}
	subjects := strings.Fields(q.repository.Git(t, "log", "--format=%s", "main"))
	for _, name := range rooms {
		if n := strings.Count(" "+strings.Join(subjects, " ")+" ", " "+name+" "); n != 1 {
			t.Errorf("%s was merged %d times", name, n)
		}
	}
	if len(subjects) != len(rooms)+1 {
		t.Errorf("the branch has %q", subjects)
	}
	t.Logf("%d kills, %d merge requests", killed, len(rooms))
	for _, wrong := range q.server.Wrong() {
		t.Error(wrong)
	}
}
