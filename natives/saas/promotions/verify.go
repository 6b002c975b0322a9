package promotions

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/ledger"
)

// verify asks the verifications that are under way.
func (w *work) verify(ctx context.Context) error {
	if w.asker.books == nil || len(w.settings.Verify) == 0 {
		return nil
	}
	var errs []error
	for _, t := range w.model.Targets() {
		of, ok := w.settings.VerificationOf(t)
		if !ok {
			continue
		}
		b, err := w.asker.books.Of(ctx, t.UID(), t.Label())
		if err != nil {
			errs = append(errs, err)
			continue
		}
		run, is := b.Checking()
		if !is {
			continue
		}
		ask := w.asker.reading
		if of.Job != nil {
			ask = func(ctx context.Context, t *saas.Target, of saas.Verification) (ledger.Reading, error) {
				return w.jobReading(ctx, t, of, run)
			}
		}
		says, why := ask(ctx, t, of)
		if why != nil {
			w.say(fmt.Sprintf("the verification of %s is not known: %v", t.Label(), why))
		}
		errs = append(errs, w.enterTarget(ctx, t, func(b *ledger.Book) *ledger.Book { return b.Measured(says, w.now) }))
	}
	return errors.Join(errs...)
}

// reading asks what a verification measures.
func (a *asker) reading(ctx context.Context, t *saas.Target, of saas.Verification) (ledger.Reading, error) {
	url := t.Namespace.Cluster.PrometheusURL
	at := saas.SLONamespace{Cluster: t.Namespace.Cluster.Name, Namespace: t.Namespace.Name, URL: url}
	for _, doc := range t.SLOs {
		for _, ns := range doc.Namespaces {
			if ns.Cluster == at.Cluster && ns.Namespace == at.Namespace {
				at = ns
			}
		}
	}
	value, err := a.measure(ctx, at, saas.SLO{Expression: of.Measure})
	switch {
	case err != nil:
		return ledger.Unknown, err
	case value < of.Least:
		return ledger.Broken, nil
	}
	return ledger.Holds, nil
}

// jobsResource is the type of Jobs.
var jobsResource = integration.Resource{Group: "batch", Version: "v1", Plural: "jobs"}

// verifiesLabel is the label of a Job with the run that it verifies.
const verifiesLabel = "prcheck.saas/verifies"

// jobReading asks the Job that verifies a run, and creates it if there is none. It ends well if the Job does, and badly
// if the Job fails or takes longer than it may; until then nobody knows.
func (w *work) jobReading(ctx context.Context, t *saas.Target, of saas.Verification,
	run ledger.Run) (ledger.Reading, error) {
	if w.act == nil || w.act.Cluster == nil || t.Namespace.Cluster == nil || t.Namespace.Cluster.Problem != "" {
		return ledger.Unknown, errors.New("its cluster cannot be reached")
	}
	cluster, err := w.act.Cluster(ctx, t.Namespace.Cluster.Ref)
	if err != nil {
		return ledger.Unknown, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", t.UID(), run.Commit, run.At.UnixMicro()))
	id := hex.EncodeToString(sum[:])[:20]
	ref := integration.ObjectRef{Resource: jobsResource, Namespace: t.Namespace.Name, Name: "saas-verify-" + id}
	all, err := readDocument[madeJob](ctx, w.act.State, jobsKey)
	if err != nil {
		return ledger.Unknown, err
	}
	raw, err := cluster.Get(ctx, ref)
	if errors.Is(err, integration.ErrNotThere) {
		return ledger.Unknown, w.makeJob(ctx, cluster, ref, id, all[id], verificationJob(ref, id, t, of, run.Commit))
	}
	if err != nil {
		return ledger.Unknown, err
	}
	says, err := resultOf(raw, id)
	if err != nil {
		return ledger.Unknown, err
	}
	if err := w.knowJob(ctx, ref, raw, id, all[id]); err != nil {
		return ledger.Unknown, err
	}
	return says, nil
}

// A madeJob is what is remembered of a Job that a loop made. Anybody in the namespace can make one of its name and
// label, so its word counts only if it is that one.
type madeJob struct {
	At   time.Time `json:"at"`
	Mark string    `json:"mark"`          // it has this one; nobody knows it before it is made
	UID  string    `json:"uid,omitempty"` // "" if the loop ended before it knew
}

// jobsKey is where Jobs are remembered, by the label that they have; markOfJob is the annotation with the mark of one.
const (
	jobsKey   = "jobs"
	markOfJob = "prcheck.saas/mark"
)

// makeJob makes a Job. Its mark is remembered first, so that a loop that is cut off knows its Job again.
func (w *work) makeJob(ctx context.Context, cluster integration.ClusterWriter, ref integration.ObjectRef, id string,
	was madeJob, job map[string]any) error {
	mine := madeJob{At: w.now.UTC(), Mark: rand.Text()}
	isMine := false
	err := updateDocument(ctx, w.act.State, jobsKey, func(all map[string]madeJob) {
		maps.DeleteFunc(all, func(_ string, of madeJob) bool { return w.now.Sub(of.At) > 2*keepJob*time.Second })
		if isMine = all[id].Mark == was.Mark; isMine {
			all[id] = mine
		}
	})
	if err != nil || !isMine { // else another loop makes it
		return err
	}
	job["metadata"].(map[string]any)["annotations"] = map[string]any{markOfJob: mine.Mark}
	raw, err := json.Marshal(job)
	if err == nil {
		raw, err = cluster.Create(ctx, ref, raw)
	}
	if errors.Is(err, integration.ErrChanged) {
		return nil // the next loop looks at it
	}
	if err != nil {
		return err
	}
	return w.knowJob(ctx, ref, raw, id, mine)
}

// knowJob returns an error if a Job is none that a loop made. The first time that one is seen its uid is remembered.
func (w *work) knowJob(ctx context.Context, ref integration.ObjectRef, raw []byte, id string, was madeJob) error {
	var is struct {
		Metadata struct {
			UID         string            `json:"uid"`
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		return errors.New("its Job cannot be read")
	}
	uid, mark := is.Metadata.UID, is.Metadata.Annotations[markOfJob]
	if uid == "" || was.Mark == "" || mark != was.Mark || was.UID != "" && was.UID != uid {
		return fmt.Errorf("the Job %s in %s is none that was made here, so it says nothing: remove it, and it is made anew",
			ref.Name, ref.Namespace)
	}
	if was.UID == uid {
		return nil
	}
	return updateDocument(ctx, w.act.State, jobsKey, func(all map[string]madeJob) {
		if of := all[id]; of.Mark == was.Mark {
			of.UID = uid
			all[id] = of
		}
	})
}

// resultOf returns how a Job ended. A Job of somebody else says nothing.
func resultOf(raw []byte, id string) (ledger.Reading, error) {
	var is struct {
		Metadata struct {
			Labels map[string]string `json:"labels"`
		} `json:"metadata"`
		Status struct {
			Conditions []struct{ Type, Status string } `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &is); err != nil {
		return ledger.Unknown, errors.New("its Job cannot be read")
	}
	if is.Metadata.Labels[verifiesLabel] != id {
		return ledger.Unknown, fmt.Errorf("the Job of its name has no label %s=%s, so it is of somebody else: remove it",
			verifiesLabel, id)
	}
	for _, c := range is.Status.Conditions {
		switch {
		case c.Status != "True":
		case c.Type == "Complete":
			return ledger.Holds, nil
		case c.Type == "Failed":
			return ledger.Broken, nil
		}
	}
	return ledger.Unknown, nil
}

// keepJob is for how many seconds a Job is kept after its end. A loop must see its result.
const keepJob = 7 * 24 * 3600

// verificationJob returns the Job that verifies a run of a target. What it runs stands in the settings of base.
func verificationJob(ref integration.ObjectRef, id string, t *saas.Target, of saas.Verification,
	commit string) map[string]any {
	labels := map[string]any{verifiesLabel: id}
	env := []any{}
	for _, v := range [][2]string{{"COMMIT", commit}, {"TARGET", t.Label()}, {"NAMESPACE", t.Namespace.Name}} {
		env = append(env, map[string]any{"name": v[0], "value": v[1]})
	}
	container := map[string]any{"name": "verify", "image": of.Job.Image, "env": env}
	if len(of.Job.Args) > 0 {
		container["args"] = of.Job.Args
	}
	pod := map[string]any{"restartPolicy": "Never", "containers": []any{container}}
	if of.Job.ServiceAccount != "" {
		pod["serviceAccountName"] = of.Job.ServiceAccount
	}
	return map[string]any{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace, "labels": labels},
		"spec": map[string]any{"backoffLimit": 0, "activeDeadlineSeconds": int64(of.For.Seconds()),
			"ttlSecondsAfterFinished": keepJob,
			"template":                map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}}}
}
