package settings

import (
	"net/url"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/internal/phrase"
)

// A SecretSource says where native integrations find secrets. At most one of Files, Env and
// Vault is set. The zero value names no source.
type SecretSource struct {
	Files string // absolute path of a folder with a file PATH/FIELD for each secret
	Env   string // what the names of variables begin with, without the underscore behind it
	Vault *Vault
	Line  int // 0 if the settings have no source
}

// A Vault is a server of HashiCorp Vault, with the way to log in there. Exactly one of
// TokenEnv, AppRole and Kubernetes is set.
type Vault struct {
	Server     string // such as https://vault.example.com:8200
	Mount      string // of the KV engine of version 2; "" means that paths begin with their mount
	Namespace  string // of Vault Enterprise; may be empty
	TokenEnv   string // the variable with a token
	AppRole    *AppRole
	Kubernetes *KubernetesLogin
}

// An AppRole logs in to Vault with two values of the environment.
type AppRole struct {
	Mount                  string
	RoleIDEnv, SecretIDEnv string // names of variables
}

// A KubernetesLogin logs in to Vault with the token of a service account.
type KubernetesLogin struct{ Role, Mount, TokenFile string }

// The defaults of logging in to Vault.
const (
	defaultAppRoleMount    = "approle"
	defaultKubernetesMount = "kubernetes"
	defaultTokenFile       = "/var/run/secrets/kubernetes.io/serviceaccount/token" //nolint:gosec // the path of a file
)

// Secrets returns where native integrations find secrets.
func (s *Settings) Secrets() SecretSource { return s.secrets }

// withoutLine returns a copy without the line.
func (s SecretSource) withoutLine() SecretSource {
	s.Line = 0
	return s
}

// readSecrets reads the key secrets.
func (r *reader) readSecrets(n *yaml.Node) SecretSource {
	out := SecretSource{Line: n.Line}
	keys := r.readObject(n, "secrets", "files", "env", "vault")
	r.requireOne(n, keys, "secrets", "files, env or vault")
	if n := keys["files"]; n != nil {
		keys := r.readObject(n, "secrets.files", "folder")
		if r.requireKey(n, keys, "secrets.files", "folder") {
			out.Files = r.readAbsolutePath(keys["folder"], "secrets.files.folder")
		}
	}
	if n := keys["env"]; n != nil {
		keys := r.readObject(n, "secrets.env", "prefix")
		if r.requireKey(n, keys, "secrets.env", "prefix") {
			out.Env = r.readVariableName(keys["prefix"], "secrets.env.prefix")
		}
	}
	if n := keys["vault"]; n != nil {
		out.Vault = r.readVault(n)
	}
	return out
}

// requireOne notes a mistake unless a mapping has exactly one key. choices names the keys.
func (r *reader) requireOne(n *yaml.Node, keys map[string]*yaml.Node, at, choices string) {
	r.note(n, constraint{"minProperties": 1, "maxProperties": 1})
	if n.Kind == yaml.MappingNode && len(keys) != 1 && !r.misspelt[n] {
		r.fail(n.Line, at, "needs exactly one of %s, got %d", choices, len(keys))
	}
}

// readAbsolutePath reads the path of something on this machine. A path that begins at the
// current folder would lead into the working tree, which comes from head.
func (r *reader) readAbsolutePath(n *yaml.Node, at string) string {
	r.note(n, constraint{"pattern": "^/"})
	s, ok := r.readText(n, at)
	if ok && !filepath.IsAbs(s) {
		r.fail(n.Line, at, "%s is not absolute; files of the repository come from the change, so they hold no secrets",
			phrase.Quote(s))
	}
	return s
}

// readVariableName reads the name of a variable, or the beginning of one.
func (r *reader) readVariableName(n *yaml.Node, at string) string {
	r.note(n, constraint{"pattern": envNamePattern.String()})
	s, ok := r.readText(n, at)
	if ok && !envNamePattern.MatchString(s) {
		r.fail(n.Line, at, "%s is no name of a variable: it has letters, digits and _", phrase.Quote(s))
	}
	return s
}

// readVault reads the key secrets.vault.
func (r *reader) readVault(n *yaml.Node) *Vault {
	const at = "secrets.vault"
	out := &Vault{}
	keys := r.readObject(n, at, "server", "mount", "auth", "namespace")
	if r.requireKey(n, keys, at, "server") {
		out.Server = r.readServer(keys["server"], at+".server")
	}
	if n := keys["mount"]; n != nil {
		out.Mount = r.readMount(n, at+".mount")
	}
	if n := keys["namespace"]; n != nil {
		out.Namespace = r.readMount(n, at+".namespace")
	}
	if r.requireKey(n, keys, at, "auth") {
		r.readVaultLogin(keys["auth"], at+".auth", out)
	}
	return out
}

// readServer reads the address of a server to which secrets are sent.
func (r *reader) readServer(n *yaml.Node, at string) string {
	r.note(n, constraint{"pattern": "^https?://"})
	s, ok := r.readText(n, at)
	if !ok {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "":
		r.fail(n.Line, at, "must be an address such as https://vault.example.com:8200, without a path and without a user")
	case u.Scheme != "https" && (u.Scheme != "http" || !origin.IsThisMachine(u.Hostname())):
		r.fail(n.Line, at, "must begin with https://, since secrets are sent there; http:// is allowed for this "+
			"machine alone")
	}
	return strings.TrimRight(s, "/")
}

// readMount reads where an engine of Vault is mounted: names between slashes.
func (r *reader) readMount(n *yaml.Node, at string) string {
	s, ok := r.readText(n, at)
	s = strings.Trim(s, "/")
	if ok && pathProblem(s) != "" {
		r.fail(n.Line, at, "must be names between slashes, such as app-sre")
	}
	return s
}

// readVaultLogin reads the key secrets.vault.auth into a Vault.
func (r *reader) readVaultLogin(n *yaml.Node, at string, to *Vault) {
	keys := r.readObject(n, at, "approle", "kubernetes", "token_env")
	r.requireOne(n, keys, at, "approle, kubernetes or token_env")
	if n := keys["token_env"]; n != nil {
		to.TokenEnv = r.readVariableName(n, at+".token_env")
	}
	if n := keys["approle"]; n != nil {
		at := at + ".approle"
		to.AppRole = &AppRole{Mount: defaultAppRoleMount}
		keys := r.readObject(n, at, "mount", "role_id_env", "secret_id_env")
		if r.requireKey(n, keys, at, "role_id_env") {
			to.AppRole.RoleIDEnv = r.readVariableName(keys["role_id_env"], at+".role_id_env")
		}
		if r.requireKey(n, keys, at, "secret_id_env") {
			to.AppRole.SecretIDEnv = r.readVariableName(keys["secret_id_env"], at+".secret_id_env")
		}
		if n := keys["mount"]; n != nil {
			to.AppRole.Mount = r.readMount(n, at+".mount")
		}
	}
	if n := keys["kubernetes"]; n != nil {
		to.Kubernetes = r.readKubernetesLogin(n, at+".kubernetes")
	}
}

// readKubernetesLogin reads the key secrets.vault.auth.kubernetes.
func (r *reader) readKubernetesLogin(n *yaml.Node, at string) *KubernetesLogin {
	out := &KubernetesLogin{Mount: defaultKubernetesMount, TokenFile: defaultTokenFile}
	keys := r.readObject(n, at, "role", "mount", "token_file")
	if r.requireKey(n, keys, at, "role") {
		out.Role, _ = r.readText(keys["role"], at+".role")
	}
	if n := keys["mount"]; n != nil {
		out.Mount = r.readMount(n, at+".mount")
	}
	if n := keys["token_file"]; n != nil {
		out.TokenFile = r.readAbsolutePath(n, at+".token_file")
	}
	return out
}
