package objects

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
)

// settings sets the environment of a user of AWS, and nothing of the user who runs
// the test.
func settings(t *testing.T, env map[string]string) {
	t.Helper()
	for _, name := range os.Environ() {
		if name, _, _ := strings.Cut(name, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	dir := t.TempDir()
	profiles := `[profile s3]
services = mine
[services mine]
s3 =
  endpoint_url = http://profile-s3.example
[profile all]
endpoint_url = http://profile.example
use_fips_endpoint = true
`
	file := filepath.Join(dir, "config")
	if err := os.WriteFile(file, []byte(profiles), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"AWS_CONFIG_FILE": file, "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"), "AWS_REGION": "eu-west-1",
		"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "sesame-open", "AWS_EC2_METADATA_DISABLED": "true",
	} {
		t.Setenv(name, value)
	}
	for name, value := range env {
		t.Setenv(name, value)
	}
}

// The addresses are those that the S3 client of the AWS SDK asks.
func TestAddresses(t *testing.T) {
	type env map[string]string
	for name, c := range map[string]struct {
		env         env
		bucket, key string
		want        string
	}{
		"AWS":  {nil, "bundles", "a/b.json", "https://bundles.s3.eu-west-1.amazonaws.com/a/b.json"},
		"list": {nil, "bundles", "", "https://bundles.s3.eu-west-1.amazonaws.com/"},
		"odd key": {nil, "bundles", "a b//%41+ä?#..",
			"https://bundles.s3.eu-west-1.amazonaws.com/a%20b//%2541%2B%C3%A4%3F%23.."},
		"bucket with dots": {nil, "a.b", "c", "https://s3.eu-west-1.amazonaws.com/a.b/c"},
		"China": {env{"AWS_REGION": "cn-north-1"}, "bundles", "c",
			"https://bundles.s3.cn-north-1.amazonaws.com.cn/c"},
		"isolated": {env{"AWS_REGION": "us-isob-east-1"}, "bundles", "c",
			"https://bundles.s3.us-isob-east-1.sc2s.sgov.gov/c"},
		"FIPS": {env{"AWS_USE_FIPS_ENDPOINT": "true"}, "bundles", "c",
			"https://bundles.s3-fips.eu-west-1.amazonaws.com/c"},
		"dual stack": {env{"AWS_USE_DUALSTACK_ENDPOINT": "true"}, "bundles", "c",
			"https://bundles.s3.dualstack.eu-west-1.amazonaws.com/c"},
		"FIPS turned off": {env{"AWS_USE_FIPS_ENDPOINT": "false", "AWS_PROFILE": "all",
			"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"}, "bundles", "c", "https://bundles.s3.eu-west-1.amazonaws.com/c"},
		"endpoint": {env{"AWS_ENDPOINT_URL": "http://127.0.0.1:9000"}, "bundles", "a b",
			"http://127.0.0.1:9000/bundles/a%20b"},
		"endpoint with path": {env{"AWS_ENDPOINT_URL": "https://store.example/s3/"}, "bundles", "c",
			"https://store.example/s3/bundles/c"},
		"endpoint, list": {env{"AWS_ENDPOINT_URL": "https://store.example"}, "bundles", "",
			"https://store.example/bundles"},
		"endpoint of S3": {env{"AWS_ENDPOINT_URL": "http://all.example", "AWS_ENDPOINT_URL_S3": "http://s3.example"},
			"bundles", "c", "http://s3.example/bundles/c"},
		"endpoint of the profile": {env{"AWS_PROFILE": "all"}, "bundles", "c", "http://profile.example/bundles/c"},
		"S3 of the profile":       {env{"AWS_PROFILE": "s3"}, "bundles", "c", "http://profile-s3.example/bundles/c"},
		"environment first": {env{"AWS_PROFILE": "s3", "AWS_ENDPOINT_URL": "http://all.example"}, "bundles", "c",
			"http://all.example/bundles/c"},
		"endpoints ignored": {env{"AWS_ENDPOINT_URL": "http://all.example", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"},
			"bundles", "c", "https://bundles.s3.eu-west-1.amazonaws.com/c"},
	} {
		t.Run(name, func(t *testing.T) {
			settings(t, c.env)
			client, err := connect(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			req, err := request{method: "GET", bucket: c.bucket, key: c.key}.build(t.Context(), client.site)
			if err != nil || req.URL.String() != c.want {
				t.Errorf("got %v, %v, want %s", req.URL, err, c.want)
			}
		})
	}
}

// The settings say how often a request is sent.
func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		mode, attempts string
		want           int
	}{{"", "", 3}, {"standard", "7", 7}, {"adaptive", "2", 2}} {
		settings(t, map[string]string{"AWS_RETRY_MODE": c.mode, "AWS_MAX_ATTEMPTS": c.attempts})
		cfg, err := config.LoadDefaultConfig(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := retryer(cfg).MaxAttempts(); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestSettingsMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no region":    {map[string]string{"AWS_REGION": ""}, "set AWS_REGION"},
		"no URL":       {map[string]string{"AWS_ENDPOINT_URL": "store.example"}, `the endpoint "store.example"`},
		"wrong scheme": {map[string]string{"AWS_ENDPOINT_URL": "ftp://store.example"}, "give http://HOST"},
		"no profile":   {map[string]string{"AWS_PROFILE": "nobody"}, "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			settings(t, c.env)
			if _, err := Open(t.Context(), "b"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
