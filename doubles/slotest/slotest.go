package slotest

import (
	"encoding/json"
	"net/http"
	"sync"
)

// A Server is a Prometheus. Its fields must be set before it is used.
type Server struct {
	Authorization string // the header of who may ask; "" is everybody
	// Fault answers a request in place of the server if it returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool

	mu       sync.Mutex
	values   map[string][]string
	requests int
}

// Set gives an expression its values, one for each series. No values means that there are no
// data.
func (s *Server) Set(expression string, values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string][]string{}
	}
	s.values[expression] = values
}

// Requests returns how many requests there were.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	expression := r.FormValue("query")
	values, known := s.values[expression]
	switch {
	case s.Fault != nil && s.Fault(w, r):
	case s.Authorization != "" && r.Header.Get("Authorization") != s.Authorization:
		http.Error(w, "Unauthorized", http.StatusUnauthorized)
	case r.URL.Path != "/api/v1/query" || r.Method != http.MethodGet && r.Method != http.MethodPost:
		http.NotFound(w, r)
	case !known:
		send(w, http.StatusBadRequest, map[string]any{"status": "error", "errorType": "bad_data",
			"error": "this server does not know the expression"})
	default:
		result := []any{}
		for i, v := range values {
			result = append(result, map[string]any{"metric": map[string]any{"series": i}, "value": []any{1769158800.123, v}})
		}
		send(w, http.StatusOK,
			map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}})
	}
}

func send(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // nobody may be listening any more
}
