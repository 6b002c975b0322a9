package plaintest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An Item is a resource.
type Item = map[string]any

// A Kind is how the items of one collection behave.
type Kind struct {
	// Collection is the path at which items are created and listed, with * for the id of what they stand in. At is the
	// path in front of the id of an item; "" is Collection.
	Collection, At string
	Envelope, List string // members of answers; "" is none
	InEnvelope     bool   // requests have the envelope as well
	Form           bool   // requests are forms
	Updates        []string
	Replaces       bool // PUT forgets what it does not name
	Paging         string
	PageSize       int // 0 is one page
	// Creates and Changes are the members that requests may have; one more is answered with 422.
	Creates, Changes []string
	Unique           string // a member that no two items may share; "" is none
	// Actions are the requests below an item, by the last part of their path. They change it once the action is read.
	Actions map[string]func(item, body Item)
	// Shows changes what is answered, such as a text that is answered as an object.
	Shows func(Item) Item
}

// The ways in which a collection is listed in pages.
const (
	ByLink   = "link"   // the header Link
	ByNumber = "number" // meta.pagination.next_page
	ByURL    = "url"    // links.pages.next
	ByCursor = "cursor" // next_cursor and ?cursor=
	ByMore   = "more"   // has_more and ?starting_after=
)

// A Request is one that the service got.
type Request struct {
	Method, Path, Query string
	Body                Item
	Media               string
	Status              int
}

// A Server is a service in memory. Several goroutines may use it.
type Server struct {
	Kinds []Kind

	mu      sync.Mutex
	items   map[string][]Item // by collection
	pending map[string]func() // of actions that go on, by their id
	last    map[string]int    // id, by collection
	log     []Request
	// Fail returns the status with which a request is answered instead, 0 for none.
	Fail func(method, path string) int
}

// New returns a service.
func New(kinds ...Kind) *Server {
	return &Server{Kinds: kinds, items: map[string][]Item{}, pending: map[string]func(){}, last: map[string]int{}}
}

// SetLast sets the id that was given last in a collection.
func (s *Server) SetLast(collection string, id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last[collection] = id
}

// Set replaces the items of a collection.
func (s *Server) Set(collection string, items ...Item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[collection] = items
}

// Items returns the items of a collection.
func (s *Server) Items(collection string) []Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.items[collection])
}

// Log returns the requests since the last Forget.
func (s *Server) Log() []Request { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.log) }

// Forget drops the log.
func (s *Server) Forget() { s.mu.Lock(); defer s.mu.Unlock(); s.log = nil }

// Writes returns the requests that were no GET, as words.
func (s *Server) Writes() string {
	var out []string
	for _, r := range s.Log() {
		if r.Method != http.MethodGet {
			out = append(out, r.Method+" "+r.Path)
		}
	}
	return strings.Join(out, ", ")
}

// RoundTrip answers a request in memory.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.answer(r)
	s.log[len(s.log)-1].Status = a.status
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

// An answered is an answer.
type answered struct {
	status int
	body   any
	header map[string]string
}

func refuse(status int, format string, args ...any) answered {
	return answered{status: status, body: Item{"error": Item{"code": http.StatusText(status),
		"message": fmt.Sprintf(format, args...)}}}
}

// answer answers a request, and notes it.
func (s *Server) answer(r *http.Request) answered {
	body, err := read(r)
	s.log = append(s.log, Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: body,
		Media: r.Header.Get("Content-Type")})
	if s.Fail != nil {
		if status := s.Fail(r.Method, r.URL.Path); status != 0 {
			return refuse(status, "it fails")
		}
	}
	if err != nil {
		return refuse(http.StatusBadRequest, "%v", err)
	}
	if id, isAction := strings.CutPrefix(r.URL.Path, "/v1/actions/"); isAction && r.Method == http.MethodGet {
		return s.action(id)
	}
	for i := range s.Kinds {
		if collection, isMatch := match(s.Kinds[i].Collection, r.URL.Path); isMatch {
			return s.collection(&s.Kinds[i], collection, r, body)
		}
	}
	return s.below(r, body)
}

// below answers a request about an item: of the kind whose address is the longest.
func (s *Server) below(r *http.Request, body Item) answered {
	kinds := slices.Clone(s.Kinds)
	slices.SortStableFunc(kinds, func(a, b Kind) int { return len(b.Collection) - len(a.Collection) })
	for i := range kinds {
		k := &kinds[i]
		at := k.At
		if at == "" {
			at = k.Collection
		}
		parts := strings.Split(r.URL.Path, "/")
		for cut := len(parts) - 1; cut >= len(parts)-3 && cut > 0; cut-- {
			if front, isMatch := match(at, strings.Join(parts[:cut], "/")); isMatch {
				return s.item(k, front, parts[cut], strings.Join(parts[cut+1:], "/"), r.Method, body)
			}
		}
	}
	return refuse(http.StatusNotFound, "no such address")
}

// match reports whether a path is one of a pattern, in which * stands for one part.
func match(pattern, path string) (string, bool) {
	want, is := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(is) {
		return "", false
	}
	for i := range want {
		if want[i] != "*" && want[i] != is[i] {
			return "", false
		}
	}
	return path, true
}

// items of a kind that stand at a path: those of its collection.
func (k *Kind) home(at string) string {
	if k.At != "" {
		return k.Collection
	}
	return at
}

// collection lists or creates.
func (s *Server) collection(k *Kind, at string, r *http.Request, body Item) answered {
	switch r.Method {
	case http.MethodGet:
		return s.list(k, at, r)
	case http.MethodPost:
	default:
		return refuse(http.StatusMethodNotAllowed, "no %s here", r.Method)
	}
	in, why := k.open(r.Header.Get("Content-Type"), body, k.Creates)
	if why != "" {
		return refuse(http.StatusUnprocessableEntity, "%s", why)
	}
	for _, other := range s.items[at] {
		if k.Unique != "" && fmt.Sprint(other[k.Unique]) == fmt.Sprint(in[k.Unique]) {
			return refuse(http.StatusConflict, "there is one of this name")
		}
	}
	s.last[at]++
	in["id"] = s.last[at]
	s.items[at] = append(s.items[at], in)
	return answered{status: http.StatusCreated, body: k.close(in)}
}

// open takes the resource out of a request.
func (k *Kind) open(media string, body Item, may []string) (Item, string) {
	if want := "application/json"; k.Form == strings.HasPrefix(media, want) {
		return nil, "it takes no " + media
	}
	if k.InEnvelope {
		inner, ok := body[k.Envelope].(map[string]any)
		if !ok || len(body) != 1 {
			return nil, "the body stands in " + k.Envelope
		}
		body = inner
	}
	out := Item{}
	for name, v := range body {
		if may != nil && !slices.Contains(may, name) {
			return nil, "it takes no " + name
		}
		out[name] = v
	}
	return out, ""
}

// close puts a resource into an answer.
func (k *Kind) close(item Item) any {
	if k.Shows != nil {
		item = k.Shows(item)
	}
	if k.Envelope == "" {
		return item
	}
	return Item{k.Envelope: item}
}

// list answers a page.
func (s *Server) list(k *Kind, at string, r *http.Request) answered {
	all := s.items[at]
	number := max(atoi(r.URL.Query().Get("page")), 1)
	from := 0
	switch after := r.URL.Query().Get("starting_after"); {
	case k.PageSize == 0:
		return answered{status: http.StatusOK, body: k.page(all)}
	case k.Paging == ByCursor:
		from = atoi(r.URL.Query().Get("cursor"))
	case k.Paging == ByMore && after != "":
		from = 1 + slices.IndexFunc(all, func(i Item) bool { return fmt.Sprint(i["id"]) == after })
	case k.Paging != ByMore:
		from = (number - 1) * k.PageSize
	}
	to := min(from+k.PageSize, len(all))
	page, a := k.page(all[min(from, to):to]), answered{status: http.StatusOK, header: map[string]string{}}
	a.body = page
	object, _ := page.(Item)
	hasMore := to < len(all)
	next := fmt.Sprintf("%s?page=%d", r.URL.Path, number+1)
	switch {
	case k.Paging == ByLink && hasMore:
		a.header["Link"] = fmt.Sprintf(`<https://%s%s>; rel="next", <%s>; rel="first"`, r.Host, next, r.URL.Path)
	case k.Paging == ByNumber && hasMore:
		object["meta"] = Item{"pagination": Item{"next_page": number + 1, "total_entries": len(all)}}
	case k.Paging == ByNumber:
		object["meta"] = Item{"pagination": Item{"next_page": nil, "total_entries": len(all)}}
	case k.Paging == ByURL && hasMore:
		object["links"] = Item{"pages": Item{"next": "https://" + r.Host + next}}
	case k.Paging == ByCursor && hasMore:
		object["next_cursor"] = strconv.Itoa(to)
	case k.Paging == ByMore:
		object["has_more"] = hasMore
	}
	return a
}

func atoi(text string) int { n, _ := strconv.Atoi(text); return n }

func (k *Kind) page(items []Item) any {
	list := []any{}
	for _, item := range items {
		if k.Shows != nil {
			item = k.Shows(item)
		}
		list = append(list, item)
	}
	if k.List == "" {
		return list
	}
	return Item{k.List: list}
}

// item reads, changes or deletes one.
func (s *Server) item(k *Kind, at, id, below, method string, body Item) answered {
	home := k.home(at)
	i := slices.IndexFunc(s.items[home], func(item Item) bool { return fmt.Sprint(item["id"]) == id })
	if i < 0 {
		return refuse(http.StatusNotFound, "no such item")
	}
	item := s.items[home][i]
	last := below[strings.LastIndexByte(below, '/')+1:]
	act := k.Actions[last]
	switch {
	case below != "" && act != nil && method == http.MethodPost:
		return s.begin(func() { act(item, body) })
	case below != "":
		return refuse(http.StatusNotFound, "no such address")
	case method == http.MethodGet:
		return answered{status: http.StatusOK, body: k.close(item)}
	case method == http.MethodDelete:
		s.items[home] = slices.Delete(s.items[home], i, i+1)
		return answered{status: http.StatusNoContent}
	case !slices.Contains(k.Updates, method):
		return refuse(http.StatusMethodNotAllowed, "no %s here", method)
	}
	in, why := k.open(map[bool]string{true: "application/x-www-form-urlencoded", false: "application/json"}[k.Form],
		body, k.Changes)
	if why != "" {
		return refuse(http.StatusUnprocessableEntity, "%s", why)
	}
	if k.Replaces && method == http.MethodPut {
		for name := range item {
			if name != "id" && (k.Changes == nil || slices.Contains(k.Changes, name)) {
				delete(item, name)
			}
		}
	}
	for name, v := range in {
		if item[name] = v; v == nil || v == "" {
			delete(item, name)
		}
	}
	return answered{status: http.StatusOK, body: k.close(item)}
}

// begin begins an action, which is carried out when it is read.
func (s *Server) begin(do func()) answered {
	id := len(s.pending) + 1
	s.pending[strconv.Itoa(id)] = do
	return answered{status: http.StatusCreated, body: Item{"action": Item{"id": id, "status": "running"}}}
}

func (s *Server) action(id string) answered {
	do, isThere := s.pending[id]
	if !isThere {
		return refuse(http.StatusNotFound, "no such action")
	}
	if do != nil {
		do()
		s.pending[id] = nil
		return answered{status: http.StatusOK, body: Item{"action": Item{"id": atoi(id), "status": "running"}}}
	}
	return answered{status: http.StatusOK, body: Item{"action": Item{"id": atoi(id), "status": "success"}}}
}
