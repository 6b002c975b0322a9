package main

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
)

// addForge gives saas-promotions a forge and the bucket with records.
func (s *scene) addForge() {
	s.own["records"] = "s3://records"
	s.own["forge"] = object{"url": "https://" + forgeHost, "project": "data/app",
		"token": object{"path": "app/forge", "field": "token"}}
	s.give(forgeHost, variable("app/forge", "token"))
	s.hosts[forgeHost] = s.gitlab
}

// gitlab returns a stand-in of the forge: GitLab, which has the datafiles of head on main, and no merge requests. It
// knows nobody without the token.
func (s *scene) gitlab(value func(string) string) http.Handler {
	token := strings.TrimSpace(value(variable("app/forge", "token")))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/v4/projects/data%2Fapp/")
		switch {
		case r.Header.Get("PRIVATE-TOKEN") != token:
			w.WriteHeader(http.StatusUnauthorized)
		case ok && strings.HasPrefix(rest, "repository/files/"):
			s.serveFile(w, strings.TrimPrefix(path.Clean(r.URL.Path), "/api/v4/projects/data/app/repository/files"))
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
