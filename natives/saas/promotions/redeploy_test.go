package promotions

import (
	"strings"
	"testing"
)

// A target that follows the configuration of its publishers notes their hashes, also without a
// new commit, and in a block of its own if there is none.
func TestConfigHashesArePromoted(t *testing.T) {
	s := newScene(t, 1, 1)
	s.world.Target("/services/shop/saas.yml", 0, 1)["promotion"].(map[string]any)["redeployOnPublisherConfigChange"] = true
	s.deploy(0, 0, sha(1), true)
	s.mustLoop("commit", "open")
	branch := s.forge.requests[0].Branch
	text := s.text(branch, s.file(0))
	if want := `      subscribe: [c-0-0]
      promotion_data:
      - channel: c-0-0
        data:
        - parent_saas: saas-0
          target_config_hash: 0123456789abcdef
          type: parent_saas_config
`; !strings.Contains(text, want) || !strings.Contains(text, "ref: "+sha(1)+" # prod") {
		t.Errorf("got\n%s", text)
	}
}

// A commit of ours that the forge put on a newer main is still ours; one that somebody changed is
// not, whatever its message says.
func TestRebasedCommitsAreOurs(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     []string
	}{
		"rebased":            {"subscribe", "subscribe", nil},
		"rebased and edited": {"subscribe: [c-0-0]", "subscribe: []", []string{"note"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, 1, 2)
			s.code = []string{sha(2), sha(1)}
			s.deployAll(sha(2))
			s.mustLoop("commit", "open")
			branch := s.forge.requests[0].Branch
			ours, _ := s.forge.at(branch)
			s.forge.edit("main", "README.md", "newer")
			main, id := s.forge.at("main")
			files := map[string]string{s.file(0): strings.Replace(ours.files[s.file(0)], c.from, c.to, 1),
				"README.md": main.files["README.md"]}
			s.forge.commit(branch, files, ours.message, id)
			s.mustLoop(c.want...)
			s.mustLoop()
		})
	}
}
