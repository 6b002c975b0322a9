package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A mutant is a way to break the engine: one text of a file of the product, and what stands there
// instead. Only the law builds it.
type mutant struct {
	name, native string // the native whose merge requests show it
	file         string
	text         string
	instead      string
	edits        string // of the merge requests that show it; "" for those that are drawn
}

// leftEdit is an edit after which an object has values that its entry has not.
const leftEdit = "an object has what head has no more"

// mutants are the broken engines that the law must catch.
var mutants = []mutant{
	{
		name: "templates are rendered with values", native: "saas-deploy", file: "natives/saas/deploy/render.go",
		text:    `	if s.run.writes { // a dry run`,
		instead: `	if true { // a dry run`,
	},
	{
		name: "base is rendered with values", native: "saas-deploy", file: "natives/saas/deploy/render.go",
		text:    `	if s.run.writes { // a dry run`,
		instead: `	if s.name == baseSide { // a dry run`,
	},
	{
		name: "a length in the log", native: "saas-deploy", file: "natives/saas/deploy/render.go",
		text: `	case saas.AllowedSecret(s.run.credentials(s).Base, t.Target, ref.Path):
`,
		instead: `	case saas.AllowedSecret(s.run.credentials(s).Base, t.Target, ref.Path):
		value, _ := s.run.env.Secret(context.Background(), ref)
		_, _ = fmt.Fprintf(s.run.env.Log, "a secret of %d bytes\n", len(value))
`,
	},
	{
		name: "the digest of an older prcheck", native: "saas-deploy", edits: "objects are there,another code secret",
		file:    "natives/saas/deploy/compare.go",
		text:    `if c.Path == anotherManifest.Path {`,
		instead: `if false {`,
	},
	{
		name: "a value of an object that needs none", native: "saas-deploy", edits: leftEdit,
		file:    "natives/saas/deploy/compare.go",
		text:    `	return b.Secrets || r.before[key].Secrets`,
		instead: `	return false`,
	},
	{
		name: "a value of an object that base made", native: "saas-deploy", edits: leftEdit,
		file:    "natives/saas/deploy/compare.go",
		text:    `	return b.Secrets || r.before[key].Secrets`,
		instead: `	return b.Secrets`,
	},
	{
		name: "a value of an object that names its secrets", native: "saas-deploy", edits: leftEdit,
		file:    "natives/saas/deploy/compare.go",
		text:    `		return said != noSecrets`,
		instead: `		return false`,
	},
	{
		name: "a value in a conflict", native: "saas-deploy", edits: leftEdit, file: "natives/saas/deploy/compare.go",
		text:    `isOther && d.Mistake.Code == manifests.CodeConflict`,
		instead: `isOther && d.Mistake.Code == ""`,
	},
	{
		name: "a retry for some tokens of clusters", native: "namespaces", file: "natives/kube/request.go",
		text: `	answer, err := c.client.Do(req)
`,
		instead: `	answer, err := c.client.Do(req)
	if err == nil && len(c.token)%2 == 0 && of.Body == nil {
		_ = answer.Body.Close()
		answer, err = c.client.Do(req)
	}
`,
	},
	{
		name: "another attempt at a cluster for some tokens", native: "namespaces", file: "natives/kube/request.go",
		edits:   "a label,a cluster is away once",
		text:    `		again := of.Method == http.MethodGet ||`,
		instead: `		again := of.Method == http.MethodGet && len(c.token)%2 == 0 ||`,
	},
	{
		name: "another attempt at an API for some tokens", native: "generic", file: "natives/systems/endpoints.go",
		edits: "a property,the service is away once",
		text: `	res, err := e.with(value).RoundTrip(req)
`,
		instead: `	res, err := e.with(value).RoundTrip(req)
	if err == nil && res.StatusCode == http.StatusServiceUnavailable && len(value)%2 == 0 {
		res.StatusCode = http.StatusForbidden
	}
`,
	},
	{
		name: "a promotion that tells of its token", native: "saas-promotions", file: "ci/forge.go",
		edits:   "runs are there,what is decided is written",
		text:    `		return f.api.openRequest(ctx, f.project, text)`,
		instead: `		text.Title += f.client.token.Value[:1]; return f.api.openRequest(ctx, f.project, text)`,
	},
	{
		name: "a token in a header", native: "integrations-manager", file: "natives/kube/request.go",
		text:    `	req.Header.Set("Accept", cmp.Or(of.Accept, "application/json"))`,
		instead: `	req.Header.Set("Accept", cmp.Or(of.Accept, "application/json")+";n="+c.token[:1])`,
	},
	{
		name: "a retry for some tokens of APIs", native: "generic", file: "internal/outward/transport.go",
		text: `	res, err := checked.RoundTrip(out)
`,
		instead: `	res, err := checked.RoundTrip(out)
	if err == nil && len(out.Header.Get("Authorization"))%2 == 0 {
		_ = res.Body.Close()
		res, err = checked.RoundTrip(out)
	}
`,
	},
	{
		name: "a specification of head counts", native: "generic", file: "natives/generic/described.go",
		edits: "a specification says that nothing is secret,the service answers a secret",
		text:  `	if !isSame {`, instead: `	if !isSame && false {`,
	},
	{
		name: "a value of a store becomes a word of the data", native: "generic", file: "natives/generic/described.go",
		edits: "a secret of a label becomes a word of the data",
		text:  `	e.rules = rules.Withheld(e.rules, d.stored(e.of))`, instead: `	_ = d.stored(e.of)`,
	},
	{
		name: "a token for another host", native: "integrations-manager", file: "natives/manager/images.go",
		text:    `		authorization = "Bearer " + token`,
		instead: `		authorization = "Bearer " + token; req.Header.Set("X-Trace", fmt.Sprint(len(token)))`,
	},
	{
		name: "a login in an address", native: "saas-pipelines", file: "natives/systems/jsonapi/jsonapi.go",
		text:    `	at.RawQuery = query.Encode()`,
		instead: `	at.RawQuery = query.Encode() + "&u=" + login.Password`,
	},
	{
		name: "a header of git that tells a length", native: "saas-deploy", file: "natives/systems/repositories/request.go",
		text:    `	req.Header.Set("User-Agent", "git/2 prcheck")`,
		instead: `	req.Header.Set("User-Agent", "git/2 prcheck"); req.Header.Set("X-Trace", strings.Repeat("x", len(to.Authorization)))`,
	},
	{
		name: "another attempt for some logins of registries", native: "saas-deploy",
		edits: "a digest of the image,a service is away once", file: "natives/systems/registry/registry.go",
		text: `	if err == nil && status == http.StatusUnauthorized {
`,
		instead: `	if err == nil && status == http.StatusServiceUnavailable && len(image.Login.Password)%2 == 0 {
		_, _, _ = r.head(ctx, of, sent)
	}
	if err == nil && status == http.StatusUnauthorized {
`,
	},
	{
		name: "a page of the forge that a token names", native: "saas-promotions", file: "ci/forge.go",
		text:    `		return f.api.file(ctx, f.project, ref, path)`,
		instead: `		return f.api.file(ctx, f.project, ref, path+f.client.token.Value[:1])`,
	},
	{
		name: "a credential in what is said", native: "saas-promotions", file: "natives/saas/credentials.go",
		text: `	if err != nil {
		return "", fmt.Errorf("the credentials for %.200q: %w", host, err)
	}
	return value, nil`,
		instead: `	if err != nil || len(value)%2 == 0 {
		return "", fmt.Errorf("the credentials for %.200q: %w", host, err)
	}
	return value, nil`,
	},
}

// catch lets the law catch each mutant, and prints a table of which it did. A mutant is caught by a
// merge request that breaks the law with the mutant and keeps it with this program.
func catch(ctx context.Context, out io.Writer, o options) error {
	temp, err := tempFolder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	survived := 0
	for i, m := range mutants {
		if !strings.Contains(m.name, o.mutant) || o.native != "" && o.native != m.native {
			continue
		}
		at, err := m.catch(ctx, o, filepath.Join(temp, fmt.Sprint(i)))
		if err != nil {
			return fmt.Errorf("mutant %q: %w", m.name, err)
		}
		if at == "" {
			survived++
			at = fmt.Sprintf("(%d merge requests)", o.pairs)
		}
		_, _ = fmt.Fprintf(out, "%-8s  %-20s  %-40s  %s\n", map[bool]string{true: "survived", false: "caught"}[at[0] == '('],
			m.native, m.name, at)
	}
	if survived > 0 {
		return fmt.Errorf("%w: %d mutants survived", errViolated, survived)
	}
	return nil
}

// catch builds a mutant in a folder and returns the command that shows its first violation, "" if
// there is none.
func (m mutant) catch(ctx context.Context, o options, dir string) (string, error) {
	defer os.RemoveAll(dir)
	program, err := m.build(ctx, dir)
	if err != nil {
		return "", err
	}
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	o.native, o.noShrink, o.shown = m.native, true, 3
	more := ""
	if m.edits != "" {
		o.edits, more = m.edits, fmt.Sprintf(" --edits %q", m.edits)
	}
	at := ""
	_, err = countWith(ctx, program, o, func(s *sum) bool {
		for _, d := range s.Differences {
			if d.Class != violation || at != "" {
				continue
			}
			if is, err := countIn(ctx, own, o, d.Index, 1); err == nil && is.Classes[violation] == 0 {
				at = fmt.Sprintf("in %s, --native %s --seed %d --from %d --pairs 1%s", d.Where, m.native, o.seed, d.Index, more)
			}
		}
		return at != ""
	})
	return at, err
}

// build copies the files that git knows to a folder, applies the patch and builds the law there.
// Without paths in the program, the compiler works only on what the patch changes.
func (m mutant) build(ctx context.Context, dir string) (string, error) {
	top, err := root()
	if err != nil {
		return "", err
	}
	source := filepath.Join(dir, "source")
	if err := copyTracked(ctx, top, source); err != nil {
		return "", err
	}
	name := filepath.Join(source, m.file)
	raw, err := os.ReadFile(name) //nolint:gosec // a file of the copy
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(raw), m.text); n != 1 {
		return "", fmt.Errorf("%s has the text %d times, not once: adapt the patch", m.file, n)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(string(raw), m.text, m.instead, 1)), 0o600); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "secrets")
	_, err = command(ctx, source, "go", "build", "-trimpath", "-o", program, "./laws/secrets")
	return program, err
}

// copyTracked copies the files that git knows, as they lie in a folder.
func copyTracked(ctx context.Context, top, to string) error {
	names, err := command(ctx, top, "git", "ls-files", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimRight(names, "\x00"), "\x00") {
		raw, err := os.ReadFile(filepath.Join(top, name)) //nolint:gosec // a file of the repository
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR) {
			continue // deleted, or a link to a folder
		}
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, name), raw, 0o600); err != nil { //nolint:gosec // below the folder
			return err
		}
	}
	return nil
}
