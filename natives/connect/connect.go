package connect

import (
	"strings"

	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives"
	"github.com/app-sre/prcheck/natives/saas/deploy"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/promotions"
	"github.com/app-sre/prcheck/natives/systems/builds"
	"github.com/app-sre/prcheck/natives/systems/helm"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
	"github.com/app-sre/prcheck/natives/systems/measurements"
	"github.com/app-sre/prcheck/natives/systems/notices"
	"github.com/app-sre/prcheck/natives/systems/registry"
	"github.com/app-sre/prcheck/natives/systems/repositories"
)

// Services returns clients that read the services. It asks nobody. The natives that get them keep files until they are
// closed: see [integration.Close].
func Services() natives.Services {
	code, api := repositories.New(), &jsonapi.Client{}
	images, slos := registry.New(), measurements.New(api)
	out := natives.Services{
		Deploy:     deploy.Services{Repositories: code, Registry: images},
		Pipelines:  pipelines.Services{Repositories: code, Registry: images, Builds: builds.New(api), Measurements: slos},
		Promotions: promotions.Services{Repositories: code, Measurements: slos},
	}
	if program, ok := helm.Find(); ok {
		out.Deploy.Helm = program.Template
	}
	return out
}

// ActingServices are Services with the forge in which natives open merge requests.
func ActingServices() natives.Services {
	out := Services()
	out.Promotions.Notices = notices.Sender{}
	out.Promotions.Forge = func(at promotions.Project) (services.ForgeWriter, error) {
		return ci.NewForge(ci.Options{API: strings.TrimSuffix(at.URL, "/") + "/api/v4", Token: ci.Token{Value: at.Token}},
			at.Path)
	}
	return out
}
