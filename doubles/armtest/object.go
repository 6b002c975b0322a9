package armtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An object is a resource that the service keeps.
type object struct {
	id      string // as the first request spelled it
	kind    string // in lower case
	body    map[string]any
	version int       // rises with each change
	visible time.Time // from when it is found
	state   string    // provisioningState
	running *operation
}

// name returns the last part of an id.
func name(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }

// touch gives a changed object a new version.
func (s *Server) touch(o *object) {
	s.version++
	o.version = s.version
}

// etag returns the version of an object as the service tells it.
func (o *object) etag() string { return fmt.Sprintf(`"0x%04X"`, o.version) }

// whole returns an object as the service answers it.
func (s *Server) whole(o *object) map[string]any {
	b := s.behaviours[o.kind]
	body := clone(o.body)
	for _, path := range b.WriteOnly {
		unset(body, path)
	}
	for path, child := range b.Inline {
		set(body, path, s.inline(o, child))
	}
	words := strings.NewReplacer("{name}", name(o.id), "{id}", o.id)
	for path, text := range b.Computed {
		set(body, path, words.Replace(text))
	}
	body["id"], body["name"] = o.id, name(o.id)
	if strings.Contains(key(o.id), "/providers/") {
		body["type"] = spelledKind(o.id)
	}
	if b.Style != Immediate {
		set(body, "properties.provisioningState", o.state)
	}
	if b.ETag == BodyETag {
		body["etag"] = o.etag()
	}
	return body
}

// spelledKind returns the type of an id as the id spells it.
func spelledKind(id string) string {
	at := strings.LastIndex(strings.ToLower(id), "/providers/")
	parts := strings.Split(id[at+len("/providers/"):], "/")
	out := []string{parts[0]}
	for i := 1; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return strings.Join(out, "/")
}

// inline returns the children of an object as the items of a list.
func (s *Server) inline(o *object, child string) []any {
	items := []any{}
	for _, id := range s.children(key(o.id), child) {
		items = append(items, s.whole(s.objects[id]))
	}
	return items
}

// children returns the ids of the objects of one collection below an id, sorted.
func (s *Server) children(id, collection string) []string {
	prefix := id + "/" + strings.ToLower(collection) + "/"
	return slices.Sorted(maps.Keys(maps.Collect(func(yield func(string, bool) bool) {
		for k := range s.objects {
			if strings.HasPrefix(k, prefix) && !strings.Contains(k[len(prefix):], "/") && !yield(k, true) {
				return
			}
		}
	})))
}

// replaceInline makes the children of an object those that a list of its body names, and takes the
// list out of the body. A list that is missing keeps them only if the type merges.
func (s *Server) replaceInline(o *object) {
	b := s.behaviours[o.kind]
	for path, child := range b.Inline {
		v, there := get(o.body, path)
		unset(o.body, path)
		items, _ := v.([]any)
		if !there && b.Merges {
			continue
		}
		wanted := map[string]bool{}
		for _, item := range items {
			body, ok := clone(item).(map[string]any)
			title, named := body["name"].(string)
			if !ok || !named {
				continue
			}
			id := o.id + "/" + child + "/" + title
			wanted[key(id)] = true
			c := s.objects[key(id)]
			if c == nil {
				c = &object{id: id, kind: o.kind + "/" + strings.ToLower(child), state: "Succeeded"}
				s.objects[key(id)] = c
			}
			strip(body, s.behaviours[c.kind])
			if c.body == nil || !same(c.body, body) {
				c.body = body
				s.touch(c)
			}
		}
		for _, id := range s.children(key(o.id), child) {
			if !wanted[id] {
				s.drop(id)
			}
		}
	}
}

// drop removes an object and all below it.
func (s *Server) drop(id string) {
	if o := s.objects[id]; o != nil && s.behaviours[o.kind].SoftDeletes {
		s.deleted[id] = o
	}
	maps.DeleteFunc(s.objects, func(k string, _ *object) bool { return k == id || strings.HasPrefix(k, id+"/") })
}

// sendObject answers an object with its version.
func (s *Server) sendObject(c *call, status int, o *object) {
	if s.behaviours[o.kind].ETag == HeaderETag {
		c.answer.Header().Set("ETag", o.etag())
	}
	c.send(status, s.whole(o))
}

// purge gives the name of a deleted object free, which takes as long as other operations on it.
func (s *Server) purge(c *call, o *object) {
	b := s.behaviours[o.kind]
	switch {
	case o.running != nil:
		c.refuse(http.StatusConflict, "AnotherOperationInProgress", "", "it is being purged")
		return
	case b.Style == Immediate || b.Takes == 0:
		delete(s.deleted, key(o.id))
		c.send(http.StatusOK, nil)
		return
	}
	op := s.begins(c, o, http.MethodPost, nil)
	op.purges = true
	if b.RetryAfter > 0 {
		c.answer.Header().Set("Retry-After", seconds(b.RetryAfter))
	}
	if b.Style == AsyncOperation {
		c.answer.Header().Set("Azure-AsyncOperation", op.address("operationStatuses"))
	} else {
		c.answer.Header().Set("Location", op.address("operationResults"))
	}
	c.send(http.StatusAccepted, nil)
}

// servesDeleted answers requests about resources whose names are reserved, at
// …/providers/{provider}/locations/{location}/deleted{Types}/{name}, and POST …/purge there.
func (s *Server) servesDeleted(c *call) bool {
	p := c.parts
	if len(p) < 8 || !strings.EqualFold(p[2], "providers") || !strings.EqualFold(p[4], "locations") ||
		!strings.HasPrefix(strings.ToLower(p[6]), "deleted") {
		return false
	}
	kind := strings.ToLower(p[3] + "/" + strings.TrimPrefix(strings.ToLower(p[6]), "deleted"))
	for id, o := range s.deleted {
		if o.kind != kind || !strings.EqualFold(name(id), p[7]) || !strings.HasPrefix(id, key("/subscriptions/"+p[1])+"/") {
			continue
		}
		switch {
		case len(p) == 8 && c.r.Method == http.MethodGet:
			about := map[string]any{"vaultId": o.id, "location": o.body["location"]}
			c.send(http.StatusOK, map[string]any{"id": c.id(), "name": p[7], "properties": about})
		case len(p) == 9 && strings.EqualFold(p[8], "purge") && c.r.Method == http.MethodPost:
			s.purge(c, o)
		default:
			c.refuse(http.StatusMethodNotAllowed, "MethodNotAllowed", "", "a deleted resource is read or purged")
		}
		return true
	}
	c.refuse(http.StatusNotFound, "DeletedVaultNotFound", "", "no deleted resource has this name")
	return true
}
