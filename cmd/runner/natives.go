package main

import (
	"strings"

	"github.com/app-sre/prcheck/change"
	"github.com/app-sre/prcheck/ci"
	"github.com/app-sre/prcheck/integration/services"
	"github.com/app-sre/prcheck/natives/saas/deploy"
	"github.com/app-sre/prcheck/natives/saas/pipelines"
	"github.com/app-sre/prcheck/natives/saas/promotions"
	"github.com/app-sre/prcheck/natives/systems/builds"
	"github.com/app-sre/prcheck/natives/systems/helm"
	"github.com/app-sre/prcheck/natives/systems/jsonapi"
	"github.com/app-sre/prcheck/natives/systems/measurements"
	"github.com/app-sre/prcheck/natives/systems/registry"
	"github.com/app-sre/prcheck/natives/systems/repositories"
)

// openServices returns the services that native integrations ask, and what removes the files that
// they keep. It asks nobody.
func openServices() (change.Services, func() error) {
	code, api := repositories.New(), &jsonapi.Client{}
	images, slos := registry.New(), measurements.New(api)
	out := change.Services{
		Deploy:    deploy.Services{Repositories: code, Registry: images},
		Pipelines: pipelines.Services{Repositories: code, Registry: images, Builds: builds.New(api), Measurements: slos},
		Promotions: promotions.Services{Repositories: code, Measurements: slos, Forge: func(at promotions.Project) (services.ForgeWriter, error) {
			return ci.NewForge(ci.Options{API: strings.TrimSuffix(at.URL, "/") + "/api/v4", Token: ci.Token{Value: at.Token}}, at.Path)
		}},
	}
	if program, ok := helm.Find(); ok {
		out.Deploy.Helm = program.Template
	}
	return out, code.Close
}
