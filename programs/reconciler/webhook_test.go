package reconciler

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/generic/cloudtest"
)

// serverFiles writes the certificate of a test server into files, and returns a client that
// trusts it.
func serverFiles(t *testing.T, dir string) (cert, key string, client *http.Client) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	pair := s.TLS.Certificates[0]
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, cert, "CERTIFICATE", pair.Certificate[0])
	writePEM(t, key, "PRIVATE KEY", secret)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return cert, key,
		&http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
}

// The whole command: the specifications come from a bundle, a wrong object is refused with its
// field, and the process ends when it is told to.
func TestWebhookCommand(t *testing.T) {
	dir := t.TempDir()
	bundle := filepath.Join(dir, "bundle.json")
	if err := os.WriteFile(bundle, cloudtest.New("https://arm.example").Bundle(t), 0o600); err != nil {
		t.Fatal(err)
	}
	cert, key, client := serverFiles(t, dir)
	address, stop := startWebhook(t, "--bundle", bundle, "--tls-cert", cert, "--tls-key", key)
	for _, c := range []struct{ body, want string }{
		{`{"location": "westus", "properties": {"size": 1}}`, `"allowed":true`},
		{`{"location": "westus", "properties": {"sizes": 1}}`, `"field":"spec.body.properties.sizes"`},
	} {
		review := `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u", "operation": "CREATE", "object": {
			"apiVersion": "prcheck.dev/v1", "kind": "GenericResource", "metadata": {"name": "n"}, "spec": {"type": "` + cloudtest.Store + `", "name": "n", "body": ` + c.body + `}}}}`
		res, err := client.Post(address, "application/json", strings.NewReader(review)) //nolint:noctx // ends with the test
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Contains(got, []byte(c.want)) {
			t.Errorf("%s: got %s and %v, want %s", c.body, got, err, c.want)
		}
	}
	client.CloseIdleConnections()
	if err := stop(); err != nil {
		t.Errorf("the command ended with %v", err)
	}
}

// startWebhook runs the command at a free port, and returns the address that it serves at and
// what ends it.
func startWebhook(t *testing.T, args ...string) (address string, stop func() error) {
	t.Helper()
	notes, told := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var ended error
	running.Go(func() {
		ended = Run(ctx, cli.Env{Args: append([]string{"webhook", "generic", "--listen", "127.0.0.1:0"}, args...),
			Stdout: io.Discard, Stderr: told, Getenv: func(string) string { return "" }})
		_ = told.CloseWithError(errors.Join(ended, io.EOF))
	})
	line := make([]byte, 300)
	n, err := notes.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	running.Go(func() { _, _ = io.Copy(io.Discard, notes) })
	return regexp.MustCompile(`https://\S+/validate`).FindString(string(line[:n])), func() error {
		cancel()
		running.Wait()
		return ended
	}
}

func writePEM(t *testing.T, name, kind string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
}
