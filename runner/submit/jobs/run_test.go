package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	failure "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A fake is a cluster with room for one Job. It can refuse every request.
type fake struct {
	job     *Manifest
	listed  []pod
	refuses error
	looks   []any // the answers of get, in this order; the last one is repeated
}

func (f *fake) create(_ context.Context, job *Manifest, _ bool) error {
	switch {
	case f.refuses != nil:
		return f.refuses
	case f.job != nil:
		return failure.NewAlreadyExists(jobs, job.Name)
	}
	f.job = job
	return nil
}

func (f *fake) get(_ context.Context, _, name string) (*Manifest, error) {
	if len(f.looks) == 0 {
		if f.job == nil {
			return nil, failure.NewNotFound(jobs, name)
		}
		return f.job, nil
	}
	now := f.looks[0]
	if len(f.looks) > 1 {
		f.looks = f.looks[1:]
	}
	if err, is := now.(error); is {
		return nil, err
	}
	return &Manifest{Status: now.(JobStatus)}, nil
}

func (f *fake) remove(_ context.Context, _, name string) error {
	if f.job == nil {
		return failure.NewNotFound(jobs, name)
	}
	f.job = nil
	return nil
}

func (f *fake) listPods(context.Context, string, string) ([]pod, error) { return f.listed, nil }

var jobs = schema.GroupResource{Group: "batch", Resource: "jobs"}

func manifest(t *testing.T, j Job) *Manifest {
	t.Helper()
	job, err := j.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// A Job that the cluster has already is started again only if it is the same Job.
func TestStartTwice(t *testing.T) {
	c := Cluster{api: &fake{}}
	job := manifest(t, whole())
	for range 2 {
		if err := c.Start(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
	for what, change := range map[string]func(*Job){
		"image":   func(j *Job) { j.Image = "registry.example/runner:2" },
		"parts":   func(j *Job) { j.Parts++ },
		"command": func(j *Job) { j.Command = append(j.Command, "--no-baseline") },
		"access":  func(j *Job) { j.EnvSecrets = []string{"other.access"} },
	} {
		other := whole()
		other.Command = slices.Clone(other.Command)
		change(&other)
		if err := c.Start(t.Context(), manifest(t, other)); err == nil ||
			!strings.Contains(err.Error(), "another Job prcheck-0123456789ab") {
			t.Errorf("another %s: got %v", what, err)
		}
		if _, err := c.Has(t.Context(), manifest(t, other)); err == nil {
			t.Errorf("another %s is taken for this one", what)
		}
	}
}

func TestHas(t *testing.T) {
	c := Cluster{api: &fake{}}
	job := manifest(t, whole())
	for _, want := range []bool{false, true} {
		if got, err := c.Has(t.Context(), job); err != nil || got != want {
			t.Errorf("got %t, %v, want %t", got, err, want)
		}
		if err := c.Start(t.Context(), job); err != nil {
			t.Fatal(err)
		}
	}
}

// What a server says tells what to do: only a role is answered with what the role must allow.
func TestStartRefused(t *testing.T) {
	for said, want := range map[string]string{
		`User "u" cannot create resource "jobs" in API group "batch" in the namespace "n"`:       "the role of the account must allow create, get and delete of jobs",
		"exceeded quota: q, requested: count/jobs.batch=1, used: 1, limited: 1":                  "the quota of the namespace does not suffice",
		`admission webhook "w" denied the request: user "u" cannot create resource "jobs" today`: "a policy of the cluster refuses",
	} {
		err := Cluster{api: &fake{refuses: failure.NewForbidden(jobs, "x", errors.New(said))}}.Start(t.Context(),
			manifest(t, whole()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	_, err := looks(failure.NewForbidden(jobs, "x", errors.New("no"))).Has(t.Context(), manifest(t, whole()))
	if err == nil || !strings.Contains(err.Error(), "the role of the account must allow") {
		t.Errorf("a read: got %v", err)
	}
	page := failure.NewGenericServerResponse(403, "get", jobs, "x", "who are you", 0, true)
	if _, err := looks(page).Has(t.Context(), manifest(t, whole())); err == nil ||
		!strings.Contains(err.Error(), "something in front of the API server") {
		t.Errorf("a page of a proxy: got %v", err)
	}
}

// looks returns a cluster that answers with these statuses or errors in this order,
// and repeats the last one.
func looks(statuses ...any) Cluster { return Cluster{api: &fake{looks: statuses}} }

func ended(kind, reason string) []Condition {
	return []Condition{{Type: kind, Status: "True", Reason: reason, Message: "said so"}}
}

func TestWait(t *testing.T) {
	gone := errors.New("connection refused")
	for name, c := range map[string]struct {
		cluster Cluster
		want    []Status
		failure string
	}{
		"passes": {looks(JobStatus{}, JobStatus{Active: 2, Ready: 2}, JobStatus{Active: 2, Ready: 2},
			JobStatus{Succeeded: 2, Conditions: ended("Complete", "")}),
			[]Status{{}, {Running: 2}, {Passed: 2, Ended: true}}, ""},
		"fails": {looks(JobStatus{Succeeded: 3, FailedIndexes: "0,3-5,7", Conditions: ended("Failed", "FailedIndexes")}),
			[]Status{{Passed: 3, Failed: 5, Ended: true, Reason: "FailedIndexes: said so"}}, ""},
		"is about to fail": {looks(JobStatus{Conditions: ended("FailureTarget", "x")},
			JobStatus{Conditions: ended("Failed", "x")}),
			[]Status{{}, {Ended: true, Reason: "x: said so"}}, ""},
		"comes back": {looks(JobStatus{}, gone, gone, JobStatus{Conditions: ended("Complete", "")}),
			[]Status{{}, {Ended: true}}, ""},
		"stays away":  {looks(JobStatus{}, gone), []Status{{}}, "connection refused"},
		"was removed": {looks(failure.NewNotFound(schema.GroupResource{}, "x")), nil, "removed?"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []Status
				last, err := c.cluster.Wait(t.Context(), manifest(t, whole()), func(s Status) { got = append(got, s) })
				if !slices.Equal(got, c.want) {
					t.Errorf("saw %+v, want %+v", got, c.want)
				}
				if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
					t.Errorf("got %v, want an error with %q", err, c.failure)
				}
				if err == nil && (!last.Ended || last != c.want[len(c.want)-1]) {
					t.Errorf("ended with %+v", last)
				}
			})
		})
	}
}

// podWaits is the status of a pod whose container waits.
func podWaits(reason, message string) podStatus {
	var c containerStatus
	c.State.Waiting = &waiting{Reason: reason, Message: message}
	return podStatus{ContainerStatuses: []containerStatus{c}}
}

// The status has the reason why a pod does not start.
func TestWaitSaysWhatIsStuck(t *testing.T) {
	for name, c := range map[string]struct {
		status podStatus
		want   string
	}{
		"image": {podWaits("ImagePullBackOff", "no such image"), "pod p: ImagePullBackOff: no such image"},
		"no room": {podStatus{Conditions: []Condition{{Type: "PodScheduled", Status: "False",
			Reason: "Unschedulable", Message: "0/3 nodes"}}}, "pod p: Unschedulable: 0/3 nodes"},
		"starting": {podWaits("ContainerCreating", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := looks(JobStatus{Active: 1}, JobStatus{Conditions: ended("Complete", "")})
				job := manifest(t, whole())
				cluster.api.(*fake).listed = []pod{{Metadata: Metadata{Name: "p"}, Status: c.status}}
				var first *Status
				_, err := cluster.Wait(t.Context(), job, func(s Status) {
					if first == nil {
						first = &s
					}
				})
				if err != nil || first.Stuck != c.want {
					t.Errorf("got %+v, %v, want %q", first, err, c.want)
				}
			})
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := looks(JobStatus{}).Wait(ctx, manifest(t, whole()), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestCancel(t *testing.T) {
	c := Cluster{api: &fake{}}
	job := manifest(t, whole())
	if err := c.Start(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it is gone
		if err := c.Cancel(t.Context(), job); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Wait(t.Context(), job, nil); err == nil {
		t.Error("the canceled Job is still there")
	}
	other := whole()
	other.Image = "registry.example/runner:2"
	if err := c.Start(t.Context(), manifest(t, other)); err != nil {
		t.Fatal(err)
	}
	if err := c.Cancel(t.Context(), job); err == nil || c.api.(*fake).job == nil {
		t.Errorf("the Job of somebody else is gone (%v)", err)
	}
}

func TestConnect(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	if _, _, err := Connect(env(map[string]string{"KUBECONFIG": "/nowhere/config"})); err == nil ||
		!strings.Contains(err.Error(), "KUBECONFIG") {
		t.Errorf("a file that is not there: got %v", err)
	}
}
