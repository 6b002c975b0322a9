package manager

import (
	"testing"
)

// Data that may hide what they want delete nothing.
func TestHiddenWishes(t *testing.T) {
	for name, breakIt := range map[string]func(s *scene){
		// Queries answer null for each field of a spec that is no object.
		"a spec that is a number": func(s *scene) { s.entry(terraformFile, 0)["spec"] = 5 },
		"an entry that must go beside an integration with a mistake": func(s *scene) {
			s.copyOf(terraformFile, "/integrations/twin.yml", nil)
			s.entry("/integrations/twin.yml", 0)["delete"] = true
			s.Data[terraformFile]["managed"] = "text"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.Data[terraformFile]["managed"].([]any)[0].(object)["spec"].(object)["cron"] = "0 0 * * *"
			s.mustRun(t)
			breakIt(s)
			writes, err := s.run(t)
			if !s.fails(err) || len(writes) > 0 || !s.says(terraformFile) {
				t.Errorf("wrote %q: %v %q", writes, err, s.said)
			}
		})
	}
}
