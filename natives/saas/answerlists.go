package saas

import "encoding/json"

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
