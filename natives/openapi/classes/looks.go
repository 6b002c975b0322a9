package classes

import (
	"slices"
	"strings"
	"unicode"
)

// secretEnds are the last words of names of secrets.
var secretEnds = [][]string{
	{"password"}, {"passwd"}, {"passphrase"}, {"secret"}, {"token"}, {"credential"}, {"credentials"}, {"kubeconfig"},
	{"kube", "config"},
	{"connection", "string"}, {"sas", "uri"}, {"sas", "url"}, {"sas", "token"}, {"shared", "access", "signature"},
	{"pfx", "blob"},
	{"user", "data"}, {"custom", "data"},
}

// writtenTogether are ends of names, whatever separates their words: adminpassword, pass_word.
var writtenTogether = []string{"password", "passphrase", "secret", "token", "connectionstring", "apikey", "accesskey",
	"privatekey", "accountkey"}

// openKeys are the words before key that make it no secret.
var openKeys = []string{"public", "partition"}

// around are the words that may stand behind the name of a secret: privateKeyPem.
var around = []string{"pem", "data", "value"}

// LooksSecret reports whether the name of a property is like that of a secret. It errs on the side of hiding: a value
// that is hidden by mistake breaks nothing.
func LooksSecret(name string) bool {
	words := wordsOf(name)
	if endsSecret(words) {
		return true
	}
	if n := len(words) - 1; n > 0 && slices.Contains(around, words[n]) {
		return endsSecret(words[:n])
	}
	return false
}

// endsSecret reports whether words end like the name of a secret.
func endsSecret(words []string) bool {
	n := len(words)
	if n == 0 {
		return false
	}
	last := words[n-1]
	if last == "key" {
		return n == 1 || !slices.Contains(openKeys, words[n-2])
	}
	for _, end := range secretEnds {
		if n >= len(end) && slices.Equal(words[n-len(end):], end) {
			return true
		}
	}
	together := strings.Join(words, "")
	return slices.ContainsFunc(writtenTogether, func(end string) bool { return strings.HasSuffix(together, end) })
}

// wordsOf splits a name into words in lower case: at everything that is no letter, so also at digits, and where the
// case changes. SASUrl0 is sas and url.
func wordsOf(name string) []string {
	var out []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			out, word = append(out, strings.ToLower(string(word))), nil
		}
	}
	runes := []rune(name)
	for i, r := range runes {
		switch {
		case !unicode.IsLetter(r):
			end()
			continue
		case i > 0 && unicode.IsUpper(r) &&
			(unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end()
		}
		word = append(word, r)
	}
	end()
	return out
}
