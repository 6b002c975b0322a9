package kubetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A Real is a real API server with an etcd of its own, both on this machine. What others do
// inside of a cluster, the test has to do, unless it starts controllers ([Real.Control]) and
// machines that run pods ([Real.RunPods]). Access is by roles (RBAC); the user "admin" may do
// everything.
type Real struct {
	URL    string // https; the certificate is signed by nobody
	Editor string // the command with which kubectl edits objects
	dir    string
	tokens map[string]string // by user
	client *http.Client
}

// Env names the variable that names the program kube-apiserver.
const Env = "PRCHECK_KUBE_APISERVER"

// readyWithin is how long a server may take to start, on a machine that does other things.
const readyWithin = 90 * time.Second

// Start starts a real API server that ends with the test, and has these users beside "admin".
// The test is skipped if the variable [Env] names no program, or if there is no etcd.
func Start(t testing.TB, users ...string) *Real {
	t.Helper()
	program := os.Getenv(Env)
	if program == "" {
		t.Skip(Env + " names no kube-apiserver")
	}
	etcd, err := exec.LookPath("etcd")
	if err != nil {
		t.Skip("etcd is not installed")
	}
	r := &Real{dir: t.TempDir(), tokens: map[string]string{}, client: &http.Client{
		Timeout: 30 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}} //nolint:gosec // its own certificate
	t.Cleanup(r.client.CloseIdleConnections)
	r.writeFiles(t, append(users, "admin"))
	for range 5 { // another process may take a port before the server does
		if r.tryStart(t, etcd, program) {
			return r
		}
	}
	log, _ := os.ReadFile(filepath.Join(r.dir, "kube-apiserver.log")) // it may be missing
	t.Fatalf("kube-apiserver does not start:\n%s", log[max(0, len(log)-4000):])
	return nil
}

// policy lets the server note each request when it has ended.
const policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"

// writeFiles writes what the server reads: tokens, a key and the policy of its log.
func (r *Real) writeFiles(t testing.TB, users []string) {
	t.Helper()
	var tokens strings.Builder
	for i, u := range users {
		raw := make([]byte, 16)
		_, _ = rand.Read(raw) // never fails
		r.tokens[u] = hex.EncodeToString(raw)
		fmt.Fprintf(&tokens, "%s,%s,%d", r.tokens[u], u, i)
		if u == "admin" {
			tokens.WriteString(`,"system:masters"`)
		}
		tokens.WriteString("\n")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"tokens.csv": tokens.String(), "policy.yaml": policy,
		"key.pem": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
	} {
		if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// tryStart starts both programs, and reports whether they serve.
func (r *Real) tryStart(t testing.TB, etcd, program string) bool {
	t.Helper()
	data := filepath.Join(r.dir, "etcd")
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	ports := freePorts(t, 3)
	clients, peers := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	store := r.run(t, etcd, "--data-dir", data, "--listen-client-urls", clients, "--advertise-client-urls", clients,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	key := filepath.Join(r.dir, "key.pem")
	server := r.run(t, program, "--etcd-servers", clients, "--bind-address", "127.0.0.1", "--secure-port", ports[2],
		"--cert-dir", filepath.Join(r.dir, "certificates"), "--service-account-issuer", "https://test.invalid",
		"--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--token-auth-file", filepath.Join(r.dir, "tokens.csv"), "--authorization-mode", "RBAC",
		"--service-cluster-ip-range", "10.0.0.0/16", "--disable-admission-plugins", "ServiceAccount",
		"--endpoint-reconciler-type", "none",
		"--audit-policy-file", filepath.Join(r.dir, "policy.yaml"), "--audit-log-path", r.auditLog())
	r.URL = "https://127.0.0.1:" + ports[2]
	for end := time.Now().Add(readyWithin); time.Now().Before(end) && !store.hasEnded() &&
		!server.hasEnded(); time.Sleep(100 * time.Millisecond) {
		if code, text, err := r.send("admin", http.MethodGet, "/readyz", "", ""); err == nil && code == http.StatusOK &&
			string(text) == "ok" {
			return true
		}
	}
	server.stop()
	store.stop()
	return false
}

// freePorts returns ports that nobody listens on at this moment.
func freePorts(t testing.TB, n int) []string {
	t.Helper()
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // after all were chosen
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, port)
	}
	return out
}

// A process is a program that runs beside the test.
type process struct {
	cmd   *exec.Cmd
	ended bool
}

// run starts a program that ends with the test. Its output goes into a file.
func (r *Real) run(t testing.TB, program string, args ...string) *process {
	t.Helper()
	log, err := os.Create(filepath.Join(r.dir, filepath.Base(program)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // the process has it
	p := &process{cmd: exec.Command(program, args...)}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Dir = log, log, r.dir
	endWithParent(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	return p
}

func (p *process) stop() {
	if !p.ended {
		p.ended = true
		_ = p.cmd.Process.Kill() // it may have ended
		_ = p.cmd.Wait()         // it was killed
	}
}

// Token returns the token of a user.
func (r *Real) Token(user string) string { return r.tokens[user] }

// Send sends a request of a user and returns the answer. It is for what the test does beside
// the code that it tests.
func (r *Real) Send(t testing.TB, user, method, path, kind, body string) (code int, answer []byte) {
	t.Helper()
	code, answer, err := r.send(user, method, path, kind, body)
	if err != nil {
		t.Fatal(err)
	}
	return code, answer
}

func (r *Real) send(user, method, path, kind, body string) (int, []byte, error) {
	answer, err := r.open(context.Background(), user, method, path, kind, body) //nolint:bodyclose // readAll closes it
	if err != nil {
		return 0, nil, err
	}
	raw, err := readAll(answer)
	return answer.StatusCode, raw, err
}

// open sends a request and returns the answer, which is not read yet.
func (r *Real) open(ctx context.Context, user, method, path, kind, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, r.URL+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.tokens[user])
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return r.client.Do(req)
}

func readAll(answer *http.Response) ([]byte, error) {
	defer func() { _ = answer.Body.Close() }() // it was read
	return io.ReadAll(answer.Body)
}

// Ask sends a GET request of "admin". It is for goroutines, which must not end a test.
func (r *Real) Ask(path string) (code int, answer []byte, err error) {
	return r.send("admin", http.MethodGet, path, "", "")
}

// auditLog returns the file with a line for each request.
func (r *Real) auditLog() string { return filepath.Join(r.dir, "audit.log") }

// Audit returns the requests of a user until now, in the order in which they ended.
func (r *Real) Audit(t testing.TB, user string) []Request {
	t.Helper()
	// The server writes a line after the answer. When it has the line of a last request, it has
	// those of the requests that ended before.
	last := "/audit-ends-here-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	r.Send(t, "admin", http.MethodGet, last, "", "")
	var raw []byte
	for range 200 {
		var err error
		if raw, err = os.ReadFile(r.auditLog()); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw, []byte(last)) {
			return readAudit(t, raw, user)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("the server writes no audit log")
	return nil
}

func readAudit(t testing.TB, raw []byte, user string) []Request {
	t.Helper()
	var out []Request
	for line := range bytes.Lines(raw) {
		var e struct {
			Verb, RequestURI string
			User             struct{ Username string }
			ResponseStatus   struct{ Code int }
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if e.User.Username == user {
			path, query, _ := strings.Cut(e.RequestURI, "?")
			out = append(out, Request{e.Verb, path, e.ResponseStatus.Code, strings.Contains("&"+query+"&", "&dryRun=All&")})
		}
	}
	return out
}

// Finalize ends the deletion of a namespace, as the controller of a cluster does when the
// namespace is empty.
func (r *Real) Finalize(t testing.TB, name string) {
	t.Helper()
	path := "/api/v1/namespaces/" + name
	code, raw := r.Send(t, "admin", http.MethodGet, path, "", "")
	if code == http.StatusNotFound {
		return
	}
	body, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	if dig(body, "metadata")["deletionTimestamp"] == nil {
		return
	}
	dig(body, "spec")["finalizers"] = []any{}
	if code, raw := r.Send(t, "admin", http.MethodPut, path+"/finalize", "application/json",
		string(encode(body))); code != http.StatusOK && code != http.StatusConflict && code != http.StatusNotFound {
		t.Fatalf("finalizing %s: %d %s", name, code, raw)
	}
}

// KubectlEnv names the variable that names the program kubectl. Without it, the one beside the
// API server is taken.
const KubectlEnv = "PRCHECK_KUBECTL"

// Kubectl runs kubectl as a user, with the text as its input. It returns what the program
// writes, and whether it ended with success. The test is skipped if there is no kubectl.
func (r *Real) Kubectl(t testing.TB, user, input string, args ...string) (stdout, stderr string, ok bool) {
	t.Helper()
	if !r.HasKubectl() {
		t.Skip(KubectlEnv + " names no kubectl, and there is none beside the API server")
	}
	program := kubectl()
	cmd := exec.Command(program,
		append([]string{"--server", r.URL, "--insecure-skip-tls-verify", "--token", r.tokens[user]}, args...)...)
	var out, trouble bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewBufferString(input), &out, &trouble
	cmd.Env = []string{"HOME=" + r.dir, "TMPDIR=" + r.dir, "PATH=/usr/bin:/bin",
		"KUBECONFIG=" + filepath.Join(r.dir, "none"), "KUBE_EDITOR=" + r.Editor}
	endWithParent(cmd)
	err := cmd.Run()
	return out.String(), trouble.String(), err == nil
}

// HasKubectl reports whether there is a kubectl.
func (r *Real) HasKubectl() bool {
	_, err := os.Stat(kubectl())
	return err == nil
}

// kubectl returns the path of the program.
func kubectl() string {
	if program := os.Getenv(KubectlEnv); program != "" {
		return program
	}
	return filepath.Join(filepath.Dir(os.Getenv(Env)), "kubectl")
}

var (
	kindLine  = regexp.MustCompile(`(?m)^kind: (\S+)$`)
	nameLines = regexp.MustCompile(`(?m)^metadata:\n  name: (\S+)$(?:\n  namespace: (\S+)$)?`)
)

// Apply applies the documents of a YAML file as "admin", as kubectl apply does. It knows
// namespaces, service accounts, cluster roles and their bindings, in block style.
func (r *Real) Apply(t testing.TB, yaml string) {
	t.Helper()
	for doc := range strings.SplitSeq(yaml, "\n---\n") {
		kind, names := kindLine.FindStringSubmatch(doc), nameLines.FindStringSubmatch(doc)
		if kind == nil || names == nil {
			t.Fatalf("a document without kind or name:\n%s", doc)
		}
		path := map[string]string{
			"Namespace": "/api/v1/namespaces/", "ServiceAccount": "/api/v1/namespaces/" + names[2] + "/serviceaccounts/",
			"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles/",
			"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/",
		}[kind[1]]
		code, raw := r.Send(t, "admin", http.MethodPatch, path+names[1]+"?fieldManager=admin&fieldValidation=Strict",
			"application/apply-patch+yaml", doc)
		if path == "" || code != http.StatusOK && code != http.StatusCreated {
			t.Fatalf("applying %s: %d %s", doc, code, raw)
		}
	}
}

// AccountToken returns a new token of a service account, as kubectl create token does, and the
// name of its user.
func (r *Real) AccountToken(t testing.TB, namespace, name string) (token, user string) {
	t.Helper()
	code, raw := r.Send(t, "admin", http.MethodPost, "/api/v1/namespaces/"+namespace+"/serviceaccounts/"+name+"/token",
		"application/json",
		`{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}`)
	var answer struct{ Status struct{ Token string } }
	if err := json.Unmarshal(raw, &answer); err != nil || code != http.StatusCreated || answer.Status.Token == "" {
		t.Fatalf("no token of %s: %d %s", name, code, raw)
	}
	return answer.Status.Token, "system:serviceaccount:" + namespace + ":" + name
}
