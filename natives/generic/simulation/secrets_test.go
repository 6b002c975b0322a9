package simulation

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/doubles/armtest"
)

// The canaries stand for a password and for the token of the API.
const (
	canary = "canary9Kq2password7Zx"
	token  = "canary4Tw8token1Lm"
)

// traces returns the texts that give a secret away: itself, and what base64 and hex make of it
// wherever it stands in a longer text.
func traces(secret string) []string {
	out := []string{secret, hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	for skip := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", skip) + secret))
		from := []int{0, 2, 3}[skip]
		out = append(out, strings.TrimRight(text, "=")[from:len(strings.TrimRight(text, "="))-2])
	}
	return out
}

// checkSecrets wants that nothing of what the run has said or kept holds a secret.
func (w *world) checkSecrets(t *testing.T, when string, err error) {
	t.Helper()
	said := map[string]string{"the log": w.log.String(), "the error": fmt.Sprint(err)}
	for name, what := range map[string]any{"the findings": w.findings, "the standings": w.stands, "the deeds": w.deeds} {
		raw, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		said[name] = string(raw)
	}
	for key, text := range w.state.Documents() {
		said["the state "+key] = text
	}
	for name, text := range said {
		for _, secret := range []string{canary, token} {
			for _, trace := range traces(secret) {
				if strings.Contains(text, trace) {
					t.Errorf("%s: %s holds %q: %s", when, name, trace, text)
				}
			}
		}
	}
}

// A secret is in nothing that a run says or keeps: not when it is sent, not when the cloud repeats
// it in an error, not in a dry run, and not when the process dies. The cloud gets it.
func TestSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Token, w.secrets["cloud/acme token"], w.secrets["cloud/sessions password"] = token, token, canary
		file, e := makers[2](0, 1)
		secret := map[string]any{"path": "cloud/sessions", "field": "password"}
		e["secrets"] = []any{map[string]any{"at": "/properties/adminPassword", "secret": secret}}
		w.put(file, e)
		w.checkSecrets(t, "a dry run", w.dryRun())
		echo := fmt.Sprintf(`{"error": {"code": "PasswordTooWeak", "message": "%s is weak, %s"}}`, canary, token)
		w.Fail(func(r armtest.Request) *armtest.Fault {
			if r.IsWrite() {
				return &armtest.Fault{Status: http.StatusBadRequest, Body: echo, Type: "application/json"}
			}
			return nil
		})
		err := w.run()
		if err == nil {
			t.Error("the refused write is no error")
		}
		w.checkSecrets(t, "an error that repeats it", err)
		w.Fail(func(r armtest.Request) *armtest.Fault { return &armtest.Fault{Cut: r.IsWrite()} })
		w.checkSecrets(t, "half an answer", w.run())
		w.Fail(nil)
		for moment := 1; moment < 30; moment += 3 {
			w.checkSecrets(t, "a death", w.runUntil(&mortal{left: moment}))
		}
		time.Sleep(15 * time.Minute)
		w.must()
		w.checkSecrets(t, "a run", nil)
		id := parent(0) + "/providers/Example.Cache/caches/" + name("cache", 0)
		if properties, _ := w.Object(id)["properties"].(map[string]any); properties["adminPassword"] != canary {
			t.Errorf("the cloud has the password %v", properties["adminPassword"])
		}
		w.secrets["cloud/sessions password"] = canary + "2"
		time.Sleep(15 * time.Minute)
		w.must()
		w.checkSecrets(t, "a new value", nil)
		if properties, _ := w.Object(id)["properties"].(map[string]any); properties["adminPassword"] != canary+"2" {
			t.Errorf("after the new value the cloud has the password %v", properties["adminPassword"])
		}
		w.Forget()
		w.must()
		if len(w.Writes()) > 0 {
			t.Errorf("nothing changed, and was written: %v", w.Writes())
		}
	})
}

// The traces of a secret are found in texts that hold it.
func TestTraces(t *testing.T) {
	for skip := range 5 {
		text := base64.StdEncoding.EncodeToString([]byte("12345"[:skip] + canary + "and more"))
		found := false
		for _, trace := range traces(canary) {
			found = found || strings.Contains(text, trace)
		}
		if !found {
			t.Errorf("%q is not found in %q", canary, text)
		}
	}
}
