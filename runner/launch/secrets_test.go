package launch

import (
	"slices"
	"testing"

	"github.com/app-sre/prcheck/settings"
)

// A variable that the settings do not name is a secret if it is named like one.
func TestUnlistedSecrets(t *testing.T) {
	for _, c := range []struct {
		entry string
		want  []string
	}{
		{"CI_JOB_TOKEN=glcbt-64_abcdef", []string{"glcbt-64_abcdef"}},
		{"ci_job_token=glcbt-64_abcdef", []string{"glcbt-64_abcdef"}},
		{"CI_JOB_JWT_V2=eyJhbGciOi.x.y", []string{"eyJhbGciOi.x.y"}},
		{"PRCHECK_AUTHORIZATION=Basic abcdef", []string{"Basic abcdef"}},
		{"PGPASSWORD=a=b=c=d=e", []string{"a=b=c=d=e"}},
		{"USE_TOKEN=true", nil},
		{"GIT_AUTHOR_NAME=ana from accounting", nil},
		{"CI_COMMIT_AUTHOR=ana <ana@example.org>", nil},
		{"AUTHOR_TOKEN=0123456789", []string{"0123456789"}},
		{"HOME=/home/ana/secret", nil},
		{"CI_REPOSITORY_URL=https://gitlab-ci-token:p%40ssword1@host/x.git", []string{"p%40ssword1", "p@ssword1"}},
		{"PROXIES=http://a:short@b http://c:longer-one@d", []string{"longer-one"}},
		{"NOTHING", nil},
	} {
		w := Equipment{Settings: &settings.Settings{}, Environ: func() []string { return []string{c.entry} }}
		got := w.Secrets(nil)
		slices.Sort(c.want)
		slices.Sort(got)
		if c.want = slices.Compact(c.want); !slices.Equal(slices.Compact(got), c.want) {
			t.Errorf("%s: got %q, want %q", c.entry, got, c.want)
		}
	}
	if got := (Equipment{Settings: &settings.Settings{}}).Secrets(nil); len(got) != 0 {
		t.Errorf("an unknown environment: got %q", got)
	}
}
