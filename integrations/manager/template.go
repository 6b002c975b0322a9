package manager

import (
	"fmt"

	"github.com/app-sre/prcheck/integrations/manager/render"
	"github.com/app-sre/prcheck/reconcile"
)

// readTemplate reads the template of pods of the installation. It returns why nothing can be
// deployed with it, or "".
func (b *builder) readTemplate() string {
	path := b.settings.Template
	if path == "" {
		return ""
	}
	err := fmt.Errorf("%s: there is no such resource, which the settings name as the template of pods", path)
	if b.world.template != nil {
		b.pod, err = render.ParsePodTemplate(path, []byte(*b.world.template))
	}
	if err == nil {
		return ""
	}
	message := err.Error() + ", so nothing is deployed"
	b.tell(reconcile.Finding{Code: codeTemplate, Severity: reconcile.Error, Place: reconcile.Place{File: path}, Message: message})
	return message
}
