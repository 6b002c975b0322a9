package promotion

import (
	"testing"
	"time"

	"github.com/app-sre/prcheck/natives/saas"
	"github.com/app-sre/prcheck/natives/saas/saastest"
)

func TestOf(t *testing.T) {
	w := saastest.New()
	targets := w.Data[saastest.File]["resourceTemplates"].([]any)[0].(map[string]any)["targets"].([]any)
	targets[1].(map[string]any)["promotion"] = map[string]any{"auto": true, "subscribe": []any{"shop-stage", "shop-stage"},
		"soakDays": 2, "schedule": "0 9 * * 1"}
	w.Data[saastest.App]["codeComponents"].([]any)[0].(map[string]any)["blockedVersions"] = []any{"abc"}
	m, err := saas.Read(t.Context(), w.Query(t), saas.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	all := m.Files[0].Templates[0].Targets
	s := Of(m, all[1], saas.Settings{Soak: saas.Each})
	if s.Broken != "" || s.Ref != saastest.Sha || s.SoakTime != 48*time.Hour || s.Soak != saas.Each ||
		s.Schedule != "0 9 * * 1" || len(s.Blocked) != 1 ||
		len(s.Channels) != 1 || len(s.Channels[0].Publishers) != 1 || s.Channels[0].Publishers[0] != all[0].UID() {
		t.Errorf("got %+v", s)
	}
	if s := Of(m, all[0], saas.Settings{}); !Gate(s, saastest.Sha, nil, now).Open {
		t.Errorf("a target that subscribes to nothing: got %+v", s)
	}
	all[0].Broken = "a mistake"
	if s := Of(m, all[0], saas.Settings{}); Gate(s, saastest.Sha, nil, now).Open ||
		Decide(Question{Subject: s}).Hold == "" {
		t.Errorf("a target with a mistake: got %+v", s)
	}
}
