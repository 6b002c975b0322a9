package decide

import (
	"strings"
	"testing"
	"time"
)

// cellOf returns a cell with one target and a memory in which a value is applied.
func cellOf(applied, desired string, signals ...Signal) scene {
	s := scene{policy: testPolicy(),
		memory: Memory{Targets: map[string]Applied{"t": {Key: "t", Values: Values{Config: applied},
			Config: config(applied).Content}}}}
	s.cell.Targets = []WatchedTarget{{UID: "t", Key: "t", Label: "t",
		Signals: append([]Signal{config(desired)}, signals...)}}
	return s
}

// after lets the run under way end.
func (s *scene) after(d Decision, p RunPhase) Decision {
	s.memory = d.Memory
	s.cell.Runs.List = []Run{{Name: d.Memory.Intent.Run, Intent: d.Memory.Intent.ID, Phase: p, Why: "no room"}}
	return s.decide()
}

func TestFailedStaysFailed(t *testing.T) {
	s := cellOf("a", "b")
	failed := s.after(s.decide(), Errored)
	if failed.State != Failed || !strings.Contains(failed.Hold, "no room") ||
		!strings.Contains(failed.Hold, "retry: "+failed.Fingerprint) {
		t.Fatalf("%s %q, want a failure that says what to do", failed.State, failed.Hold)
	}
	s.memory = failed.Memory
	if d := s.decide(); d.State != Failed || d.Memory.Failed.Runs != 1 {
		t.Errorf("then %s", d.State)
	}
	t.Run("something changes", func(t *testing.T) {
		s := s
		s.cell.Targets = cellOf("a", "c").cell.Targets
		if d := s.decide(); d.State != Start {
			t.Errorf("%s %q, want a run", d.State, d.Hold)
		}
	})
	t.Run("the data go back to what was applied", func(t *testing.T) {
		s := s
		s.cell.Targets = cellOf("a", "a").cell.Targets
		d := s.decide()
		if d.State != Start {
			t.Fatalf("%s %q, want a run: nobody knows what the failed one deployed", d.State, d.Hold)
		}
		if d = s.after(d, Succeeded); d.State != Same || d.Memory.Failed != nil {
			t.Errorf("then %s", d.State)
		}
	})
	t.Run("a person asks for it, once", func(t *testing.T) {
		s := s
		s.policy.Again = []string{failed.Fingerprint}
		d := s.decide()
		if d.State != Start || !d.Memory.Intent.AskedFor {
			t.Fatalf("%s %q, want a run", d.State, d.Hold)
		}
		if d = s.after(d, Errored); d.State != Failed {
			t.Fatalf("after it failed again %s, want the word to count once", d.State)
		}
		s.memory, s.policy.Again = d.Memory, nil
		s.memory = s.decide().Memory
		s.policy.Again = []string{failed.Fingerprint}
		if d = s.decide(); d.State != Start {
			t.Errorf("when the person asks again %s %q", d.State, d.Hold)
		}
	})
}

func TestBackoff(t *testing.T) {
	s := cellOf("a", "b")
	s.policy.Max, s.policy.Backoff = 3, 10*time.Minute
	d := s.after(s.decide(), Errored)
	for i, wait := range []time.Duration{10 * time.Minute, 20 * time.Minute} {
		if d.State != Failed || !d.Opens.Equal(d.Memory.Failed.Since.Add(wait)) {
			t.Fatalf("after failure %d: %s, opens %v, want after %v", i+1, d.State, d.Opens, wait)
		}
		s.memory.Failed = d.Memory.Failed
		s.memory = d.Memory
		f := *d.Memory.Failed
		f.Since = noon.Add(-wait)
		s.memory.Failed = &f
		d = s.decide()
		if d.State != Start {
			t.Fatalf("after the pause %s %q", d.State, d.Hold)
		}
		d = s.after(d, Errored)
	}
	if d.State != Failed || !d.Opens.IsZero() {
		t.Errorf("after three failures %s, opens %v", d.State, d.Opens)
	}
	if got := (Policy{Backoff: time.Hour}).pause(1000); got != maxPause {
		t.Errorf("the longest pause is %v", got)
	}
}

func TestSourcesThatComeAndGo(t *testing.T) {
	commit := func(v string) Signal { return Signal{Kind: Commit, Value: v} }
	s := cellOf("a", "a", commit("new"))
	s.memory.Targets["t"].Values[Commit] = "old"
	failed := s.after(s.decide(), Errored)
	s.memory, s.cell.Runs.List = failed.Memory, nil
	s.cell.Targets = cellOf("a", "a", Signal{Kind: Commit, Unknown: "no answer"}).cell.Targets
	if d := s.decide(); d.State == Start || len(d.Errors) == 0 {
		t.Errorf("without an answer %s, want no run and an error", d.State)
	}
	s.cell.Targets = cellOf("a", "a", commit("new")).cell.Targets
	if d := s.decide(); d.State != Failed {
		t.Errorf("with the same answer again %s, want it to stay failed", d.State)
	}
}

func TestLostRuns(t *testing.T) {
	s := cellOf("a", "b")
	d := s.decide()
	it := *d.Memory.Intent
	it.Phase = Running
	for phase, want := range map[RunPhase]State{"": Start, Succeeded: Same, Errored: Failed} {
		s.memory = d.Memory.clone()
		s.memory.Intent = &it
		s.cell.Runs = Runs{}
		if phase != "" {
			s.cell.Runs.Gone = &phase
		}
		if got := s.decide(); got.State != want {
			t.Errorf("gone, and the records say %q: %s %q, want %s", phase, got.State, got.Hold, want)
		}
	}
	s.cell.Runs = Runs{Unknown: "no answer"}
	if got := s.decide(); got.State != Busy || got.Memory.Intent == nil || len(got.Errors) == 0 {
		t.Errorf("when runs cannot be listed: %+v, want the run to stay under way", got)
	}
}

func TestRunsOfOthers(t *testing.T) {
	s := cellOf("a", "b")
	s.cell.Runs.List = []Run{{Name: "by-hand", Phase: Live}}
	if d := s.decide(); d.State != Held || !strings.Contains(d.Hold, "by-hand") {
		t.Errorf("%s %q, want it to wait for the other run", d.State, d.Hold)
	}
}

func TestPromotionReason(t *testing.T) {
	content := func(ref, more string) []byte {
		return []byte(`{"ref":"` + ref + `","promotion":{"auto":true},"url":"u","name":null` + more + `}`)
	}
	for name, c := range map[string]struct {
		now  []byte
		auto bool
		want Kind
	}{
		"ref alone":         {content("2", ""), true, Promotion},
		"ref and more":      {content("2", `,"path":"p"`), true, Config},
		"no auto promotion": {content("2", ""), false, Config},
	} {
		t.Run(name, func(t *testing.T) {
			s := cellOf("1", "2")
			was := s.memory.Targets["t"]
			was.Config = content("1", "")
			s.memory.Targets["t"] = was
			s.cell.Targets[0].Signals = []Signal{{Kind: Config, Value: "2", Content: c.now, Auto: c.auto}}
			if d := s.decide(); d.State != Start || d.Reasons[0].Kind != c.want {
				t.Errorf("%s %v, want %s", d.State, d.Reasons, c.want)
			}
		})
	}
}

// The next run is told while one is under way, and starts when it ends.
func TestNewestNext(t *testing.T) {
	s := cellOf("a", "b")
	d := s.decide()
	s.memory = d.Memory
	s.cell.Runs.List = []Run{{Name: d.Memory.Intent.Run, Intent: d.Memory.Intent.ID, Phase: Live}}
	for _, value := range []string{"c", "d"} {
		s.cell.Targets[0].Signals = []Signal{config(value)}
		d = s.decide()
		if want := holding(value).Fingerprint(); d.State != Busy || d.Memory.Next != want || d.Create {
			t.Errorf("%s: %s, next %s, want %s", value, d.State, d.Memory.Next, want)
		}
		s.memory = d.Memory
	}
	d = s.after(d, Succeeded)
	if d.State != Start || d.Memory.Intent.Holds["t"][Config] != "d" || d.Memory.Targets["t"].Values[Config] != "b" ||
		d.Memory.Next != "" {
		t.Errorf("then %s %+v", d.State, d.Memory)
	}
}

func TestBranchesThatAreNotThere(t *testing.T) {
	for _, s := range []Signal{CommitSource{URL: "u", Branch: "main"}.Signal(),
		ImageSource{URL: "u", Branch: "main"}.Signal()} {
		if !strings.Contains(s.Unknown, `u has no branch "main"`) || s.Value != "" {
			t.Errorf("%+v, want an error", s)
		}
	}
	if s := (UpstreamSource{Job: "j", Server: "s", NotThere: true}).Signal(); !strings.Contains(s.Wait, "not there") {
		t.Errorf("%+v, want a wait", s)
	}
}

// A target that moves to another environment is not what was applied there.
func TestKeysCount(t *testing.T) {
	s := cellOf("a", "a")
	s.cell.Targets[0].Key = "elsewhere"
	if d := s.decide(); d.State != Start {
		t.Errorf("%s, want a run", d.State)
	}
}

// What a failed run held stays in doubt while other runs fail after it.
func TestDoubtStays(t *testing.T) {
	commit := func(s Signal) WatchedTarget {
		return WatchedTarget{UID: "t", Key: "t", Label: "t", Signals: []Signal{config("a"), s}}
	}
	other := func(v string) WatchedTarget {
		return WatchedTarget{UID: "o", Key: "o", Label: "o", Signals: []Signal{config(v)}}
	}
	s := cellOf("a", "a")
	s.memory.Targets["t"].Values[Commit] = "old"
	s.memory.Targets["o"] = Applied{Key: "o", Values: Values{Config: "a"}, Config: config("a").Content}
	s.cell.Targets = []WatchedTarget{commit(Signal{Kind: Commit, Value: "new"}), other("a")}
	d := s.after(s.decide(), Errored)
	s.memory, s.cell.Runs = d.Memory, Runs{}
	s.cell.Targets = []WatchedTarget{commit(Signal{Kind: Commit, Unknown: "no answer"}), other("b")}
	d = s.after(s.decide(), Errored)
	s.memory, s.cell.Runs = d.Memory, Runs{}
	s.cell.Targets = []WatchedTarget{commit(Signal{Kind: Commit, Value: "old"})} // the other target is disabled
	if d = s.decide(); d.State != Start {
		t.Fatalf("%s %q, want a run: the first one may have deployed the new commit", d.State, d.Hold)
	}
	if d = s.after(d, Succeeded); d.State != Same || d.Memory.Targets["t"].Values[Commit] != "old" ||
		d.Memory.Targets["o"].Values[Config] != Unseen {
		t.Errorf("then %s, %v, want nothing known of the other target", d.State, d.Memory.Targets)
	}
}
