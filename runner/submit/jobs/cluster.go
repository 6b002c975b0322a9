package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	failure "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/app-sre/prcheck/internal/refusal"
)

// A Cluster is a Kubernetes cluster that runs Jobs.
type Cluster struct {
	api   api
	Every time.Duration // the longest pause between two requests for the status of a Job; 0 means two seconds
	Lost  time.Duration // how long the cluster may be out of reach; 0 means two minutes
}

// Start creates a Job. It is no error if the cluster has the same Job already, for
// example because an earlier submit was killed. It is an error if another Job has
// the name.
func (c Cluster) Start(ctx context.Context, job *Manifest) error {
	err := c.api.create(ctx, job, false)
	if !failure.IsAlreadyExists(err) {
		return explain("creating", job, err)
	}
	there, err := c.Has(ctx, job)
	if err == nil && !there {
		err = fmt.Errorf("the Job %s/%s was there and is being removed: try again", job.Namespace, job.Name)
	}
	return err
}

// Has reports whether the cluster has the Job. It is an error if another Job has
// the name.
func (c Cluster) Has(ctx context.Context, job *Manifest) (bool, error) {
	found, err := c.api.get(ctx, job.Namespace, job.Name)
	switch {
	case failure.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, explain(doingRead, job, err)
	case !isSameJob(job, found):
		return false, fmt.Errorf("the namespace %s has another Job %s: delete it, or give this one another name",
			job.Namespace, job.Name)
	}
	return true, nil
}

// isSameJob reports whether a Job of the cluster is the wanted one. The cluster
// fills in fields of a spec, but leaves those that say what runs.
func isSameJob(want, is *Manifest) bool {
	a, b := want.Spec.Template.Spec.Containers[0], is.Spec.Template.Spec.Containers
	return len(b) == 1 && a.Image == b[0].Image && want.Spec.Completions == is.Spec.Completions &&
		slices.Equal(a.Command, b[0].Command) && slices.Equal(a.Args, b[0].Args) &&
		slices.EqualFunc(a.Env, b[0].Env, isEqual) && slices.EqualFunc(a.EnvFrom, b[0].EnvFrom, isEqual)
}

func isEqual[T any](a, b T) bool { return reflect.DeepEqual(a, b) }

// A Status is the progress of a Job.
type Status struct {
	Running, Passed, Failed int    // numbers of parts
	Ended                   bool   // no pod of the Job will run any more
	Reason                  string // why the Job failed, in the words of the cluster
	Stuck                   string // why a pod does not start; "" if all pods start
}

// Wait returns the last status of a Job when the Job has ended. It calls observe
// with the first status and with each one that differs from the one before.
func (c Cluster) Wait(ctx context.Context, job *Manifest, observe func(Status)) (Status, error) {
	every, lost := c.Every, c.Lost
	if every <= 0 {
		every = 2 * time.Second
	}
	if lost <= 0 {
		lost = 2 * time.Minute
	}
	var last Status
	seen := time.Now()
	pause := every / 16
	for first := true; ; first = false {
		now, err := c.readStatus(ctx, job)
		switch {
		case err == nil:
			seen = time.Now()
			if (first || now != last) && observe != nil {
				observe(now)
			}
			if last = now; now.Ended {
				return now, nil
			}
		case ctx.Err() != nil:
			return last, ctx.Err()
		case failure.IsNotFound(err) || failure.IsUnauthorized(err) || failure.IsForbidden(err) || time.Since(seen) > lost:
			return last, explain(doingWait, job, err)
		}
		pause = min(2*pause, every)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return last, ctx.Err()
		case <-timer.C:
		}
	}
}

// readStatus asks the cluster for the status of a Job once.
func (c Cluster) readStatus(ctx context.Context, job *Manifest) (Status, error) {
	is, err := c.api.get(ctx, job.Namespace, job.Name)
	if err != nil {
		return Status{}, err
	}
	out := Status{Running: is.Status.Active, Passed: is.Status.Succeeded, Failed: countIndexes(is.Status.FailedIndexes)}
	for _, condition := range is.Status.Conditions {
		if condition.Status != "True" {
			continue
		}
		switch condition.Type {
		case "Complete":
			out.Ended = true
		case "Failed":
			out.Ended, out.Reason = true, condition.Reason+": "+condition.Message
		}
	}
	if out.Running > 0 && is.Status.Ready < is.Status.Active {
		out.Stuck = c.whyStuck(ctx, job)
	}
	return out, nil
}

// whyStuck returns the reason why a pod of the Job does not start, or "" if no pod
// has such a reason.
func (c Cluster) whyStuck(ctx context.Context, job *Manifest) string {
	pods, err := c.api.listPods(ctx, job.Namespace, job.Name)
	if err != nil {
		return ""
	}
	for _, pod := range pods {
		for _, s := range pod.Status.ContainerStatuses {
			if w := s.State.Waiting; w != nil && w.Reason != "" && w.Reason != "ContainerCreating" &&
				w.Reason != "PodInitializing" {
				return fmt.Sprintf("pod %s: %s: %s", pod.Name, w.Reason, w.Message)
			}
		}
		for _, s := range pod.Status.Conditions {
			if s.Type == "PodScheduled" && s.Status == "False" {
				return fmt.Sprintf("pod %s: %s: %s", pod.Name, s.Reason, s.Message)
			}
		}
	}
	return ""
}

// Cancel removes a Job and all its pods. It is no error if the Job is gone. Another
// Job with the name stays.
func (c Cluster) Cancel(ctx context.Context, job *Manifest) error {
	there, err := c.Has(ctx, job)
	if err != nil || !there {
		return err
	}
	err = c.api.remove(ctx, job.Namespace, job.Name)
	if failure.IsNotFound(err) {
		return nil
	}
	return explain("canceling", job, err)
}

// What is only looked at, in the words of messages.
const (
	doingRead = "reading"
	doingWait = "waiting for"
)

// explain adds to an error what was being done, and what to do about it. It
// returns nil if there is no error.
func explain(doing string, job *Manifest, err error) error {
	var status failure.APIStatus
	switch {
	case err == nil:
		return nil
	case failure.IsForbidden(err):
		return fmt.Errorf("%s the Job %s/%s: %w; %s", doing, job.Namespace, job.Name, err,
			forbids(doing, err).Remedy("create, get and delete of jobs, and list of pods"))
	case errors.As(err, &status) && status.Status().Code == http.StatusNotFound:
		return fmt.Errorf("%s the Job %s/%s: %w; was it, or its namespace, removed?", doing, job.Namespace, job.Name, err)
	}
	return fmt.Errorf("%s the Job %s/%s: %w", doing, job.Namespace, job.Name, err)
}

// forbids returns why a server forbids what is done about a Job.
func forbids(doing string, err error) refusal.Refusal {
	var told failure.APIStatus
	if !errors.As(err, &told) || failure.HasStatusCause(err, meta.CauseTypeUnexpectedServerResponse) {
		return refusal.Foreign
	}
	is := told.Status()
	s := refusal.Denial{Message: is.Message, Reads: doing == doingRead || doing == doingWait}
	if is.Details != nil {
		for _, c := range is.Details.Causes {
			s.Causes = append(s.Causes, string(c.Type))
		}
	}
	return refusal.Of(s)
}

// countIndexes returns the number of indexes in a list of a Job's status, such as
// 5 for "1,3-5,7".
func countIndexes(list string) int {
	n := 0
	for entry := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(strings.TrimSpace(entry), "-")
		from, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(high); err != nil || to < from {
				continue
			}
		}
		n += to - from + 1
	}
	return n
}
