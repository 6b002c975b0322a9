package jobs

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	failure "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// cluster is a real API server with its Job controller, and no machines: the
// test plays the one that runs the pods.
func cluster(t *testing.T) (Cluster, string) {
	t.Helper()
	file := os.Getenv("PRCHECK_KUBECONFIG")
	if file == "" {
		t.Skip("PRCHECK_KUBECONFIG names no cluster to try Jobs on")
	}
	c, namespace, err := Connect(func(name string) string { return map[string]string{"KUBECONFIG": file}[name] })
	if err != nil {
		t.Fatal(err)
	}
	c.Every = 100 * time.Millisecond
	return c, namespace
}

// play ends each new pod of a Job with the exit code of its part and try.
func play(ctx context.Context, c Cluster, job *Manifest, exit func(part string, try int) int32) {
	tries, ended := map[string]int{}, map[string]bool{}
	for ctx.Err() == nil {
		pods, err := c.api.listPods(ctx, job.Namespace, job.Name)
		if err != nil {
			continue
		}
		for _, pod := range pods {
			part := pod.Labels["batch.kubernetes.io/job-completion-index"]
			if ended[pod.Name] {
				continue
			}
			ended[pod.Name] = true
			tries[part]++
			end(ctx, c.api.(client).pods, pod.Metadata, exit(part, tries[part]))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// end writes the status of a pod that has ended.
func end(ctx context.Context, pods rest.Interface, pod Metadata, code int32) {
	phase := "Succeeded"
	if code != 0 {
		phase = "Failed"
	}
	patch := fmt.Sprintf(
		`{"status": {"phase": %q, "containerStatuses": [{"name": %q, "image": "x", "imageID": "x", "ready": false,
"restartCount": 0, "state": {"terminated": {"exitCode": %d, "finishedAt": %q}}}]}}`, phase, containerName, code, time.Now().UTC().Format(time.RFC3339))
	_ = pods.Patch(types.MergePatchType).Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("status").
		Body([]byte(patch)).Do(ctx).Error()
}

// A real cluster takes the manifest and understands the exit codes as they are
// meant.
func TestOnCluster(t *testing.T) {
	c, namespace := cluster(t)
	for name, of := range map[string]struct {
		exit           func(part string, try int) int32
		passed, failed int
		reason         bool
	}{
		"all pass":             {func(string, int) int32 { return 0 }, 4, 0, false},
		"a failed check stays": {func(part string, _ int) int32 { return map[string]int32{"2": 1}[part] }, 3, 1, true},
		"trouble is tried again": {func(part string, try int) int32 {
			return map[string]int32{"1-1": 3}[fmt.Sprintf("%s-%d", part, try)]
		}, 4, 0, false},
		"trouble twice is a failure": {func(part string, _ int) int32 { return map[string]int32{"1": 3}[part] }, 3, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := whole()
			j.Name, j.Namespace, j.Parts, j.AtOnce, j.ServiceAccount = fmt.Sprintf("prcheck-%d", time.Now().UnixNano()),
				namespace, 4, 0, ""
			job := manifest(t, j)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := c.api.create(ctx, job, true); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := c.Start(ctx, job); err != nil {
					t.Fatal(err)
				}
			}
			playing, stop := context.WithCancel(ctx)
			done := make(chan struct{})
			go func() { defer close(done); play(playing, c, job, of.exit) }()
			got, err := c.Wait(ctx, job, nil)
			stop()
			<-done
			if err != nil || got.Passed != of.passed || got.Failed != of.failed || (got.Reason != "") != of.reason {
				t.Errorf("got %+v, %v, want %d passed, %d failed", got, err, of.passed, of.failed)
			}
			if err := c.Cancel(ctx, job); err != nil {
				t.Error(err)
			}
			for ctx.Err() == nil {
				if _, err := c.api.get(ctx, namespace, job.Name); failure.IsNotFound(err) {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Error("the canceled Job is still there")
		})
	}
}
