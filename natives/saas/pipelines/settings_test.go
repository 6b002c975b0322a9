package pipelines

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/settings"
)

// own returns settings of the integration.
func own(t *testing.T, text string) settings.Own {
	t.Helper()
	s, err := settings.Read("prcheck.yaml", []byte("version: 1\nintegrations:\n  "+Name+":\n    settings: "+text+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s.For(Name).Own
}

func TestSettings(t *testing.T) {
	const fp = "0123456789abcdef"
	for text, want := range map[string]ownSettings{
		"{}":                            {},
		`{retry: "` + fp + `"}`:         {again: []string{fp}},
		`{retry: ["` + fp + `"]}`:       {again: []string{fp}},
		"{retry: {max: 3}}":             {max: 3},
		"{retry: {backoff: 5m}}":        {backoff: 5 * time.Minute},
		"{executor: tekton}":            {},
		"{repository: https://x/data/}": {},
		`{retry: {max: 2, backoff: 1h, fingerprints: ["` + fp + `"]}}`: {max: 2, backoff: time.Hour, again: []string{fp}},
	} {
		got, err := readSettings(own(t, text))
		if err != nil || got.max != want.max || got.backoff != want.backoff || !slices.Equal(got.again, want.again) ||
			strings.HasSuffix(got.Repository, "/") {
			t.Errorf("%s: got %+v, %v", text, got, err)
		}
	}
}

func TestMistakesOfSettings(t *testing.T) {
	for text, want := range map[string]string{
		"{retry: 5}":                         "must be a fingerprint",
		"{retry: {max: 0}}":                  "from 1 to 100",
		"{retry: {max: many}}":               "from 1 to 100",
		"{retry: {backoff: soon}}":           "must be a duration",
		"{retry: {fingerprints: all}}":       "must be a list",
		"{retry: {fingerprints: [x]}}":       "must be a fingerprint",
		"{retry: {often: true}}":             "is not known",
		"{executor: jenkins}":                "must be tekton or native",
		"{executor: native}":                 "native.image: is required",
		"{hosts: [https://x]}":               "must be the name of a host",
		"{records: bucket}":                  "must be s3://",
		"{trace: 1}":                         "trace",
		"{trace: true}":                      "repository: is required",
		"{nothing: 1}":                       "nothing",
		"{executor: native, native: {a: b}}": "native",
	} {
		err := New(Services{}).(integration.Checker).CheckSettings(own(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "prcheck.yaml:4") {
			t.Errorf("%s: got %v, want %q with file and line", text, err, want)
		}
	}
}

func TestBuildLogin(t *testing.T) {
	toml := "[jenkins]\nurl = \"https://ci.example.com\"\nuser = \"bot\"\npassword = 'p=w'\n"
	if got, err := buildLogin(toml, "https://ci.example.com"); err != nil || got.User != "bot" || got.Password != "p=w" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := buildLogin(toml, "https://evil.example.com"); err == nil || strings.Contains(err.Error(), "p=w") {
		t.Errorf("a login for another host: %v", err)
	}
	if got, err := buildLogin("token\n", "https://ci.example.com"); err != nil || got.User != "" ||
		got.Password != "token" {
		t.Errorf("got %+v, %v", got, err)
	}
}
