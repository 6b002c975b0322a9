package proof

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/plan"
	"github.com/app-sre/prcheck/qontract/bundle"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
	"github.com/app-sre/prcheck/trace"
)

// isLive tells whether servers answer in place of the embedded engine.
func (c *prover) isLive() bool { return c.BaseServer != nil || c.HeadServer != nil }

// inputs returns the digest of the inputs of a task, from everything that the task sees.
func (c *prover) inputs(ctx context.Context, i *subject, d *desired, t plan.Task) string {
	if c.isLive() {
		return c.bundleInputs(t)
	}
	states, ok := c.statesSeen(ctx, d, t.Shard)
	if !ok {
		return digestInputs(t, object{"contents": c.contents()})
	}
	var definition, ruled [2]string
	for n, s := range []*side{c.base, c.head} {
		for _, path := range i.definitionPaths() {
			if f, ok := s.bundle.Datafile(bundle.Path(path)); ok {
				definition[n] += digestFile(f)
			}
		}
		for _, rule := range c.Settings.Rules {
			if rule.Runs(i.name) {
				ruled[n] += digestRule(rule, s.bundle)
			}
		}
	}
	return digestInputs(t, object{
		"states": states, "types": c.types(), "definition": definition, "ruled": ruled,
	})
}

// bundleInputs returns the digest of the inputs of a task that sees both bundles as they are.
func (c *prover) bundleInputs(t plan.Task) string {
	return digestInputs(t, object{"bundles": []string{c.Base.SHA256(), c.Head.SHA256()}})
}

// definitionPaths returns the paths of the definitions, each once.
func (i *subject) definitionPaths() []string {
	var out []string
	for _, d := range []*definition{i.base, i.head} {
		if d != nil && !slices.Contains(out, d.path) {
			out = append(out, d.path)
		}
	}
	return out
}

// digestFile returns the path and the digest of a file.
func digestFile(f *bundle.File) string {
	return fmt.Sprintf("%q %x", f.Path, sha256.Sum256(f.Raw()))
}

// digestRule digests the files that a paths rule covers.
func digestRule(rule settings.Rule, b *bundle.Bundle) string {
	var all strings.Builder
	for _, section := range []struct {
		folder string
		files  []*bundle.File
	}{{"data", b.Datafiles()}, {"resources", b.Resources()}} {
		for _, f := range section.files {
			if _, ok := rule.Match(section.folder + string(f.Path)); ok {
				all.WriteString(section.folder + " " + digestFile(f) + "\n")
			}
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(all.String())))
}

// digestInputs digests what decides what a task does.
func digestInputs(t plan.Task, sees object) string {
	raw, err := json.Marshal(object{"engine": trace.Version, "command": t.Command, "integration": t.Integration,
		"shard": t.Shard, "sees": sees})
	if err != nil { // strings and lists of strings always encode
		return ""
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(raw))
}

// statesSeen digests what a shard sees of the desired states of base and head: the state of
// base, and how that of head differs. It returns false when a state cannot be told.
func (c *prover) statesSeen(ctx context.Context, d *desired, shard string) (string, bool) {
	if d == nil || len(d.queries) == 0 {
		return "", false
	}
	w := writer{d.order}
	asked := []string{d.order.String()}
	var parts [3]list // the state of base, what head lost of it, and what head added
	for _, q := range d.queries {
		a := c.ask(ctx, q, d.order)
		if a.doubt != "" || a.failed {
			return "", false
		}
		variables := ""
		if q.request.Variables != nil {
			variables = string(bundle.AppendOrdered(nil, q.request.Variables))
		}
		asked = append(asked, q.request.Query, q.request.Operation, variables)
		lost, added := c.seenDifference(a, d.order)
		parts[0], parts[1], parts[2] = append(parts[0], a.base), append(parts[1], lost), append(parts[2], added)
	}
	texts := []string{hash(asked...)}
	if shard == "" || d.shards == nil || len(d.shards.By) == 0 || d.order == settings.OrderSignificant {
		for _, documents := range parts {
			texts = append(texts, w.digest(documents))
		}
		return hexDigest(texts), true
	}
	texts = append(texts, fmt.Sprintf("%q", d.shards.By))
	for _, t := range c.splitOnce(texts, parts, d.shards.By) {
		texts = append(texts, t.seenBy(shard))
	}
	return hexDigest(texts), true
}

// splitOnce splits the documents of a state for its shards.
func (c *prover) splitOnce(key []string, parts [3]list, selectors []settings.Selector) [3]tree {
	trees, known := c.trees[hash(key...)]
	if !known {
		for i := range parts {
			trees[i] = newTree(parts[i], selectors)
		}
		c.trees[hash(key...)] = trees
	}
	return trees
}

// seenDifference returns what head lost of an answer, and what it added. Where only whole answers
// count, these are the whole answers.
func (c *prover) seenDifference(a answers, order settings.ListOrder) (lost, added any) {
	isOpaque := func(r *gql.Root) bool { return r.Kind == gql.RootOpaque }
	if len(c.changed.types) > 0 || c.changed.unsure || order == settings.OrderSignificant ||
		slices.ContainsFunc(a.roots, isOpaque) {
		return a.base, a.head
	}
	onBase, _ := a.lost.(object)
	onHead, _ := a.added.(object)
	was, is := object{}, object{}
	for _, root := range a.roots {
		before, _ := onBase[root.Key].(list)
		after, _ := onHead[root.Key].(list)
		if len(before)+len(after) > 0 && root.Kind != gql.RootConstant {
			was[root.Key], is[root.Key] = before, after
		}
	}
	return was, is
}

// digest returns the digest of documents.
func (w writer) digest(documents list) string {
	var all []byte
	for _, d := range documents {
		all = append(w.append(all, d), '\n')
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(all))
}

// hash returns the hash of some texts.
func hash(texts ...string) string {
	var all []byte
	for _, t := range texts {
		all = append(binary.BigEndian.AppendUint64(all, uint64(len(t))), t...)
	}
	sum := sha256.Sum256(all)
	return string(sum[:])
}

func hexDigest(texts []string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(hash(texts...))))
}
