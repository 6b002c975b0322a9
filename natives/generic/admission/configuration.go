package admission

import (
	_ "embed" // for the configuration
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
)

//go:embed configuration.yaml
var configuration string

// A Configuration says how an API server reaches the webhook.
type Configuration struct {
	// URL is https://HOST[:PORT], or Service is NAMESPACE/NAME of a service with the port 443.
	URL, Service string
	CA           []byte // certificates in PEM that the API server is to trust; nil: its own
	Failure      string // Fail or Ignore: what happens when the webhook does not answer
}

var (
	errOneOf = errors.New("name either a service, as NAMESPACE/NAME, or an https URL")
	errURL   = errors.New("the URL must be https://HOST or https://HOST:PORT")
)

// Write writes the CustomResourceDefinition and the ValidatingWebhookConfiguration, as YAML.
func (c Configuration) Write(w io.Writer) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	if c.Failure == "" {
		c.Failure = "Fail"
	}
	if !slices.Contains([]string{"Fail", "Ignore"}, c.Failure) {
		return fmt.Errorf("the failure policy is %q; it must be Fail or Ignore", c.Failure)
	}
	_, err = strings.NewReplacer("CLIENT_CONFIG", client, "FAILURE_POLICY", c.Failure).WriteString(w, configuration)
	return err
}

// client returns how the API server reaches the webhook, as JSON, which is YAML.
func (c Configuration) client() (string, error) {
	out := map[string]any{}
	namespace, name, isService := strings.Cut(c.Service, "/")
	switch {
	case (c.URL == "") == (c.Service == ""),
		c.Service != "" && (!isService || namespace == "" || name == "" || strings.Contains(name, "/")):
		return "", errOneOf
	case c.URL != "":
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.Path != "" && u.Path != "/" ||
			u.RawQuery != "" || u.Fragment != "" {
			return "", errURL
		}
		out["url"] = "https://" + u.Host + "/validate"
	default:
		out["service"] = map[string]any{"namespace": namespace, "name": name, "path": "/validate", "port": 443}
	}
	if c.CA != nil {
		out["caBundle"] = c.CA // as base64
	}
	raw, err := marshal(out)
	return strings.TrimSpace(string(raw)), err
}
