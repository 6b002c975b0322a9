package saas

import (
	"encoding/json"
	"fmt"

	"github.com/app-sre/prcheck/integration"
)

// The types of answers. A pointer is nil if the data do not have the field, or its type does not.

// A pathAnswer names a datafile.
type pathAnswer struct {
	Path string `json:"path"`
}

// A secretAnswer is a reference to a secret.
type secretAnswer struct {
	Path    string       `json:"path"`
	Field   string       `json:"field"`
	Format  *string      `json:"format,omitempty"`
	Version *json.Number `json:"version,omitempty"`
}

// ref returns the reference, nil if there is none.
func (a *secretAnswer) ref() *integration.SecretRef {
	if a == nil {
		return nil
	}
	out := &integration.SecretRef{Path: a.Path, Field: a.Field}
	if a.Version != nil {
		out.Version = a.Version.String()
	}
	return out
}

// A secretsAnswer is parameters that are secrets.
type secretsAnswer []struct {
	Name   string       `json:"name"`
	Secret secretAnswer `json:"secret"`
}

// list returns the parameters, nil if the data have no list.
func (a secretsAnswer) list() []SecretParameter {
	if a == nil {
		return nil
	}
	out := []SecretParameter{}
	for _, p := range a {
		out = append(out, SecretParameter{Name: p.Name, Secret: *p.Secret.ref(), Format: value(p.Secret.Format)})
	}
	return out
}

// value returns what a pointer points to, or the zero value.
func value[V any](p *V) V {
	var out V
	if p != nil {
		out = *p
	}
	return out
}

type fileAnswer struct {
	Path                 string            `json:"path"`
	Name                 string            `json:"name"`
	App                  pathAnswer        `json:"app"`
	Provider             pathAnswer        `json:"pipelinesProvider"`
	ManagedTypes         []string          `json:"managedResourceTypes"`
	ManagedNames         []ManagedNames    `json:"managedResourceNames,omitempty"`
	ImagePatterns        []string          `json:"imagePatterns"`
	Authentication       *authAnswer       `json:"authentication,omitempty"`
	Parameters           *string           `json:"parameters,omitempty"`
	SecretParameters     secretsAnswer     `json:"secretParameters,omitempty"`
	AllowedSecretPaths   []string          `json:"allowedSecretParameterPaths,omitempty"`
	ValidateTargetsInApp *bool             `json:"validateTargetsInApp,omitempty"`
	ValidatePlannedData  *bool             `json:"validatePlannedData,omitempty"`
	Takeover             *bool             `json:"takeover,omitempty"`
	Deprecated           *bool             `json:"deprecated,omitempty"`
	Compare              *bool             `json:"compare,omitempty"`
	ClusterAdmin         *bool             `json:"clusterAdmin,omitempty"`
	PublishJobLogs       *bool             `json:"publishJobLogs,omitempty"`
	UseChannel           *bool             `json:"use_channel_in_image_tag,omitempty"`
	Timeout              *string           `json:"timeout,omitempty"`
	Slack                *struct{}         `json:"slack,omitempty"`
	Templates            []*templateAnswer `json:"resourceTemplates"`
}

// missing returns the name of a field that a saas file needs and that the answer does not have.
func (a *fileAnswer) missing() string {
	switch {
	case a.Name == "":
		return "name"
	case a.App.Path == "":
		return "app"
	case a.Provider.Path == "":
		return "pipelinesProvider"
	case a.ManagedTypes == nil:
		return "managedResourceTypes"
	case a.ImagePatterns == nil:
		return "imagePatterns"
	case a.Templates == nil:
		return "resourceTemplates"
	}
	for i, t := range a.Templates {
		if t == nil || t.Name == "" || t.URL == "" || t.Path == "" || t.Targets == nil {
			return fmt.Sprintf("name, url, path or targets of resourceTemplates[%d]", i)
		}
		for j, target := range t.Targets {
			if target == nil || target.Ref == "" {
				return fmt.Sprintf("ref of resourceTemplates[%d].targets[%d]", i, j)
			}
		}
	}
	return ""
}

type authAnswer struct {
	Code  *secretAnswer `json:"code,omitempty"`
	Image *secretAnswer `json:"image,omitempty"`
}

type templateAnswer struct {
	Name             string          `json:"name"`
	URL              string          `json:"url"`
	Path             string          `json:"path"`
	Provider         *string         `json:"provider,omitempty"`
	HashLength       *int            `json:"hash_length,omitempty"`
	Parameters       *string         `json:"parameters,omitempty"`
	SecretParameters secretsAnswer   `json:"secretParameters,omitempty"`
	Targets          []*targetAnswer `json:"targets"`
}

type targetAnswer struct {
	Path             *string          `json:"path,omitempty"` // of a target in a file of its own
	Name             *string          `json:"name,omitempty"`
	Provider         *string          `json:"provider,omitempty"`
	Namespace        *pathAnswer      `json:"namespace,omitempty"`
	Selector         *selectorAnswer  `json:"namespaceSelector,omitempty"`
	Ref              string           `json:"ref"`
	Promotion        *promotionAnswer `json:"promotion,omitempty"`
	Parameters       *string          `json:"parameters,omitempty"`
	SecretParameters secretsAnswer    `json:"secretParameters,omitempty"`
	Upstream         *upstreamAnswer  `json:"upstream,omitempty"`
	Images           []imageAnswer    `json:"images,omitempty"`
	SLOs             []pathAnswer     `json:"slos,omitempty"`
	Disable          *bool            `json:"disable,omitempty"`
	Delete           *bool            `json:"delete,omitempty"`
}

type selectorAnswer struct {
	Paths struct {
		Include []string `json:"include"`
		Exclude []string `json:"exclude,omitempty"`
	} `json:"jsonPathSelectors"`
}

type promotionAnswer struct {
	Auto      *bool    `json:"auto,omitempty"`
	Publish   []string `json:"publish,omitempty"`
	Subscribe []string `json:"subscribe,omitempty"`
	Redeploy  *bool    `json:"redeployOnPublisherConfigChange,omitempty"`
	SoakDays  *int     `json:"soakDays,omitempty"`
	Schedule  *string  `json:"schedule,omitempty"`
	Data      []struct {
		Channel *string `json:"channel,omitempty"`
		Data    []struct {
			Type string  `json:"type"`
			Saas *string `json:"parent_saas,omitempty"`
			Hash *string `json:"target_config_hash,omitempty"`
		} `json:"data,omitempty"`
	} `json:"promotion_data,omitempty"`
}

// promotion returns the promotion of a target, nil if it has none.
func (a *promotionAnswer) promotion() *Promotion {
	if a == nil {
		return nil
	}
	p := &Promotion{Auto: value(a.Auto), Publish: a.Publish, Subscribe: a.Subscribe, SoakDays: value(a.SoakDays),
		Schedule: value(a.Schedule), Redeploy: value(a.Redeploy)}
	if a.Data != nil {
		p.Data = []ChannelData{}
	}
	for _, of := range a.Data {
		d := ChannelData{Channel: value(of.Channel)}
		if of.Data != nil {
			d.Parents = []ParentConfig{}
		}
		for _, parent := range of.Data {
			if parent.Type == parentType {
				d.Parents = append(d.Parents, ParentConfig{Saas: value(parent.Saas), Hash: value(parent.Hash)})
			}
		}
		p.Data = append(p.Data, d)
	}
	return p
}

type upstreamAnswer struct {
	Name     string `json:"name"`
	Instance struct {
		Name      string       `json:"name"`
		ServerURL string       `json:"serverUrl"`
		Token     secretAnswer `json:"token"`
	} `json:"instance"`
}

type imageAnswer struct {
	Name string `json:"name"`
	Org  struct {
		Name     string `json:"name"`
		Instance struct {
			URL string `json:"url"`
		} `json:"instance"`
	} `json:"org"`
}

type appAnswer struct {
	Path       string          `json:"path"`
	Name       string          `json:"name"`
	Labels     *string         `json:"labels,omitempty"`
	Parent     *nameAnswer     `json:"parentApp,omitempty"`
	Owners     []nameAnswer    `json:"serviceOwners,omitempty"`
	Roles      []pathAnswer    `json:"selfServiceRoles,omitempty"`
	Components []codeComponent `json:"codeComponents,omitempty"`
}

type nameAnswer struct {
	Name string `json:"name"`
}

type registryAnswer struct {
	URL string `json:"url"`
}

type quayOrgAnswer struct {
	Name     string         `json:"name"`
	Instance registryAnswer `json:"instance"`
}

type codeComponent struct {
	URL     string   `json:"url"`
	Blocked []string `json:"blockedVersions,omitempty"`
	Hotfix  []string `json:"hotfixVersions,omitempty"`
}

type environmentAnswer struct {
	Path             string        `json:"path"`
	Name             string        `json:"name"`
	Labels           *string       `json:"labels,omitempty"`
	Parameters       *string       `json:"parameters,omitempty"`
	SecretParameters secretsAnswer `json:"secretParameters,omitempty"`
}

type clusterAnswer struct {
	Path          string        `json:"path"`
	Name          string        `json:"name"`
	ServerURL     string        `json:"serverUrl"`
	ConsoleURL    *string       `json:"consoleUrl,omitempty"`
	PrometheusURL *string       `json:"prometheusUrl,omitempty"`
	Insecure      *bool         `json:"insecureSkipTLSVerify,omitempty"`
	Internal      *bool         `json:"internal,omitempty"`
	Token         *secretAnswer `json:"automationToken,omitempty"`
	Admin         *secretAnswer `json:"clusterAdminAutomationToken,omitempty"`
	JumpHost      *struct{}     `json:"jumpHost,omitempty"`
	Disable       *struct {
		Integrations []string `json:"integrations,omitempty"`
	} `json:"disable,omitempty"`
}

type namespaceAnswer struct {
	Path        string     `json:"path"`
	Name        string     `json:"name"`
	Labels      *string    `json:"labels,omitempty"`
	Delete      *bool      `json:"delete,omitempty"`
	App         pathAnswer `json:"app"`
	Environment pathAnswer `json:"environment"`
	Cluster     pathAnswer `json:"cluster"`
	Skupper     *struct {
		Delete *bool `json:"delete,omitempty"`
	} `json:"skupperSite,omitempty"`
}

type pipelineTemplates struct {
	Deploy nameAnswer `json:"openshiftSaasDeploy"`
}

type providerAnswer struct {
	Path      string      `json:"path"`
	Name      string      `json:"name"`
	Provider  string      `json:"provider"`
	Namespace *pathAnswer `json:"namespace,omitempty"`
	Defaults  *struct {
		Templates pipelineTemplates `json:"pipelineTemplates"`
	} `json:"defaults,omitempty"`
	Templates *pipelineTemplates `json:"pipelineTemplates,omitempty"`
}

type sloAnswer struct {
	Path       string               `json:"path"`
	Name       string               `json:"name"`
	Namespaces []sloNamespaceAnswer `json:"namespaces"`
	SLOs       []struct {
		Name       string      `json:"name"`
		Expression string      `json:"expr"`
		Target     json.Number `json:"SLOTarget"`
		Parameters struct {
			Window string `json:"window"`
		} `json:"SLOParameters"`
	} `json:"slos,omitempty"`
}

type sloNamespaceAnswer struct {
	Namespace struct {
		Name    string `json:"name"`
		Cluster struct {
			Name          string        `json:"name"`
			PrometheusURL *string       `json:"prometheusUrl,omitempty"`
			Token         *secretAnswer `json:"automationToken,omitempty"`
		} `json:"cluster"`
	} `json:"namespace"`
	SLONamespace *nameAnswer `json:"SLONamespace,omitempty"`
	Access       *struct {
		URL      string        `json:"url"`
		User     *secretAnswer `json:"username,omitempty"`
		Password *secretAnswer `json:"password,omitempty"`
	} `json:"prometheusAccess,omitempty"`
}

type orgAnswer struct {
	Path string `json:"path"`
	Name string `json:"name"`
	URL  string `json:"url"`
}

type settingsAnswer struct {
	Path       string `json:"path"`
	HashLength int    `json:"hashLength"`
	Blocks     []struct {
		Labels   string   `json:"environmentLabelSelector"`
		Patterns []string `json:"imagePatterns"`
	} `json:"imagePatternsBlockRules,omitempty"`
}
