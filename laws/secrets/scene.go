package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/doubles/armtest"
	"github.com/app-sre/prcheck/natives"
)

// A scene is a merge request with all that its check meets: the data of both sides, the settings
// of base, the services, and which secrets belong to systems of base.
type scene struct {
	native     string // name of the native and of its definition
	base, head *world
	own        object // settings of the native
	more       object // other settings of the integration
	// hosts makes the stand-ins of a run, by HOST or HOST:PORT. They know the values of one set.
	hosts map[string]func(value func(name string) string) http.Handler
	// away are hosts that answer requests for the first time that they are away, if the path has a text. Clients with
	// long pauses wait once.
	away map[string]string
	// owned names the credentials that a host gets, by variable.
	owned map[string][]string
	// servers are the variables whose value is an address that the data have as well.
	servers map[string]string
	words   []string // values that stand in the data as well
	// values that the data or an object of a cluster have, so that they try whether a secret has them
	tries  []string
	code   map[string]map[string]commit // of repositories, by address and branch
	charts bool                         // the program helm is there
	// isLoop says that the native runs as reconciler run runs it, without a change: its check of a
	// change asks nobody.
	isLoop bool
	// writes says that the loop writes.
	writes bool
	// isApplied says that the native has applied the data of base before.
	isApplied bool
	absent    bool // secrets may be empty in one set

	service  *armtest.Server     // of the run that goes on
	clusters map[string]*cluster // by host
	// after is what happens in each run after base was applied and before the check.
	after []func()
}

// A commit is a commit with its files by path.
type commit struct {
	sha   string
	files map[string]string
}

// both returns both sides, for edits that change both.
func (s *scene) both() []*world { return []*world{s.base, s.head} }

// newScene returns a scene in which head is as base.
func newScene(native string, w *world) *scene {
	return &scene{native: native, base: w.clone(), head: w.clone(), own: object{}, more: object{},
		owned: map[string][]string{}, servers: map[string]string{},
		hosts: map[string]func(func(string) string) http.Handler{}, away: map[string]string{},
		code:     map[string]map[string]commit{},
		clusters: map[string]*cluster{}}
}

// give names credentials of a system of base. Its host gets them, and no other one.
func (s *scene) give(host string, names ...string) { s.owned[host] = append(s.owned[host], names...) }

// giveMerged names credentials that a host gets by the data of head. They count after the merge.
func (s *scene) giveMerged(host string, names ...string) {
	if s.isLoop {
		s.give(host, names...)
	}
}

// settings returns prcheck.yaml.
func (s *scene) settings() ([]byte, error) {
	it := object{"settings": s.own}
	for k, v := range s.more {
		it[k] = v
	}
	return json.Marshal(object{"version": 1, "secrets": object{"env": object{"prefix": prefix}},
		"integrations": object{s.native: it}})
}

// prefix is what the names of variables with secrets begin with.
const prefix = "PRCHECK"

// variable returns the name of the variable of a secret.
func variable(path, field string) string {
	return prefix + "_" + strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(strings.ToUpper(path+"_"+field))
}

// An edit is one way to change a scene. What it chooses follows from its name, and so it stays the
// same when other edits are left out.
type edit struct {
	name string
	do   func(s *scene, r *rand.Rand)
}

// A kind is a native with what its merge requests are made of.
type kind struct {
	name  string
	start func(ctx context.Context) (func() *scene, error) // makes the scene without edits
	edits []edit
	most  int // how many edits a merge request has at most
	// finish completes a scene after its edits; nil does nothing.
	finish func(s *scene)
	// services returns the services of a run.
	services func(s *scene, w *wire) natives.Services
}

// kinds are all natives.
var kinds = []kind{genericKind, namespacesKind, managerKind, deployKind, pipelinesKind, promotionsKind}

// kindOf returns the native of a name.
func kindOf(name string) (kind, error) {
	var names []string
	for _, k := range kinds {
		if k.name == name {
			return k, nil
		}
		names = append(names, k.name)
	}
	return kind{}, fmt.Errorf("%q is none of the natives %s", name, strings.Join(names, ", "))
}

// draw returns the names of the edits of a merge request, in the order of the kind.
func (k kind) draw(seed uint64, index int) []string {
	r := rng(seed, index, k.name)
	n := 1 + r.IntN(k.most)
	var out []string
	for _, i := range r.Perm(len(k.edits))[:min(n, len(k.edits))] {
		out = append(out, k.edits[i].name)
	}
	return k.ordered(out)
}

// ordered returns names of edits in the order of the kind.
func (k kind) ordered(names []string) []string {
	var out []string
	for _, e := range k.edits {
		if slices.Contains(names, e.name) {
			out = append(out, e.name)
		}
	}
	return out
}

// addForge gives saas-promotions a forge and the bucket with records.
func (s *scene) addForge() {
	s.own["records"] = "s3://records"
	s.own["forge"] = object{"url": "https://" + forgeHost, "project": "data/app",
		"token": object{"path": "app/forge", "field": "token"}}
	s.give(forgeHost, variable("app/forge", "token"))
	s.hosts[forgeHost] = s.gitlab
}

// gitlab returns a stand-in of the forge: GitLab, which has the datafiles of head on main, and no merge requests
// yet; it takes commits and merge requests. It
// knows nobody without the token.
func (s *scene) gitlab(value func(string) string) http.Handler {
	token := strings.TrimSpace(value(variable("app/forge", "token")))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/projects/data%2Fapp/")
		switch {
		case r.Header.Get("PRIVATE-TOKEN") != token:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/api/v4/user":
			answer(w, http.StatusOK, object{"id": 1, "username": "bot"})
		case r.Method == http.MethodPost && rest == "repository/commits":
			answer(w, http.StatusCreated, object{"id": featureSha})
		case r.Method == http.MethodPost && rest == "merge_requests":
			answer(w, http.StatusCreated, object{"id": 5, "iid": 5, "state": "opened", "web_url": "https://" + forgeHost + "/5"})
		case ok && strings.HasPrefix(rest, "repository/files/"):
			s.serveFile(w, strings.TrimPrefix(path.Clean(r.URL.Path), "/api/v4/projects/data/app/repository/files"))
		case rest == "repository/branches" && r.URL.Query().Get("search") == "^main" && r.URL.Query().Get("page") == "1":
			answer(w, http.StatusOK, []any{object{"name": "main", "commit": object{"id": mainSha}}})
		case ok && r.Method == http.MethodGet:
			_, _ = w.Write([]byte("[]")) // in memory
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	})
}

// serveFile answers with a datafile of head.
func (s *scene) serveFile(w http.ResponseWriter, name string) {
	of := s.head.Data[name]
	if of == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_ = json.NewEncoder(w).Encode(object{"file_path": strings.TrimPrefix(name, "/"), "ref": "main", "encoding": "base64",
		"last_commit_id": mainSha,
		"blob_id":        featureSha, "content": base64.StdEncoding.EncodeToString([]byte(asYAML(of, "")))}) // in memory
}

// asYAML returns an object as a block of YAML, which people write.
func asYAML(of any, indent string) string {
	var out strings.Builder
	switch of := of.(type) {
	case object:
		for _, key := range sortedKeys(of) {
			out.WriteString(indent + key + ":" + asValue(of[key], indent+"  ") + "\n")
		}
	case []any:
		for _, item := range of {
			text := asYAML(item, indent+"  ")
			if _, is := item.(object); is && text != "" {
				out.WriteString(indent + "- " + strings.TrimPrefix(text, indent+"  "))
			} else {
				out.WriteString(indent + "-" + asValue(item, indent+"  ") + "\n")
			}
		}
	}
	return out.String()
}

// asValue returns what stands behind a key or a dash.
func asValue(of any, indent string) string {
	if block := asYAML(of, indent); block != "" {
		return "\n" + strings.TrimRight(block, "\n")
	}
	raw, _ := json.Marshal(of) // it was JSON
	return " " + string(raw)
}

func sortedKeys(of object) []string {
	var out []string
	for key := range of {
		out = append(out, key)
	}
	slices.Sort(out)
	return out
}
