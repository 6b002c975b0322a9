package cli

import (
	"encoding/json"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuildOf(t *testing.T) {
	module := debug.Module{Path: "github.com/app-sre/prcheck", Version: "v0.5.0"}
	commit := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc"},
		{Key: "vcs.time", Value: "2026-11-22T10:00:00Z"}}
	built := "built   with " + runtime.Version() + " for " + runtime.GOOS + "/" + runtime.GOARCH + "\n"
	for _, c := range []struct {
		name, linked string
		info         debug.BuildInfo
		want         string
	}{
		{"installed by go install", "", debug.BuildInfo{Main: module}, "demo v0.5.0\n"},
		{"a release", "0.6.0", debug.BuildInfo{Main: module, Settings: commit},
			"demo 0.6.0\ncommit  abc\ndate    2026-11-22T10:00:00Z\n"},
		{
			"a changed checkout", "",
			debug.BuildInfo{Main: debug.Module{Version: "(devel)"},
				Settings: append(commit[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})},
			"demo (devel)\ncommit  abc, with changes that are not committed\n",
		},
		{"an unchanged checkout", "",
			debug.BuildInfo{Main: module,
				Settings: append(commit[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "false"})},
			"demo v0.5.0\ncommit  abc\n"},
		{"nothing known", "", debug.BuildInfo{}, "demo (unknown)\n"},
	} {
		var out strings.Builder
		if err := buildOf("demo", c.linked, &c.info).writeText(&out); err != nil || out.String() != c.want+built {
			t.Errorf("%s: got %q, %v, want %q", c.name, out.String(), err, c.want+built)
		}
	}
}

func TestVersion(t *testing.T) {
	version = "1.2.3"
	t.Cleanup(func() { version = "" })
	if code, out, errs := execute("--version"); code != ExitOK || out != "demo 1.2.3\n" || errs != "" {
		t.Errorf("--version: got %d, %q, %q", code, out, errs)
	}
	if code, out, errs := execute("version"); code != ExitOK || !strings.HasPrefix(out, "demo 1.2.3\n") || errs != "" {
		t.Errorf("version: got %d, %q, %q", code, out, errs)
	}
	code, out, _ := execute("version", "--format", "json")
	var got build
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != ExitOK || got != describeBuild("demo") ||
		got.Version != "1.2.3" {
		t.Errorf("version --format json: got %d, %s, %v", code, out, err)
	}
	if code, _, errs := execute("-v"); code != ExitUsage || !strings.Contains(errs, "unknown shorthand flag") {
		t.Errorf("-v: got %d, %q", code, errs)
	}
}
