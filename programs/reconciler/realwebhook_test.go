package reconciler

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/app-sre/prcheck/doubles/kubetest"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// A real API server asks the webhook, with the configuration that the command writes, and
// refuses what kubectl applies, patches, edits and deletes.
func TestRealWebhook(t *testing.T) {
	r := kubetest.Start(t)
	dir := t.TempDir()
	bundle := filepath.Join(dir, "bundle.json")
	if err := os.WriteFile(bundle, cloudtest.New("https://arm.example").Bundle(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cert, key, client := serverFiles(t, dir)
	client.CloseIdleConnections()
	address, stop := startWebhook(t, "--bundle", bundle, "--tls-cert", cert, "--tls-key", key, "--protect-deletes")
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	var configuration bytes.Buffer
	if err := Run(t.Context(),
		cli.Env{Args: []string{"webhook", "generic", "--print-configuration", "--url",
			strings.TrimSuffix(address, "/validate"), "--ca", cert},
			Stdout: &configuration, Stderr: io.Discard, Getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	if out, told, ok := r.Kubectl(t, "admin", configuration.String(), "apply", "-f", "-"); !ok {
		t.Fatalf("%s %s\n%s", out, told, configuration.String())
	}
	object := func(body, more string) string {
		return `{"apiVersion": "prcheck.dev/v1", "kind": "GenericResource", "metadata": {"name": "one", "namespace": "default"},
			"spec": {"type": "` + cloudtest.Store + `", "name": "n", ` + more + `"body": ` + body + `}}`
	}
	apply := []string{"apply", "-f", "-"}
	patch := func(body string) []string {
		return []string{"patch", "genericresources", "one", "--type", "merge", "-p", `{"spec": ` + body + `}`}
	}
	waitFor(t, r, object(`{"location": "westus", "properties": {"size": 1}}`, ""))
	for _, c := range []struct {
		name, input string
		args        []string
		editor      string
		want        string // of stderr; "" is success
	}{
		{"a name that is not there", object(`{"location": "westus", "properties": {"sizes": 1}}`, ""), apply, "",
			"spec.body.properties.sizes"},
		{"a change", "", patch(`{"body": {"properties": {"size": 2}}}`), "", ""},
		{"a property that cannot be changed", "", patch(`{"body": {"location": "eastus"}}`), "",
			"spec.body.location: it is create-only"},
		{"an edit of it", "", []string{"edit", "genericresources", "one"}, "sed -i s/westus/northeurope/", "is invalid"},
		{"an edit that is fine", "", []string{"edit", "genericresources", "one"}, "sed -i s/size:.2/size:\\x203/", ""},
		{"a label beside it", "", []string{"label", "genericresources", "one", "a=b"}, "", ""},
		{"a deletion", "", []string{"delete", "genericresources", "one", "--wait=false"}, "", "cannot be deleted"},
		{"a dry run on the server", object(`{"location": "eastus", "properties": {"size": 1}}`, ""),
			append(apply, "--dry-run=server"), "", "it is create-only"},
		{"the data say delete", "", patch(`{"delete": true}`), "", ""},
		{"a deletion then", "", []string{"delete", "genericresources", "one", "--wait=false"}, "", ""},
	} {
		r.Editor = c.editor
		out, told, ok := r.Kubectl(t, "admin", c.input, c.args...)
		if ok != (c.want == "") || !strings.Contains(told, c.want) {
			t.Errorf("%s: got %v\n%s\n%s", c.name, ok, out, told)
		}
	}
}

// waitFor applies an object until the server knows its kind and asks the webhook.
func waitFor(t *testing.T, r *kubetest.Real, object string) {
	t.Helper()
	told := ""
	for range 100 {
		var ok bool
		if _, told, ok = r.Kubectl(t, "admin", object, "apply", "-f", "-"); ok {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(told)
}
