package plan

import "fmt"

// CheckBundle returns an error unless a bundle with this sha256 is the bundle that the
// plan was made from. The error calls the bundle by the given name.
func (s Side) CheckBundle(name, sha256 string) error {
	if sha256 == s.SHA256 {
		return nil
	}
	return fmt.Errorf("bundle %q is not the one of the plan: its sha256 is %s, the plan's %s", name, sha256, s.SHA256)
}
