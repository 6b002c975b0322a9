package script

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// canary VARIABLE... checks that neither the last output nor any file here contains the
// value of a variable, in any encoding. It decodes all text that it finds, independently
// of the code that masks. Negated, it checks that a value is found.
func canary(ts *testscript.TestScript, negated bool, args []string) {
	found := false
	defer func() {
		if negated && !found {
			ts.Fatalf("nothing was found")
		}
	}()
	var secrets []string
	for _, name := range args {
		v := ts.Getenv(name)
		if len(v) < 8 {
			ts.Fatalf("%s is no secret: %q", name, v)
		}
		secrets = append(secrets, v)
	}
	look := func(where, text string) {
		read := readings(text)
		for _, s := range secrets {
			how := holds(read, s)
			found = found || how != ""
			if how != "" && !negated {
				ts.Fatalf("%s holds %q, %s", where, s, how)
			}
		}
	}
	for _, name := range []string{"stdout", "stderr"} {
		look(name, ts.ReadFile(name))
	}
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d os.DirEntry, err error) error {
		look("the name of", path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a process that still runs removed it
		}
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		look(path, string(raw))
		return err
	}))
}

var (
	digits64 = regexp.MustCompile(`[A-Za-z0-9+/_-]{8,}`)
	digits32 = regexp.MustCompile(`[A-Z0-9]{13,}`)
	between  = regexp.MustCompile(`0x|\\x|[:_,\s-]`)
	digits16 = regexp.MustCompile(`[A-Fa-f0-9]{8,}`)
	percents = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// readings returns a text as it is and decoded in every way, by the name of the way.
func readings(text string) map[string]string {
	out := map[string]string{
		"plain": text, "as HTML": html.UnescapeString(text),
		"escaped": strings.NewReplacer(`\u0026`, "&", `\u003c`, "<", `\u003e`, ">", `\u00e4`, "ä", `\"`, `"`, `\\`, `\`,
			`\n`, "\n").Replace(text),
		"in lines": strings.NewReplacer("\n", "", "\r", "", `\n`, "").Replace(text),
		"in an address": percents.ReplaceAllStringFunc(text, func(p string) string {
			c, _ := strconv.ParseUint(p[1:], 16, 8)
			return string([]byte{byte(c)})
		}),
	}
	var decoded strings.Builder
	squeezed := strings.Join(strings.Fields(text), "")
	apart := between.ReplaceAllString(text, "")
	for _, text := range []string{text, out["in lines"], out["in an address"], squeezed, apart} {
		for _, run := range digits32.FindAllString(text, -1) {
			for _, alphabet := range []*base32.Encoding{base32.StdEncoding, base32.HexEncoding} {
				for skip := range 8 {
					raw, _ := alphabet.WithPadding(base32.NoPadding).DecodeString(run[skip:]) // or what comes before a mistake
					decoded.Write(append(raw, '\n'))
				}
			}
		}
		for _, run := range digits16.FindAllString(text, -1) {
			for skip := range 2 {
				raw, _ := hex.DecodeString(run[skip : skip+(len(run)-skip)/2*2])
				decoded.Write(append(raw, '\n'))
			}
		}
		for _, run := range digits64.FindAllString(text, -1) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for skip := range 4 {
				run := run[skip:]
				if len(run)%4 == 1 {
					run = run[:len(run)-1]
				}
				raw, _ := base64.RawStdEncoding.DecodeString(run)
				decoded.Write(append(raw, '\n'))
			}
		}
	}
	out["in digits"] = decoded.String()
	out["in UTF-16"] = strings.ReplaceAll(text+decoded.String(), "\x00", "")
	out["escaped somehow"] = plainest(text)
	return out
}

var (
	terminal = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]P_^X][^\x07\x1b]*(\x07|\x1b\\\\)|\x1b[ -/]*[0-~]")
	escape   = regexp.MustCompile(`\\+(u\{[0-9a-f]+\}|u[0-9a-fA-F]{4}|U[0-9a-f]{8}|x[0-9a-fA-F]{2}|[0-7]{3}|[nrt])`)
	others   = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// plainest returns the letters and digits of a text, after everything is undone that
// programs do to a text.
func plainest(text string) string {
	for range 4 {
		text = terminal.ReplaceAllString(text, "")
		text = html.UnescapeString(percents.ReplaceAllStringFunc(text, func(p string) string {
			return string(rune(number(p[1:], 16)))
		}))
		text = escape.ReplaceAllStringFunc(text, func(e string) string {
			e = strings.TrimLeft(e, `\`)
			switch e[0] {
			case 'n', 'r', 't':
				return "\n"
			case 'u', 'U', 'x':
				return string(rune(number(strings.Trim(e[1:], "{}"), 16)))
			}
			return string(rune(number(e, 8)))
		})
	}
	return others.ReplaceAllString(text, "")
}

func number(digits string, base int) uint64 {
	n, _ := strconv.ParseUint(digits, base, 31) // of digits alone
	return n
}

// Holds returns the encoding in which a text contains a secret, "" if it does not.
func Holds(text, secret string) string { return holds(readings(text), secret) }

// holds is [Holds] for the readings of a text.
func holds(readings map[string]string, secret string) string {
	for how, text := range readings {
		if strings.Contains(text, secret) || how == "escaped somehow" && strings.Contains(text, plainest(secret)) ||
			how == "in an address" && strings.Contains(strings.ReplaceAll(text, "+", " "), secret) {
			return how
		}
	}
	return ""
}
