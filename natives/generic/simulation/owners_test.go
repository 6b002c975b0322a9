package simulation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
)

var edits = flag.Int("rounds", 8, "how often TestOwners changes the data while colleagues edit")

// owners is how many colleagues edit tags of their own.
const owners = 5

// A colleague has a tag of his own on each resource that has tags, and writes numbers into it.
type colleague struct {
	tag  string
	last map[string]int // the newest number by id
}

// edit writes the next number into a resource, as somebody does who locks by ETag.
func (c *colleague) edit(w *world, id string) {
	next := c.last[id] + 1
	if w.Edit(id, func(body map[string]any) {
		tags, ok := body["tags"].(map[string]any)
		if !ok {
			tags = map[string]any{}
			body["tags"] = tags
		}
		tags[c.tag] = fmt.Sprint(next)
	}) {
		c.last[id] = next
	}
}

// lost returns the ids whose newest number is gone.
func (c *colleague) lost(w *world) (ids []string) {
	for id, want := range c.last {
		tags, _ := w.Object(id)["tags"].(map[string]any)
		if got, _ := tags[c.tag].(string); got != fmt.Sprint(want) {
			ids = append(ids, id)
		}
	}
	return ids
}

// hasETag reports whether the cloud locks resources with an id by a version.
func hasETag(id string) bool {
	return strings.Contains(id, "/networks/") || strings.Contains(strings.ToLower(id), "/scalesets/")
}

// Five colleagues edit resources right after they were read. Where the cloud has versions, nobody
// loses an edit; where it has none, the report says so of each resource that was written.
func TestOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.fill(3, 1)
		w.must()
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test wants the same numbers again
		all := make([]*colleague, owners)
		for i := range all {
			all[i] = &colleague{tag: fmt.Sprintf("owner-%d", i), last: map[string]int{}}
		}
		count := 0
		var mu sync.Mutex // requests come side by side
		w.Intervene(nil, func(r armtest.Request) {
			mu.Lock()
			defer mu.Unlock()
			if r.IsWrite() || r.Status != 200 || random.IntN(2) > 0 || strings.Count(r.Path, "/") != 8 {
				return
			}
			for _, c := range all {
				if random.IntN(owners) == 0 {
					c.edit(w, r.Path)
					count++
				}
			}
		})
		unlocked := map[string]bool{} // ids of which the report says that there is no lock
		for value := range *edits {
			w.fill(3, value+2)
			time.Sleep(15 * time.Minute)
			w.must()
			for _, f := range w.findings {
				if f.Code == "NO_LOCK" {
					unlocked[f.File] = true
				}
			}
		}
		w.Intervene(nil, nil)
		time.Sleep(time.Hour)
		w.must()
		lost := 0
		for _, c := range all {
			for _, id := range c.lost(w) {
				lost++
				if hasETag(id) {
					t.Errorf("%s lost the edit of %s", id, c.tag)
				}
				if !unlocked[w.fileOf(id)] {
					t.Errorf("%s lost the edit of %s, and nobody says that it has no lock", id, c.tag)
				}
			}
		}
		w.checkValues(t, 3, *edits+1)
		if count < *edits {
			t.Errorf("only %d edits", count)
		}
		for n := range 3 {
			if !unlocked[path("files", n)] {
				t.Errorf("nobody says that %s has no lock", path("files", n))
			}
		}
		t.Logf("%d edits by %d colleagues; %d lost, none of them where the cloud has versions", count, owners, lost)
	})
}

// fileOf returns the datafile of a resource of the makers that is in no other one.
func (w *world) fileOf(id string) string {
	name := id[strings.LastIndexByte(id, '/')+1:]
	for file, e := range w.data.Data {
		if e["name"] == name {
			return file
		}
	}
	return ""
}

// checkValues wants that the cloud has what the data say, of all shops.
func (w *world) checkValues(t *testing.T, shops, value int) {
	t.Helper()
	for n := range shops {
		for _, c := range []struct{ id, path, want string }{
			{parent(n) + "/providers/Example.Network/networks/" + name("net", n), "tags.value", fmt.Sprint(value)},
			{parent(n) + "/providers/Example.Network/networks/" + name("net", n) + "/subnets/data", "properties.addressPrefix",
				fmt.Sprintf("10.0.%d.0/24", value)},
			{parent(n) + "/providers/Example.Cache/caches/" + name("cache", n), "properties.sku.capacity", fmt.Sprint(value)},
			{parent(n) + "/providers/Example.Cache/caches/" + name("cache", n) + "/firewallRules/office", "properties.endIP",
				fmt.Sprintf("192.0.2.%d", value)},
			{parent(n) + "/providers/Example.Compute/scaleSets/" + name("web", n), "properties.image.version",
				fmt.Sprint(value)},
		} {
			v := any(w.Object(c.id))
			for part := range strings.SplitSeq(c.path, ".") {
				object, _ := v.(map[string]any)
				v = object[part]
			}
			if fmt.Sprint(v) != c.want {
				t.Errorf("%s: %s is %v, want %s", c.id, c.path, v, c.want)
			}
		}
	}
}
