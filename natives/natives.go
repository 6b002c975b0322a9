package natives

import (
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic"
	"github.com/app-sre/prcheck/natives/manager"
	"github.com/app-sre/prcheck/natives/namespaces"
	"github.com/app-sre/prcheck/natives/saas/deploy"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/promotions"
)

// Services are what native integrations ask beside clusters, buckets and APIs. The zero value is
// for programs that only plan; see package natives/connect for the others.
type Services struct {
	Deploy     deploy.Services
	Pipelines  pipelines.Services
	Promotions promotions.Services
}

// List returns the natives of prcheck. Each runs only for the definitions of its name, and for
// those to which the settings bind it.
func List(s Services) []integration.Native {
	return []integration.Native{
		generic.New(), manager.New(), namespaces.New(), deploy.New(s.Deploy), pipelines.New(s.Pipelines),
		promotions.New(s.Promotions),
	}
}
