package sources

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	for _, c := range []struct {
		name, env string
		refs      []string
		first     []string
		reload    string // "" for none
		failure   string
	}{
		{name: "flags", env: "INIT_BUNDLES=fs://x.json", refs: []string{"a.json", "s3://b/k.json"},
			first: []string{"a.json", "s3://b/k.json"}, reload: "s3://b/k.json"},
		{name: "flags, and what a reload loads", env: "LOAD_METHOD=fs DATAFILES_FILE=y.json", refs: []string{"a.json"},
			first: []string{"a.json"}, reload: "y.json"},
		{name: "a list", env: "INIT_BUNDLES=fs://x.json,s3://k.json AWS_S3_BUCKET=b",
			first: []string{"x.json", "s3://b/k.json"}},
		{name: "a load method", env: "LOAD_METHOD=s3 AWS_S3_BUCKET=b AWS_S3_KEY=k", first: []string{"s3://b/k"},
			reload: "s3://b/k"},
		{name: "nothing", failure: "there is no bundle to serve"},
		{name: "half an object", refs: []string{"s3://b"}, failure: `--bundle "s3://b": give s3://BUCKET/KEY`},
		{name: "an unknown kind", env: "INIT_BUNDLES=ftp://x", failure: `INIT_BUNDLES: "ftp://x" is neither`},
		{name: "a list without a bucket", env: "INIT_BUNDLES=s3://k", failure: "needs AWS_S3_BUCKET"},
		{name: "an unknown method", env: "LOAD_METHOD=http", failure: `LOAD_METHOD: "http" is neither fs nor s3`},
		{name: "a method without a file", env: "LOAD_METHOD=fs", failure: "needs DATAFILES_FILE"},
		{name: "a method without a key", env: "LOAD_METHOD=s3 AWS_S3_BUCKET=b",
			failure: "needs AWS_S3_BUCKET and AWS_S3_KEY"},
		{name: "a wrong time", env: "BUNDLE_SHA_TTL=soon", failure: `BUNDLE_SHA_TTL: "soon" is no number of milliseconds`},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := map[string]string{}
			for word := range strings.FieldsSeq(c.env) {
				name, value, _ := strings.Cut(word, "=")
				env[name] = value
			}
			s, err := Read(func(name string) string { return env[name] }, c.refs, 1<<20)
			if c.failure != "" {
				if err == nil || !strings.Contains(err.Error(), c.failure) {
					t.Errorf("got %v, want an error with %q", err, c.failure)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var first []string
			for _, p := range s.first {
				first = append(first, p.name())
			}
			reload := ""
			if s.reload != nil {
				reload = s.reload.name()
			}
			if !slices.Equal(first, c.first) || reload != c.reload {
				t.Errorf("got %q, reload %q; want %q, %q", first, reload, c.first, c.reload)
			}
		})
	}
}

func TestReadTTL(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "1500": 1500 * time.Millisecond,
		"0.5": 500 * time.Microsecond} {
		if got, err := readTTL(text); got != want || err != nil {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
}
