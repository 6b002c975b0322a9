package manager

import (
	"fmt"

	"github.com/app-sre/prcheck/natives/manager/render"
	"github.com/app-sre/prcheck/plan"
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
	all := []error{err}
	if many, ok := err.(interface{ Unwrap() []error }); ok { // joined mistakes are told one by one
		all = many.Unwrap()
	}
	for _, one := range all {
		b.tell(plan.Finding{Code: codeTemplate, Severity: plan.SeverityError, Place: plan.Place{File: path},
			Message: one.Error() + "; nothing is deployed until the template of pods is correct"})
	}
	return "the template of pods " + path + " has mistakes"
}
