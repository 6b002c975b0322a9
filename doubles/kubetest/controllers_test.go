package kubetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A cluster is a server with its controllers and machines.
type cluster struct {
	send  func(t testing.TB, method, path, kind, body string) (int, []byte)
	until func(t *testing.T, what string, is func() string, want string) // waits for a state
	most  func(path string) int
	fate  *atomic.Int32 // of pods with the image bad
}

func (c cluster) of(pod map[string]any) Fate {
	if strings.Contains(string(encode(pod["spec"])), `"image":"bad`) {
		return Fate(c.fate.Load())
	}
	return Ready
}

func memory(*testing.T) cluster { return cluster{fate: new(atomic.Int32)} }

func inMemory(t *testing.T) cluster {
	s, c := New(t), memory(t)
	s.Fate = c.of
	c.send, c.most = s.Send, s.MostPods
	c.until = func(t *testing.T, what string, is func() string, want string) {
		t.Helper()
		s.Settle()
		if got := is(); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	return c
}

func onReal(t *testing.T) cluster {
	r, c := Start(t), memory(t)
	r.Control(t)
	c.most = r.RunPods(t, c.of).MostPods
	c.send = func(t testing.TB, method, path, kind, body string) (int, []byte) {
		return r.Send(t, "admin", method, path, kind, body)
	}
	c.until = func(t *testing.T, what string, is func() string, want string) {
		t.Helper()
		got := ""
		for end := time.Now().Add(40 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			if got = is(); got == want {
				return
			}
		}
		t.Errorf("%s: got %s, want %s", what, got, want)
	}
	return c
}

// look returns what a Deployment or StatefulSet says, and the images of all pods.
func (c cluster) look(t *testing.T, path string) func() string {
	return func() string {
		code, raw := c.send(t, http.MethodGet, path, "", "")
		o, err := decode(raw)
		if err != nil || code != http.StatusOK {
			return fmt.Sprint(code, " ", c.images(t))
		}
		status := mapOf(o["status"])
		return fmt.Sprintf("%t %d/%d/%d %s", status["observedGeneration"] == mapOf(o["metadata"])["generation"],
			number(status["replicas"]),
			number(status["updatedReplicas"]), number(status["readyReplicas"]), c.images(t))
	}
}

// images returns the images of all pods.
func (c cluster) images(t *testing.T) string {
	_, raw := c.send(t, http.MethodGet, inF+"/pods", "", "")
	list, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, pod := range listOf(list["items"]) {
		out = append(out, textOf(mapOf(listOf(mapOf(mapOf(pod)["spec"])["containers"])[0])["image"]))
	}
	slices.Sort(out)
	return fmt.Sprint(out)
}

// A move is something that a client does, and the state that it leads to.
type move struct {
	name               string
	method, path, body string // a PATCH applies
	want               string
	most               int // pods at once until now
}

func moves() []move {
	web := func(spec, image string) string { return webWith(spec, small(image)) }
	cache := func(spec, image string) string {
		return strings.Replace(cacheWith(spec, "1Gi"), `"image": "i:1"`, `"image": "`+image+`"`, 1)
	}
	gone := func(propagation string) string { return `{"propagationPolicy": "` + propagation + `"}` }
	return []move{
		{"rolling", "PATCH", webPath, web("", "i:1"), "true 1/1/1 [i:1]", 1},
		{"rolled", "PATCH", webPath, web("", "i:2"), "true 1/1/1 [i:2]", 2},
		{"rolled to a bad one", "PATCH", webPath, web("", "bad:1"), "true 2/1/1 [bad:1 i:2]", 2},
		{"rolled back", "PATCH", webPath, web("", "i:2"), "true 1/1/1 [i:2]", 2},
		{"removed in the foreground", "DELETE", webPath, gone("Foreground"), "404 []", 2},
		{"recreating", "PATCH", webPath + "2", web2(asRecreate, "i:1"), "true 1/1/1 [i:1]", 1},
		{"recreated", "PATCH", webPath + "2", web2(asRecreate, "i:2"), "true 1/1/1 [i:2]", 1},
		{"recreated badly", "PATCH", webPath + "2", web2(asRecreate, "bad:1"), "true 1/1/0 [bad:1]", 1},
		{"recreated well", "PATCH", webPath + "2", web2(asRecreate, "i:1"), "true 1/1/1 [i:1]", 1},
		{"scaled to none", "PATCH", webPath + "2", web2(asRecreate+`"replicas": 0,`, "i:1"), "true 0/0/0 []", 1},
		{"scaled to one", "PATCH", webPath + "2", web2(asRecreate, "i:1"), "true 1/1/1 [i:1]", 1},
		{"orphaned", "DELETE", webPath + "2", gone("Orphan"), "404 [i:1]", 1},
		{"made again", "PATCH", webPath + "2", web2(asRecreate, "i:2"), "true 1/1/1 [i:2]", 1},
		{"removed", "DELETE", webPath + "2", gone("Background"), "404 []", 1},
		{"a set", "PATCH", cachePath, cache(`"replicas": 2,`, "i:1"), "true 2/2/2 [i:1 i:1]", 2},
		{"a new set", "PATCH", cachePath, cache(`"replicas": 2,`, "i:2"), "true 2/2/2 [i:2 i:2]", 2},
		{"an orphaned set", "DELETE", cachePath, gone("Orphan"), "404 [i:2 i:2]", 2},
		{"adopted", "PATCH", cachePath, cache(`"replicas": 2, "serviceName": "x",`, "i:2"), "true 2/2/2 [i:2 i:2]", 2},
		{"a bad set", "PATCH", cachePath, cache(`"replicas": 2, "serviceName": "x",`, "bad:1"), "true 2/1/1 [bad:1 i:2]", 2},
		{"a better set", "PATCH", cachePath, cache(`"replicas": 2, "serviceName": "x",`, "i:3"), stuckSet, 2},
		{"a set that goes", "DELETE", cachePath, gone("Background"), "404 []", 2},
	}
}

// stuckSet is the state of a StatefulSet whose pod broke: a new template does not repair it.
const stuckSet = "true 2/0/1 [bad:1 i:2]"

// web2 is another Deployment with labels of its own.
func web2(spec, image string) string {
	return strings.NewReplacer(`"name": "web"`, `"name": "web2"`, `"app": "web"`,
		`"app": "web2"`).Replace(webWith(spec, small(image)))
}

// The controllers in memory lead to the states of the real ones.
func TestControllers(t *testing.T) {
	for name, start := range map[string]func(*testing.T) cluster{"in memory": inMemory, "real": onReal} {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			c.fate.Store(int32(Crashing))
			c.send(t, http.MethodPatch, inF+strict, apply,
				`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "f"}}`)
			for _, m := range moves() {
				kind, path := plain, m.path
				if m.method == http.MethodPatch {
					kind, path = apply, path+strict
				}
				if code, raw := c.send(t, m.method, path, kind, m.body); code >= 300 {
					t.Fatalf("%s: %d %s", m.name, code, raw)
				}
				c.until(t, m.name, c.look(t, m.path), m.want)
				if got := c.most(m.path); got != m.most {
					t.Errorf("%s: there were %d pods at once, want %d", m.name, got, m.most)
				}
			}
		})
	}
}
