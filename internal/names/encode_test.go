package names_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/app-sre/prcheck/internal/names"
)

func TestDNSLabel(t *testing.T) {
	for _, test := range []struct {
		name, text string
		maxLength  int
		want       string
	}{
		{"a label", "app-sre-prod-01", 63, "app-sre-prod-01"},
		{"a digit first", "1abc", 63, "1abc"},
		{"the longest", strings.Repeat("a", 63), 63, strings.Repeat("a", 63)},
		{"too long", strings.Repeat("a", 53), 52, strings.Repeat("a", 25) + "-"},
		{"a capital letter", "appSRE", 63, "appsre-"},
		{"blanks and slashes", "a b/c", 63, "a-b-c-"},
		{"a path", "../../etc", 63, "etc-"},
		{"an option", "--no-dry-run", 63, "no-dry-run-"},
		{"nothing readable", "äö", 63, ""},
		{"nothing", "", 63, ""},
		{"no room for more", "a b", 0, "a-"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := names.DNSLabel(test.text, test.maxLength)
			if got == test.want {
				return
			}
			digest, ok := strings.CutPrefix(got, test.want)
			if !ok || !regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(digest) {
				t.Errorf("got %q, want %q and a digest", got, test.want)
			}
		})
	}
}

// The name of a text with a digest is no name of another text.
func TestDigestIsChosen(t *testing.T) {
	for _, name := range []func(string) string{names.LabelValue, func(text string) string {
		return names.DNSLabel(text, 52)
	}} {
		victim := name("a b")
		if got := name(victim); got == victim {
			t.Errorf("%q has the name of %q", victim, "a b")
		}
	}
}

func TestLabelValue(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "Terraform_users.v2": "Terraform_users.v2",
		strings.Repeat("a.", 31) + "a": strings.Repeat("a.", 31) + "a",
		"_a":                           "a-", "a/b": "a-b-", "a\x00": "a-", strings.Repeat("b", 64): strings.Repeat("b", 36) +
			"-",
	} {
		if got := names.LabelValue(text); got != want && (!strings.HasPrefix(got, want) || len(got)-len(want) != 26) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// Different texts have different names, which systems accept.
func TestEncodings(t *testing.T) {
	dns := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	value := regexp.MustCompile(`^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$`)
	texts := hostileTexts()
	for _, maxLength := range []int{63, 52} {
		seen := map[string]string{}
		for text := range texts {
			got := names.DNSLabel(text, maxLength)
			if !dns.MatchString(got) || len(got) > maxLength {
				t.Errorf("%.80q: %q is no DNS label of at most %d characters", text, got, maxLength)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("%.80q and %.80q have the name %q", text, other, got)
			}
			seen[got] = text
			if again := names.DNSLabel(text, maxLength); again != got {
				t.Errorf("%.80q: %q, then %q", text, got, again)
			}
		}
	}
	seen := map[string]string{}
	for text := range texts {
		got := names.LabelValue(text)
		if !value.MatchString(got) {
			t.Errorf("%.80q: %q is no value of a label", text, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%.80q and %.80q have the value %q", text, other, got)
		}
		seen[got] = text
	}
}

// hostileTexts returns texts that are easily mistaken for each other, and their names.
func hostileTexts() map[string]bool {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "A", "b", "-", "--", " ", "/", ".", "..", "_", "\"", "'", "\n", "\x00", "ä", "\xff", "İ", "ı",
		"ſ", "K", "{", "$", "1", strings.Repeat("x", 40)}
	out := map[string]bool{strings.Repeat("y", 5000): true, strings.Repeat("y", 5000) + "z": true}
	for range 5000 {
		text := ""
		for range random.IntN(6) {
			text += pieces[random.IntN(len(pieces))]
		}
		for _, t := range []string{text, names.DNSLabel(text, 63), names.DNSLabel(text, 52), names.LabelValue(text)} {
			out[t], out[strings.ToUpper(t)], out[names.DNSLabel(t, 63)] = true, true, true
		}
	}
	return out
}

func FuzzEncodings(f *testing.F) {
	for _, seed := range []string{"", "a", "A b", "--x", "\xff", strings.Repeat("a", 64), "a-puskgqaodghc2qwvmrubk5xm4s"} {
		f.Add(seed)
	}
	dns := regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$`)
	f.Fuzz(func(t *testing.T, text string) {
		got := names.DNSLabel(text, 52)
		if !dns.MatchString(got) || got != text && names.DNSLabel(got, 52) == got {
			t.Errorf("%q: got %q", text, got)
		}
	})
}
