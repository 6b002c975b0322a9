package promotions

import (
	"path"
	"strings"
	"time"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/origin"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/promotion"
	"github.com/app-sre/prcheck/settings"
)

// OwnSettings are what the settings of the integration say; doc.go explains them.
type ownSettings struct {
	saas.Settings
	Forge     forgeSettings  `yaml:"forge"`
	Folder    string         `yaml:"folder"`
	Branch    string         `yaml:"branch"`
	Labels    []string       `yaml:"labels"`
	Note      string         `yaml:"note"`
	AutoMerge bool           `yaml:"auto_merge"`
	Candidate promotion.Rule `yaml:"candidate"`
	Patience  time.Duration  `yaml:"patience"`
	// RetryAfter is after how long contents whose checks failed are tried once more; 0 is never.
	RetryAfter time.Duration `yaml:"retry_after"`
	// Retry are digests of contents that are tried again though their checks failed.
	Retry []string `yaml:"retry"`
	// Notify says where what happened is told.
	Notify notifySettings `yaml:"notify"`
}

type forgeSettings struct {
	URL     string `yaml:"url"`
	Project string `yaml:"project"`
	Token   struct {
		Path    string `yaml:"path"`
		Field   string `yaml:"field"`
		Version string `yaml:"version"`
	} `yaml:"token"`
}

// token returns where the token of the forge is.
func (f forgeSettings) token() integration.SecretRef {
	return integration.SecretRef{Path: f.Token.Path, Field: f.Token.Field, Version: f.Token.Version}
}

// defaultPatience is how long an open merge request is not changed for something newer.
const defaultPatience = time.Hour

// defaultRetryAfter is after how long contents whose checks failed are tried once more.
const defaultRetryAfter = 24 * time.Hour

// readSettings reads the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	s := ownSettings{Branch: "main", Patience: defaultPatience, RetryAfter: defaultRetryAfter}
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	if err := s.Check(own); err != nil {
		return s, err
	}
	if s.Forge.URL != "" {
		if _, err := origin.Server(s.Forge.URL); err != nil {
			return s, own.Mistake("must be the address of GitLab, such as https://gitlab.example.com", "forge", "url")
		}
	}
	if what, where := s.Notify.mistake(); what != "" {
		return s, own.Mistake(what, where...)
	}
	switch {
	case strings.Trim(s.Forge.Project, "/") != s.Forge.Project,
		s.Forge.Project != "" && !strings.Contains(s.Forge.Project, "/"):
		return s, own.Mistake("must be the path of a project, such as group/project", "forge", "project")
	case s.Folder != "" && path.Clean(s.Folder) != s.Folder, strings.HasPrefix(s.Folder, "/"),
		strings.HasPrefix(s.Folder, ".."):
		return s, own.Mistake("must be a folder of the project, such as data", "folder")
	case s.Branch == "" || strings.HasPrefix(s.Branch, promotion.BranchPrefix):
		return s, own.Mistake("must be the branch that merge requests are for, such as main", "branch")
	case s.Patience < 0:
		return s, own.Mistake("must not be negative", "patience")
	case s.RetryAfter < 0:
		return s, own.Mistake("must not be negative; 0 is never", "retry_after")
	}
	return s, nil
}

// inProject returns the path of a datafile in the project.
func (s ownSettings) inProject(file string) string {
	return strings.TrimPrefix(path.Join(s.Folder, path.Clean("/"+file)), "/")
}
