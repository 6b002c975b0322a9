package kubetest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

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
