package saas

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/saas/jobs"
	"github.com/app-sre/prcheck/plan"
)

// A Model is all that the data say about saas files.
type Model struct {
	Files      []*File // sorted by name
	Apps       map[string]*App
	HashLength int         // of abbreviated commits, for templates that do not say
	Blocks     []BlockRule // image patterns that are blocked in environments
	// Findings are mistakes in the data that hold a file, a template or a target. What they hold
	// is marked, see [Target.Broken], and the rest goes on.
	Findings []plan.Finding

	// orgs are the addresses of the organizations at GitHub; nil if the data do not say any.
	orgs map[string]bool
	// registries are the hosts of registries whose organizations the data name, and quayOrgs these organizations,
	// as HOST/NAME. Both are nil if the data have no such types.
	registries, quayOrgs map[string]bool
	// jobs are the jobs of build servers, by the name of the server; nil if nobody read them, and if
	// nobody needs them or the data define none.
	jobs  map[string]jobs.Jobs
	known types // that the data have
	// unread has, by the name of a channel or [anyChannel], a datafile that cannot be used and may
	// publish it.
	unread     map[string]string
	leaving    map[string][]*Target // publishers that must go, by channel, for [Validate]
	once       sync.Once            // guards publishers
	publishers map[string][]*Target
}

// A File is a saas file.
type File struct {
	Path, Name string
	App        string // name of the app
	// Provider runs its pipelines.
	Provider Provider

	ManagedTypes  []string // kinds, or kind.group, that are deployed
	ManagedNames  []ManagedNames
	ImagePatterns []string
	// Code and Image are the credentials for repositories and registries; nil for none.
	Code, Image *integration.SecretRef

	Parameters         *string // JSON text, nil if there are none
	SecretParameters   []SecretParameter
	AllowedSecretPaths []string

	ValidateTargetsInApp, ValidatePlannedData          bool
	Takeover, Deprecated, Compare, ClusterAdmin        bool
	UseChannelInImageTag, PublishJobLogs, AsksForSlack bool

	Timeout   string // "" if it does not say
	Templates []*Template
	// Broken says why nothing of the file can be used, "" if it can.
	Broken string

	fips bool
}

// ManagedNames are the only names of a kind that are deployed.
type ManagedNames struct {
	Resource string   `json:"resource"`
	Names    []string `json:"resourceNames"`
}

// A Provider runs pipelines.
type Provider struct {
	Path, Name string
	Kind       string // "tekton"
	Template   string // name of the pipeline template of openshift-saas-deploy
	Namespace  Namespace
}

// A Template is a resource template of a saas file.
type Template struct {
	File             *File
	Name, URL, Path  string
	Kind             Kind
	HashLength       int     // 0: that of the model
	Parameters       *string // JSON text
	SecretParameters []SecretParameter
	Targets          []*Target
	Pointer          string // JSON pointer in the file
}

// A Kind says how a template becomes objects.
type Kind string

// The kinds. The data say nothing for the first.
const (
	OpenShift Kind = "openshift-template"
	Directory Kind = "directory"
	Helm      Kind = "helm"
)

// A Target deploys a template to one namespace. A target of the data with a selector of
// namespaces is one Target for each of them.
type Target struct {
	Template         *Template
	Name             *string // nil if it has none
	Namespace        Namespace
	Ref              string // full sha of a commit, or name of a branch
	Promotion        *Promotion
	Parameters       *string // JSON text
	SecretParameters []SecretParameter
	Upstream         *Upstream
	Images           []Image
	SLOs             []*SLODocument
	Disable, Delete  bool

	// Place is where the target stands: in the saas file, or in a file of its own.
	Place    plan.Place
	Selected bool     // it comes from a selector of namespaces
	Selector Selector // see Selected
	// Alike tells that another target of the data has the same template, namespace or selection, and name.
	Alike bool
	// Broken says why the target cannot be used, "" if it can.
	Broken string

	explicit explicit
}

// A Namespace is where a target deploys.
type Namespace struct {
	Path, Name  string
	App         string
	Environment *Environment
	Cluster     *Cluster
}

// An Environment has the parameters of all that is deployed to its namespaces.
type Environment struct {
	Path, Name       string
	Labels           map[string]string
	Parameters       *string // JSON text
	SecretParameters []SecretParameter
}

// A Cluster is where namespaces are.
type Cluster struct {
	Path, Name    string
	ConsoleURL    string
	PrometheusURL string
	Ref           integration.ClusterRef // with the token of the automation
	Admin         *integration.SecretRef // token for saas files with clusterAdmin
	Token         *integration.SecretRef // nil if it has none
	Disabled      []string               // integrations that it disables
	Problem       string                 // why it cannot be used, "" if it can
}

// An App is a service with its repositories.
type App struct {
	Path, Name string
	Parent     string // "" if it has none
	Owners     int    // how many service owners it names
	Roles      int    // how many roles give people a share of it
	// Components are its repositories, by address.
	Components map[string]Component
}

// A Component is a repository of an app.
type Component struct{ Blocked, Hotfix []string }

// A Promotion says how a target takes part in promotions.
type Promotion struct {
	Auto               bool
	Publish, Subscribe []string // names of channels
	SoakDays           int
	Schedule           string // "" if it has none
	Redeploy           bool   // redeployOnPublisherConfigChange
	Data               []ChannelData
}

// ChannelData is what a promotion noted about the publishers of a channel.
type ChannelData struct {
	Channel string
	Parents []ParentConfig // type parent_saas_config
}

// A ParentConfig is the config hash of a publisher when it was promoted.
type ParentConfig struct{ Saas, Hash string }

// An Upstream is a job of a build server.
type Upstream struct {
	Instance, ServerURL, Job string
	Token                    integration.SecretRef
}

// An Image is a repository of images.
type Image struct {
	Registry, Org, Name string // Registry is the host, such as quay.io
}

// A SecretParameter is a parameter whose value is a secret.
type SecretParameter struct {
	Name   string
	Secret integration.SecretRef
	Format string // how the value is written, "" if the data do not say
}

// A BlockRule blocks patterns of images in environments that have all of its labels.
type BlockRule struct {
	Labels   map[string]string
	Patterns []string
}

// An SLODocument says how well a service must run.
type SLODocument struct {
	Path, Name string
	Namespaces []SLONamespace
	SLOs       []SLO
	// Broken says why the document cannot be used, "" if it can.
	Broken string

	content any // as targets remember it
}

// An SLONamespace is where an SLO document is measured.
type SLONamespace struct {
	Cluster, Namespace string
	URL                string                 // of Prometheus
	Token              *integration.SecretRef // nil if it takes a user and a password
	User, Password     *integration.SecretRef
}

// An SLO is one objective: the expression must not be below the target.
type SLO struct {
	Name, Expression, Window string
	Target                   float64
}

// A Cell is what one run deploys: all targets of a saas file in one environment.
type Cell struct {
	File        *File
	Environment string
	Targets     []*Target // in the order of the data; those that are disabled are not among them
}

// Cells returns the cells of all saas files, sorted by key. Those of files that are broken or
// deprecated are among them. Targets that are disabled are left out, and so are cells that have no
// other targets.
func (m *Model) Cells() []Cell {
	var out []Cell
	for _, f := range m.Files {
		at := map[string]int{} // position of the cell of an environment
		for _, t := range f.Templates {
			for _, target := range t.Targets {
				if target.Disable {
					continue
				}
				env := target.Env()
				i, known := at[env]
				if !known {
					i = len(out)
					at[env] = i
					out = append(out, Cell{File: f, Environment: env})
				}
				out[i].Targets = append(out[i].Targets, target)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Cell) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// Publishers returns the targets that publish a channel, in the order of the data. Those that must
// go are left out. The targets must not change after the first call.
func (m *Model) Publishers(channel string) []*Target {
	m.once.Do(func() {
		m.publishers = map[string][]*Target{}
		m.eachTarget(func(t *Target) {
			if t.Promotion == nil || t.Delete {
				return
			}
			for i, c := range t.Promotion.Publish {
				if !slices.Contains(t.Promotion.Publish[:i], c) {
					m.publishers[c] = append(m.publishers[c], t)
				}
			}
		})
	})
	return m.publishers[channel]
}

// Component returns the repository of a target as the app of its saas file describes it: its
// blocked and hotfix versions.
func (m *Model) Component(t *Target) Component {
	app := m.Apps[t.Template.File.App]
	if app == nil {
		return Component{}
	}
	return app.Components[t.Template.URL]
}

// File returns the saas file of a name, nil if there is none or there are two.
func (m *Model) File(name string) *File {
	var out *File
	for _, f := range m.Files {
		if f.Name != name {
			continue
		}
		if out != nil {
			return nil
		}
		out = f
	}
	return out
}

// AllowedSecret reports whether a target may have the value of a secret: its saas file must allow
// the path, and so must the saas file of the same name in base, because a change could allow
// itself anything. Without a change base is nil.
func AllowedSecret(base *Model, t *Target, path string) bool {
	if !allows(t.Template.File.AllowedSecretPaths, path) {
		return false
	}
	if base == nil {
		return true
	}
	f := base.File(t.Template.File.Name)
	return f != nil && allows(f.AllowedSecretPaths, path)
}

// allows reports whether one of some paths of secrets is a path or a folder above it.
func allows(allowed []string, path string) bool {
	if slices.Contains(strings.Split(path, "/"), "..") {
		return false
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return a != "" && (path == a || strings.HasPrefix(path, a+"/"))
	})
}

// sortedKeys returns the keys of a map, sorted.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
