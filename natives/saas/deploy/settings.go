package deploy

import (
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/settings"
)

// OwnSettings are the settings of the native.
type ownSettings struct {
	saas.Settings
	// TakeFieldsFrom are field managers that applied objects before, whose fields become ours.
	TakeFieldsFrom   []string `yaml:"take_fields_from"`
	OverrideManagers []string `yaml:"override_managers"` // that lose the fields in which they differ
	MigrateSelector  bool     `yaml:"migrate_selector"`  // an object whose selector must change is made anew
	// Wait is how long objects may take until they work.
	Wait *time.Duration `yaml:"wait"`
}

// defaultWait is how long objects may take until they work if the settings say nothing.
const defaultWait = 15 * time.Minute

// patience returns how long objects may take until they work.
func (s ownSettings) patience() time.Duration {
	if s.Wait == nil {
		return defaultWait
	}
	return *s.Wait
}

// readSettings reads and checks the settings.
func readSettings(own settings.Own) (ownSettings, error) {
	var s ownSettings
	if err := own.Decode(&s); err != nil {
		return s, err
	}
	if s.Wait != nil && *s.Wait <= 0 {
		return s, own.Mistake("must be longer than 0", "wait")
	}
	return s, s.Check(own)
}
