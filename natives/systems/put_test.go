package systems

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/outward"
)

// A value is put into its field alone, on condition that nobody else wrote, and only by who may write.
func TestPutSecret(t *testing.T) {
	for name, c := range map[string]struct {
		field, value string
		may          func(*http.Request) bool
		status       int
		want         string
	}{
		"a field":         {"password", "new-value-of-the-secret", outward.Anything, 200, ""},
		"somebody faster": {"password", "new-value-of-the-secret", outward.Anything, 400, "the next run tries again"},
		"forbidden": {"password", "new-value-of-the-secret", outward.Anything, 403,
			"create and update team/data/creds/db"},
		"a reader": {"password", "new-value-of-the-secret", func(*http.Request) bool { return false }, 200,
			"sends no P"},
		"nothing": {"password", "", outward.Anything, 200, "from 1 to"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startVault(t)
			s, _, l := f.connected(t, byAppRole)
			var sent map[string]any
			f.set(func() {
				f.before = func(w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path != "/v1/team/data/creds/db" || r.Method == http.MethodGet {
						return false
					}
					raw, _ := io.ReadAll(r.Body)
					_ = json.Unmarshal(raw, &sent)
					answer(w, c.status, `{"data":{"version":4,"created_time":"2026-01-02T03:04:05Z","deletion_time":"","destroyed":false}}`)
					return true
				}
			})
			err := s.PutSecret(t.Context(), integration.SecretRef{Path: theRef.Path, Field: c.field}, c.value, c.may)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if err != nil {
				checkSilent(t, err)
				return
			}
			data, _ := sent["data"].(map[string]any)
			options, _ := sent["options"].(map[string]any)
			if data["password"] != c.value || data["token"] != latest || options["cas"] != 3.0 || !l.knows(c.value) {
				t.Errorf("it sends %v", sent)
			}
		})
	}
	s := New(Sources{Settings: readSettings(t, "{env: {prefix: APP}}")})
	if err := s.PutSecret(t.Context(), theRef, "x", outward.Anything); err == nil ||
		!strings.Contains(err.Error(), "Vault alone") {
		t.Errorf("got %v", err)
	}
}
