package manifests_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/shared"
	"github.com/app-sre/prcheck/natives/manifests"
)

// A scene is a Deployment with its ReplicaSets and pods.
type scene struct {
	object     manifests.Object
	sets, pods []json.RawMessage
}

// newScene returns a Deployment of one pod that is ready.
func newScene(t *testing.T) *scene {
	t.Helper()
	s := &scene{object: lived(t, manifest(t, manifests.Deployment))}
	s.object["status"] = parse(t,
		`{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1}`)
	return s
}

func (s *scene) status() map[string]any { return s.object["status"].(map[string]any) }

// unready says that the pod is not ready.
func (s *scene) unready() { s.status()["availableReplicas"] = 0 }

// addPod adds a pod of a ReplicaSet of a revision, with a container in a state.
func (s *scene) addPod(name, revision, phase, state string) {
	s.sets = append(s.sets, json.RawMessage(fmt.Sprintf(`{"metadata": {"name": "a-%s", "uid": "rs%s", "annotations":
		{"deployment.kubernetes.io/revision": "%s"}, "ownerReferences": [{"uid": "u1", "controller": true}]}}`, revision, revision, revision)))
	s.pods = append(s.pods, json.RawMessage(fmt.Sprintf(`{"metadata": {"name": "%s", "uid": "%s", "ownerReferences":
		[{"uid": "rs%s", "controller": true}]}, "status": {"phase": "%s", "containerStatuses": [%s]}}`, name, name, revision, phase, state)))
}

// waiting returns the status of a container that waits.
func waiting(reason string, restarts int) string {
	return fmt.Sprintf(`{"name": "int", "image": "quay.io/x:1", "restartCount": %d, "state": {"waiting": {"reason": "%s", "message": "secret"}}}`, restarts, reason)
}

func TestHealth(t *testing.T) {
	tests := []struct {
		name string
		set  func(s *scene)
		want string // ready, failed or waits, and a part of the reason
	}{
		{"ready", func(*scene) {}, "ready"},
		{"not seen yet", func(s *scene) {
			s.object["metadata"].(map[string]any)["generation"] = 2
		}, "waits: its controller has not seen"},
		{"old failure, not seen yet", func(s *scene) {
			s.object["metadata"].(map[string]any)["generation"] = 2
			s.status()["conditions"] = []any{map[string]any{"type": "Progressing", "status": "False",
				"reason": "ProgressDeadlineExceeded"}}
		}, "waits: its controller has not seen"},
		{"not available", (*scene).unready, "waits: 1 of 1 pods are new and 0 are available"},
		{"an old pod is left", func(s *scene) {
			s.status()["replicas"] = 2
		}, "waits: 1 of 1 pods are new and 1 are available; 2 are there"},
		{"no pods can be made", func(s *scene) {
			s.unready()
			s.status()["conditions"] = []any{map[string]any{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
				"message": "exceeded quota"}}
		}, "waits: 1 of 1 pods are new and 0 are available; 1 are there; FailedCreate: exceeded quota"},
		{"too late", func(s *scene) {
			s.unready()
			s.status()["conditions"] = []any{map[string]any{"type": "Progressing", "status": "False",
				"reason": "ProgressDeadlineExceeded"}}
		}, "failed: ProgressDeadlineExceeded"},
		{"crashes", func(s *scene) { s.unready(); s.addPod("p", "1", "Running", waiting("CrashLoopBackOff", 5)) },
			"failed: CrashLoopBackOff: container int of pod p crashed 5 times"},
		{"crashed a few times", func(s *scene) { s.unready(); s.addPod("p", "1", "Running", waiting("CrashLoopBackOff", 4)) },
			"waits"},
		{"no image", func(s *scene) { s.unready(); s.addPod("p", "1", "Pending", waiting("ImagePullBackOff", 0)) },
			"failed: ImagePullBackOff: container int of pod p has no image quay.io/x:1"},
		{"an old pod has no image", func(s *scene) {
			s.unready()
			s.addPod("old", "1", "Pending", waiting("ErrImagePull", 0))
			s.addPod("new", "2", "Pending", waiting("ContainerCreating", 0))
		}, "waits"},
		{"switched off, a pod is left", func(s *scene) {
			s.object["spec"].(map[string]any)["replicas"] = 0
			s.object["status"] = map[string]any{"observedGeneration": 1}
			s.addPod("p", "1", "Running", "")
		}, "waits: 1 pods are left"},
		{"switched off, a finished pod is left", func(s *scene) {
			s.object["spec"].(map[string]any)["replicas"] = 0
			s.object["status"] = map[string]any{"observedGeneration": 1}
			s.addPod("p", "1", "Failed", "")
		}, "ready"},
		{"being deleted", func(s *scene) {
			s.object["metadata"].(map[string]any)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		}, "waits: it is being deleted"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newScene(t)
			tt.set(s)
			is := read(t, s.object, options)
			pods, err := manifests.PodsOf(is, s.sets, s.pods)
			if err != nil {
				t.Fatal(err)
			}
			if got := wordOf(manifests.HealthOf(is, pods)); !strings.HasPrefix(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// wordOf returns a health as text.
func wordOf(h manifests.Health) string {
	switch {
	case h.Ready:
		return "ready" + h.Reason
	case h.Failed:
		return "failed: " + h.Reason
	}
	return "waits: " + h.Reason
}

func TestHealthOfOthers(t *testing.T) {
	for _, kind := range []manifests.Kind{manifests.CronJob, manifests.Service} {
		if got := manifests.HealthOf(read(t, lived(t, manifest(t, kind)), options),
			nil); got != (manifests.Health{Ready: true}) {
			t.Errorf("%s: got %+v", kind, got)
		}
	}
	o := lived(t, manifest(t, manifests.StatefulSet))
	o["status"] = parse(t,
		`{"observedGeneration": 1, "replicas": 1, "readyReplicas": 1, "updatedReplicas": 1, "updateRevision": "r2"}`)
	if got := manifests.HealthOf(read(t, o, options), nil); !got.Ready {
		t.Errorf("got %+v, want a StatefulSet that is ready", got)
	}
	o["status"].(map[string]any)["updatedReplicas"] = 0
	pod := `{"metadata": {"name": "a-0", "labels": {"controller-revision-hash": "r1"}, "ownerReferences": [{"uid": "u1", "controller": true}]},
		"status": {"containerStatuses": [` + waiting("ErrImagePull", 0) + `]}}`
	for hash, want := range map[string]string{"r1": "waits", "r2": "failed: ErrImagePull"} {
		pods, err := manifests.PodsOf(read(t, o, options), nil,
			[]json.RawMessage{json.RawMessage(strings.Replace(pod, "r1", hash, 1))})
		if err != nil {
			t.Fatal(err)
		}
		if got := wordOf(manifests.HealthOf(read(t, o, options), pods)); !strings.HasPrefix(got, want) {
			t.Errorf("a pod of %s: got %q, want %q", hash, got, want)
		}
	}
}

// Pods are told by who made them: those of a sibling with the same labels are not counted.
func TestPodsOf(t *testing.T) {
	s := newScene(t)
	s.addPod("b", "1", "Running", "")
	s.addPod("a", "2", "Running", "")
	s.pods = append(s.pods,
		json.RawMessage(`{"metadata": {"name": "sibling", "ownerReferences": [{"uid": "x", "controller": true}]}}`),
		json.RawMessage(`{"metadata": {"name": "orphan"}}`))
	pods, err := manifests.PodsOf(read(t, s.object, options), s.sets, s.pods)
	if err != nil || len(pods) != 2 || pods[0].Name != "a" || !pods[0].Newest || pods[1].Newest {
		t.Errorf("got %+v, %v, want a, the newest, and b", pods, err)
	}
}

// The cases of this area that wait for nothing are about the order of waves and about what is
// rendered.
func TestRollout(t *testing.T) {
	shared.Each(t, "rollout", func(t *testing.T, c struct{ Input, Expected json.RawMessage }) {
		var in struct {
			Replicas   *int `json:"spec.replicas"`
			Status     map[string]any
			Generation any
			Conditions []any
		}
		var expected struct {
			Ready *bool
			Final bool
		}
		if json.Unmarshal(c.Expected, &expected) != nil || expected.Ready == nil {
			t.Skip("not about readiness")
		}
		shared.Words(t, c.Input, &in)
		shared.Words(t, c.Expected, &expected)
		o := lived(t, manifest(t, manifests.Deployment))
		if in.Replicas != nil {
			specOf(o)["replicas"] = *in.Replicas
		}
		if in.Status == nil {
			in.Status = map[string]any{"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1}
		}
		if in.Generation != nil {
			o["metadata"].(map[string]any)["generation"] = in.Generation
		}
		if in.Conditions != nil {
			in.Status["conditions"] = in.Conditions
		}
		o["status"] = in.Status
		got := manifests.HealthOf(read(t, o, options), nil)
		if got.Ready != *expected.Ready || got.Failed != expected.Final {
			t.Errorf("got %+v, want ready %t, final %t", got, *expected.Ready, expected.Final)
		}
	})
}
