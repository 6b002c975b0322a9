package manager

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration/sharding"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/settings"
)

// OwnSettings are the settings of the manager. The table of doc.go says what they mean.
type ownSettings struct {
	Upstream         string              `yaml:"upstream"`
	Environment      string              `yaml:"environment"`
	Mode             mode                `yaml:"mode"`
	Template         string              `yaml:"template"`
	ExcludeService   bool                `yaml:"exclude_service"`
	GovSlack         bool                `yaml:"gov_slack"`
	Image            string              `yaml:"image"`
	ImageTagFromRef  map[string]string   `yaml:"image_tag_from_ref"`
	GitHub           gitHub              `yaml:"github"`
	PassEnv          []string            `yaml:"pass_env"`
	Options          map[string][]string `yaml:"options"`
	Canary           map[string][]string `yaml:"canary"`
	Delete           []string            `yaml:"delete"`
	LeftBehind       leftBehind          `yaml:"left_behind"`
	MigrateSelector  bool                `yaml:"migrate_selector"`
	OverrideManagers []string            `yaml:"override_managers"`
	TakeFieldsFrom   []string            `yaml:"take_fields_from"`
	Wait             *time.Duration      `yaml:"wait"`
	Natives          natives             `yaml:"natives"`
}

// GitHub says where refs become commits.
type gitHub struct {
	URL   string    `yaml:"url"`
	Token *tokenRef `yaml:"token"` // nil: requests have no token
}

// A tokenRef names the secret with the token.
type tokenRef struct {
	Path    string `yaml:"path"`
	Field   string `yaml:"field"`
	Version string `yaml:"version"`
}

// Natives are the integrations that run as natives of prcheck.
type natives struct {
	Image string   `yaml:"image"`
	Names []string `yaml:"names"`
	Args  []string `yaml:"args"`
}

// A mode says how objects look.
type mode string

// The modes. Default is the zero value.
const (
	modeDefault mode = ""
	modeParity  mode = "parity"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (m *mode) UnmarshalText(text []byte) error {
	switch string(text) {
	case "default":
		*m = modeDefault
	case "parity":
		*m = modeParity
	default:
		return fmt.Errorf("must be default or parity, got %.40q", text)
	}
	return nil
}

// A leftBehind says what becomes of the objects of namespaces that no entry names any more.
type leftBehind string

// What can be done. Report is the zero value.
const (
	leftReport leftBehind = ""
	leftDelete leftBehind = "delete"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (l *leftBehind) UnmarshalText(text []byte) error {
	switch string(text) {
	case "report":
		*l = leftReport
	case "delete":
		*l = leftDelete
	default:
		return fmt.Errorf("must be report or delete, got %.40q", text)
	}
	return nil
}

// defaultSettings returns the settings of an installation that says nothing.
func defaultSettings() ownSettings {
	return ownSettings{GitHub: gitHub{URL: "https://api.github.com"}}
}

// readSettings reads and checks the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	s := defaultSettings()
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	return s, s.check(own)
}

// check returns the first mistake that the types of the settings do not show.
func (s ownSettings) check(own settings.Own) error {
	if s.Template != "" && !strings.HasPrefix(s.Template, "/") {
		return own.Mistake("must be the path of a resource, such as /manager/pod.yaml", "template")
	}
	if message := s.GitHub.checkURL(); message != "" {
		return own.Mistake(message, "github", "url")
	}
	if t := s.GitHub.Token; t != nil && (t.Path == "" || t.Field == "") {
		return own.Mistake("must have a path and a field", "github", "token")
	}
	for environment, ref := range s.ImageTagFromRef {
		if message := checkRef(ref); message != "" {
			return own.Mistake(message, "image_tag_from_ref", environment)
		}
	}
	if s.Wait != nil && *s.Wait <= 0 {
		return own.Mistake("must be more than nothing; leave it out to wait for canaries alone", "wait")
	}
	if len(s.Natives.Names) > 0 && s.Natives.Image == "" {
		return own.Mistake("must name the image of prcheck", "natives", "image")
	}
	return s.checkLists(own)
}

// checkURL returns what is wrong with the address of GitHub, or "".
func (g gitHub) checkURL() string {
	if u, err := url.Parse(g.URL); err == nil && u.Scheme == "http" && !origin.IsThisMachine(u.Hostname()) {
		return "must begin with https://, since commits that run, and a token, come and go there; http:// is allowed for " +
			"this machine alone"
	}
	if _, err := origin.Server(g.URL); err != nil {
		return "must be an address, such as https://api.github.com"
	}
	return ""
}

// checkLists returns the first mistake in the lists of the settings.
func (s ownSettings) checkLists(own settings.Own) error {
	for i, name := range s.PassEnv {
		if name == "" || strings.ContainsAny(name, "${}= ") {
			return own.Mistake("must be the name of a variable, such as IMAGE_TAG", "pass_env", fmt.Sprint(i))
		}
	}
	for i, key := range s.Delete {
		if at := strings.LastIndexByte(key, '/'); at < 1 || at == len(key)-1 {
			return own.Mistake("must be cluster/namespace", "delete", fmt.Sprint(i))
		}
	}
	for name, options := range s.Options {
		for i, option := range options {
			if !strings.HasPrefix(option, "--") {
				return own.Mistake("must be an option such as --account-name", "options", name, fmt.Sprint(i))
			}
		}
	}
	return nil
}

// optionsOf returns the options that the command of an integration has. One that the settings
// do not list has those of all strategies.
func (s ownSettings) optionsOf(name string) []string {
	if options, isListed := s.Options[name]; isListed {
		return options
	}
	var all []string
	for _, by := range []settings.Strategy{settings.PerAWSAccount, settings.PerOpenShiftCluster,
		settings.PerOCMOrganization} {
		all = append(all, sharding.KeyOption(by))
	}
	return all
}

// isNative reports whether an integration runs as a native of prcheck.
func (s ownSettings) isNative(name string) bool { return slices.Contains(s.Natives.Names, name) }
