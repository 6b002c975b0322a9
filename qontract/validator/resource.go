package validator

import (
	"github.com/app-sre/prcheck/qontract/bundle"
)

// checkResource checks a resource that names a schema. A resource that is not a YAML
// mapping is ignored: it is usually a template.
func (c *checker) checkResource(f *bundle.File) []Finding {
	if f.Schema == "" {
		return nil
	}
	v, err := fromYAML(f.Decode().String("content"))
	o, ok := v.(*bundle.Object)
	if err != nil || !ok {
		return nil
	}
	_, found := c.checkFile(Finding{Section: Resources, Path: f.Path}, o)
	return found
}
