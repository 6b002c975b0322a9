package kubetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// started returns a server with the namespace f.
func started(t *testing.T) *Server {
	t.Helper()
	s := New(t)
	write(t, s, inF, `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "f"}}`)
	return s
}

// write applies an object.
func write(t *testing.T, s *Server, path, body string) {
	t.Helper()
	if code, raw := s.Send(t, "PATCH", path+strict, apply, body); code != 200 && code != 201 {
		t.Fatalf("%d %s", code, raw)
	}
}

func remove(t *testing.T, s *Server, path, dependents string) {
	t.Helper()
	if code, raw := s.Send(t, "DELETE", path, plain, fmt.Sprintf(`{"propagationPolicy": %q}`, dependents)); code != 200 {
		t.Fatalf("%d %s", code, raw)
	}
}

func small(image string) string {
	return `{"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "int", "image": "` + image + `"}]}}`
}

const asRecreate = `"strategy": {"type": "Recreate"},`

// told returns a line about a Deployment or StatefulSet: wanted, there, updated, ready.
func told(s *Server, path string) string {
	o := s.Object(path)
	status := mapOf(o["status"])
	reason := ""
	for _, c := range listOf(status["conditions"]) {
		if mapOf(c)["type"] == "Progressing" {
			reason = " " + textOf(mapOf(c)["reason"])
		}
	}
	seen := status["observedGeneration"] == mapOf(o["metadata"])["generation"]
	return fmt.Sprintf("%t %d %d %d%s", seen, number(status["replicas"]), number(status["updatedReplicas"]),
		number(status["readyReplicas"]), reason)
}

// images returns the images of the pods of an object.
func images(s *Server, path string) string {
	var out []string
	for _, pod := range s.Pods(path) {
		out = append(out, textOf(mapOf(listOf(mapOf(s.Object(pod)["spec"])["containers"])[0])["image"]))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Rollouts replace pods: rolling ones with two at a moment, Recreate with one.
func TestRollouts(t *testing.T) {
	for name, c := range map[string]struct {
		spec       string
		most       int
		afterwards string
	}{
		"rolling":  {"", 2, "true 1 1 1 NewReplicaSetAvailable"},
		"recreate": {asRecreate, 1, "true 1 1 1 NewReplicaSetAvailable"},
		"three":    {`"replicas": 3,`, 4, "true 3 3 3 NewReplicaSetAvailable"},
		"none":     {`"replicas": 0,`, 0, "true 0 0 0 NewReplicaSetAvailable"},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t)
			for _, image := range []string{"i:1", "i:2", "i:3"} {
				write(t, s, webPath, webWith(c.spec, small(image)))
				if got := told(s, webPath); strings.HasPrefix(got, "true") {
					t.Errorf("the controller saw %s before it worked", got)
				}
				s.Settle()
				if got := told(s, webPath); got != c.afterwards {
					t.Errorf("got %s, want %s", got, c.afterwards)
				}
				if got := strings.ReplaceAll(images(s, webPath), image, ""); strings.TrimSpace(got) != "" {
					t.Errorf("old pods run: %s", got)
				}
			}
			if got := s.MostPods(webPath); got != c.most {
				t.Errorf("there were %d pods at once, want %d", got, c.most)
			}
		})
	}
}

// Pods that do not start hold a rollout up.
func TestFates(t *testing.T) {
	for name, c := range map[string]struct {
		fate   Fate
		reason string
	}{"crash": {Crashing, "CrashLoopBackOff"}, "image": {NoImage, "ImagePullBackOff"}, "pending": {Pending, ""}} {
		t.Run(name, func(t *testing.T) {
			s := started(t)
			write(t, s, webPath, webWith("", small("i:1")))
			s.Settle()
			s.Fate = func(pod map[string]any) Fate {
				if mapOf(listOf(mapOf(pod["spec"])["containers"])[0])["image"] == "i:2" {
					return c.fate
				}
				return Ready
			}
			write(t, s, webPath, webWith("", small("i:2")))
			s.Settle()
			if got, want := told(s, webPath)+" "+images(s, webPath), "true 2 1 1 ReplicaSetUpdated i:1 i:2"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			found := false
			for _, pod := range s.Pods(webPath) {
				found = found || strings.Contains(string(encode(s.Object(pod))), `"reason":"`+c.reason+`"`)
			}
			if c.reason != "" && !found {
				t.Errorf("no pod has the reason %s", c.reason)
			}
			s.Overdue = true
			s.Settle()
			if got := told(s, webPath); got != "true 2 1 1 ProgressDeadlineExceeded" {
				t.Errorf("got %s", got)
			}
			write(t, s, webPath, webWith("", small("i:3")))
			s.Settle()
			if got, want := told(s, webPath)+" "+images(s, webPath), "true 1 1 1 NewReplicaSetAvailable i:3"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// With Recreate nothing starts before the old pods are gone.
func TestLingering(t *testing.T) {
	s := started(t)
	write(t, s, webPath, webWith(asRecreate, small("i:1")))
	s.Settle()
	s.Fate = func(map[string]any) Fate { return Lingering }
	write(t, s, webPath, webWith(asRecreate, small("i:2")))
	s.Settle()
	if got := images(s, webPath); got != "i:1" {
		t.Errorf("there are %s", got)
	}
	s.Fate = nil
	s.Settle()
	if got := images(s, webPath); got != "i:2" || s.MostPods(webPath) != 1 {
		t.Errorf("there are %s, and were %d", got, s.MostPods(webPath))
	}
}

// What becomes of the dependents of a deleted Deployment, and of a new one of its name.
func TestPropagation(t *testing.T) {
	for name, c := range map[string]struct {
		dependents  string
		thereAtOnce bool
		left        int // objects afterwards, with the namespace
		most        int // pods, after it was made again with another image
	}{
		"background": {"Background", false, 1, 2}, "foreground": {"Foreground", true, 1, 1}, "orphan": {"Orphan", true, 3, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t)
			write(t, s, webPath, webWith(asRecreate, small("i:1")))
			s.Settle()
			remove(t, s, webPath, c.dependents)
			if got := s.Object(webPath) != nil; got != c.thereAtOnce {
				t.Errorf("it is there: %t", got)
			}
			if c.dependents == "Background" { // made again before the old pod is gone
				write(t, s, webPath, webWith(asRecreate, small("i:2")))
				s.Settle()
			} else {
				s.Settle()
				if got := s.Paths(); len(got) != c.left || s.Object(webPath) != nil {
					t.Errorf("left are %v", got)
				}
				write(t, s, webPath, webWith(asRecreate, small("i:2")))
				s.Settle()
			}
			if got := images(s, webPath); got != "i:2" || s.MostPods(webPath) != c.most {
				t.Errorf("there are %s, and were %d, want %d", got, s.MostPods(webPath), c.most)
			}
		})
	}
}

// The pods of a StatefulSet come and go one after the other, and its claims stay.
func TestStatefulSet(t *testing.T) {
	s := started(t)
	write(t, s, cachePath, cacheWith(`"replicas": 2,`, "1Gi"))
	s.Settle()
	if got := told(s, cachePath); got != "true 2 2 2" {
		t.Errorf("got %s", got)
	}
	write(t, s, cachePath, strings.Replace(cacheWith(`"replicas": 2,`, "1Gi"), "i:1", "i:2", 1))
	s.Settle()
	if got := told(s, cachePath) + " " + images(s, cachePath); got != "true 2 2 2 i:2 i:2" || s.MostPods(cachePath) != 2 {
		t.Errorf("got %s, at most %d", got, s.MostPods(cachePath))
	}
	pods := s.Pods(cachePath)
	remove(t, s, cachePath, "Orphan")
	s.Settle()
	write(t, s, cachePath, strings.Replace(cacheWith(`"replicas": 2, "serviceName": "x",`, "1Gi"), "i:1", "i:2", 1))
	s.Settle()
	if got := s.Pods(cachePath); !slices.Equal(got, pods) || told(s, cachePath) != "true 2 2 2" {
		t.Errorf("the pods were %v and are %v, %s", pods, got, told(s, cachePath))
	}
	write(t, s, cachePath, strings.Replace(cacheWith(`"replicas": 0, "serviceName": "x",`, "1Gi"), "i:1", "i:2", 1))
	s.Settle()
	claims := slices.DeleteFunc(s.Paths(), func(p string) bool {
		return !strings.Contains(p, "/persistentvolumeclaims/cache-cache-")
	})
	if len(s.Pods(cachePath)) != 0 || len(claims) != 2 {
		t.Errorf("left are %v", s.Paths())
	}
}

// Controllers can work while requests come in.
func TestWorking(t *testing.T) {
	s := started(t)
	s.Working = true
	write(t, s, webPath, webWith("", small("i:1")))
	for range 10 {
		if code, _ := s.Send(t, "GET", webPath, "", ""); code != 200 {
			t.Fatal(code)
		}
	}
	if got := told(s, webPath); got != "true 1 1 1 NewReplicaSetAvailable" {
		t.Errorf("got %s", got)
	}
	before := s.Object(webPath)
	s.Settle()
	if !equal(before, s.Object(webPath)) {
		t.Error("a server at rest changes objects")
	}
}
