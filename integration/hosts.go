package integration

import (
	"context"

	"github.com/app-sre/prcheck/settings"
)

// A HostUser is a native integration that asks hosts which the data name, and whose settings say which of
// them get credentials.
type HostUser interface {
	// UsesHosts returns the hosts that the data name and those that the settings name, sorted.
	UsesHosts(ctx context.Context, query QueryFunc, it settings.Integration) ([]HostUse, error)
}

// A HostUse is a host that the data or the settings of a native name.
type HostUse struct {
	Host string // in lower case, with a port that is not the usual one
	For  string // what the data name it for, such as "repositories"; "" if they do not
	// Missing says what does not work because the settings do not name the host, "" for nothing.
	Missing string
}
