package change

import (
	"context"
	"sync"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/planner"
	"github.com/app-sre/prcheck/planner/proof"
	"github.com/app-sre/prcheck/trace"
	"github.com/app-sre/prcheck/world"
)

// A Witness notes what a replay looks at of earlier runs: what they asked, and which files they read.
type Witness struct {
	mu     sync.Mutex
	traces map[string][]*trace.Trace   // by integration
	reads  map[string][]proof.FileRead // by integration
}

// Traces returns the traces of an integration with one of the digests.
func (w *Witness) Traces(integration string, digests []string) (out []*trace.Trace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, digest := range digests {
		for _, t := range w.traces[integration] {
			if t.Digest == digest {
				out = append(out, t)
				break
			}
		}
	}
	return out
}

// Reads returns the names of files that runs of an integration used.
func (w *Witness) Reads(integration string) []proof.FileRead {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reads[integration]
}

// VerifyBefore is [Change.Verify] before a witness.
func (c *Change) VerifyBefore(ctx context.Context, p *plan.Plan, w *Witness) (proof.Report, error) {
	w.traces, w.reads = map[string][]*trace.Trace{}, map[string][]proof.FileRead{}
	in := c.input
	if in.Traces != nil {
		in.Traces = notedTraces{in.Traces, w}
	}
	if in.ProofFiles != nil {
		in.ProofFiles = notedFiles{in.ProofFiles, w}
	}
	report, err := planner.Verify(ctx, in, p)
	return report, c.trouble(ctx, err)
}

// notedTraces are traces of which a witness is told.
type notedTraces struct {
	planner.Traces
	to *Witness
}

// Load returns the traces of a task.
func (n notedTraces) Load(ctx context.Context, of trace.TaskKey) (traces []*trace.Trace, unusable []string) {
	traces, unusable = n.Traces.Load(ctx, of)
	n.to.mu.Lock()
	defer n.to.mu.Unlock()
	n.to.traces[of.Integration] = append(n.to.traces[of.Integration], traces...)
	return traces, unusable
}

// notedFiles are files of which a witness is told.
type notedFiles struct {
	proof.Files
	to *Witness
}

// Reads returns what a run of an integration read.
func (n notedFiles) Reads(integration, id string) ([]proof.FileRead, error) {
	list, err := n.Files.Reads(integration, id)
	n.to.mu.Lock()
	defer n.to.mu.Unlock()
	n.to.reads[integration] = append(n.to.reads[integration], list...)
	return list, err
}

// ChangedFiles returns the files of the repository that differ between both sides, sorted; nil if they are not known.
func (c *Change) ChangedFiles() []string {
	if c.Worlds.Base == nil || c.Worlds.Head == nil {
		return nil
	}
	base, err := c.Worlds.Base()
	if err != nil {
		return nil
	}
	head, err := c.Worlds.Head()
	if err != nil {
		return nil
	}
	return append([]string{}, world.Diff(base, head)...)
}
