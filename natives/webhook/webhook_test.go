package webhook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/app-sre/prcheck/natives/webhook"
)

// issue writes a certificate for 127.0.0.1 with a name, and its key.
func issue(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: raw},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// A certificate that changes is read again, and one that is broken leaves the old one in use.
func TestCertificateChanges(t *testing.T) {
	dir := t.TempDir()
	cert, key := issue(t, dir, "first")
	var notes []string
	synctest.Test(t, func(t *testing.T) {
		c, err := webhook.OpenCertificate(cert, key, func(line string) { notes = append(notes, line) })
		if err != nil {
			t.Fatal(err)
		}
		name := func() string {
			t.Helper()
			pair, err := c.Get(nil)
			if err != nil {
				t.Fatal(err)
			}
			leaf, err := x509.ParseCertificate(pair.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			return leaf.Subject.CommonName
		}
		issue(t, dir, "second")
		if got := name(); got != "first" {
			t.Errorf("at once: got %s", got)
		}
		time.Sleep(6 * time.Second)
		if got := name(); got != "second" {
			t.Errorf("after a pause: got %s", got)
		}
		if err := os.WriteFile(key, []byte("broken"), 0o600); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second)
		if got := name(); got != "second" || len(notes) != 1 || !strings.Contains(notes[0], "the old one stays in use") {
			t.Errorf("broken: got %s and the notes %q", got, notes)
		}
	})
}

func TestMissingCertificate(t *testing.T) {
	if _, err := webhook.OpenCertificate("nowhere.crt", "nowhere.key", nil); err == nil ||
		!strings.Contains(err.Error(), "nowhere.crt") {
		t.Errorf("got %v", err)
	}
}

// A request that runs when the server is told to stop gets its answer.
func TestServeEndsGracefully(t *testing.T) {
	cert, key := issue(t, t.TempDir(), "a")
	c, err := webhook.OpenCertificate(cert, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stop()
		_, _ = w.Write([]byte("done"))
	})
	var serving sync.WaitGroup
	var served error
	serving.Go(func() { served = webhook.Serve(ctx, l, webhook.Serving{Handler: h, Certificate: c}) })
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // of the test
	res, err := client.Get("https://" + l.Addr().String())                                                     //nolint:noctx // likewise
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	serving.Wait()
	if served != nil || res.StatusCode != http.StatusOK {
		t.Errorf("got %d and %v", res.StatusCode, served)
	}
}
