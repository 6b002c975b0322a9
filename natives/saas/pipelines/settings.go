package pipelines

import (
	"fmt"
	"strings"
	"time"

	"github.com/app-sre/prcheck/internal/lazyregexp"
	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/pipelines/executor"
	"github.com/app-sre/prcheck/settings"
)

// OwnSettings are what the settings of the integration say; doc.go explains them.
type ownSettings struct {
	saas.Settings
	Executor   executorKind         `yaml:"executor"`
	Native     executor.JobSettings `yaml:"native"`
	Trace      bool                 `yaml:"trace"`
	Repository string               `yaml:"repository"`
	Retry      any                  `yaml:"retry"`
	TakeOver   *bool                `yaml:"take_over"`

	max     int
	backoff time.Duration
	again   []string // fingerprints
}

// An executorKind says what runs cells.
type executorKind string

// The kinds of executors. Tekton is the zero value.
const (
	tekton executorKind = ""
	jobs   executorKind = "native"
)

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *executorKind) UnmarshalText(text []byte) error {
	switch string(text) {
	case "tekton":
		*k = tekton
	case "native":
		*k = jobs
	default:
		return fmt.Errorf("must be tekton or native, got %.40q", text)
	}
	return nil
}

// readSettings reads the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	var s ownSettings
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	if err := s.Check(own); err != nil {
		return s, err
	}
	if s.Executor == jobs && s.Native.Image == "" {
		return s, own.Mistake("is required: the image with the program runner, since executor is native", "native", "image")
	}
	if s.Trace && s.Repository == "" {
		return s, own.Mistake("is required with trace: the address of the data, which runs get as their reason", "repository")
	}
	s.Repository = strings.TrimSuffix(s.Repository, "/")
	return s, s.readRetry(own)
}

// fingerprint matches the fingerprint of a run.
var fingerprint = lazyregexp.New(`^[0-9a-f]{16}$`)

// readRetry reads the key retry: a fingerprint, some of them, or a mapping.
func (s *ownSettings) readRetry(own settings.Own) error {
	switch v := s.Retry.(type) {
	case nil:
		return nil
	case map[string]any:
		return s.readPolicy(own, v)
	case []any:
		return s.readAgain(own, v, "retry")
	default:
		return s.readAgain(own, []any{v}, "retry")
	}
}

// readAgain reads fingerprints.
func (s *ownSettings) readAgain(own settings.Own, list []any, path ...string) error {
	for _, v := range list {
		text, ok := v.(string)
		if !ok || !fingerprint.MatchString(text) {
			return own.Mistake(fmt.Sprintf("must be a fingerprint, 16 hexadecimal digits in quotes, or a mapping with max, "+
				"backoff and fingerprints; got %.40q", fmt.Sprint(v)), path...)
		}
		s.again = append(s.again, text)
	}
	return nil
}

// maxTries is the largest number of runs of one fingerprint.
const maxTries = 100

// readPolicy reads the mapping of the key retry.
func (s *ownSettings) readPolicy(own settings.Own, policy map[string]any) error {
	for key, v := range policy {
		switch key {
		case "max":
			n, ok := v.(int)
			if !ok || n < 1 || n > maxTries {
				return own.Mistake(fmt.Sprintf("must be a number from 1 to %d: how often one fingerprint may run", maxTries),
					"retry", key)
			}
			s.max = n
		case "backoff":
			text, _ := v.(string)
			d, err := time.ParseDuration(text)
			if err != nil || d < 0 {
				return own.Mistake("must be a duration such as 10m", "retry", key)
			}
			s.backoff = d
		case "fingerprints":
			list, ok := v.([]any)
			if !ok {
				return own.Mistake("must be a list of fingerprints", "retry", key)
			}
			if err := s.readAgain(own, list, "retry", key); err != nil {
				return err
			}
		default:
			return own.Mistake("is not known; retry has max, backoff and fingerprints", "retry", key)
		}
	}
	return nil
}

// takesOver reports whether what the four integrations remember is read.
func (s ownSettings) takesOver() bool { return s.Records != "" && (s.TakeOver == nil || *s.TakeOver) }
