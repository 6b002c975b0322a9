package world

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/app-sre/prcheck/internal/git"
)

// readConversions notes which settings of the repository decide how a checkout converts files.
func (t *Tree) readConversions(ctx context.Context) error {
	settings, err := git.ReadSettings(ctx, t.gitDir)
	if err != nil {
		return err
	}
	_, common, err := git.Folders(ctx, t.gitDir)
	if err != nil {
		return err
	}
	var parts []string
	if settings.AutoCRLF == "true" {
		parts = append(parts, "core.autocrlf")
	}
	if raw, err := os.ReadFile(filepath.Join(common, "info", "attributes")); err == nil {
		parts = append(parts, string(raw))
	}
	isAttributes := func(f File) bool {
		return f.Path == ".gitattributes" || strings.HasSuffix(f.Path, "/.gitattributes")
	}
	if slices.ContainsFunc(t.files, isAttributes) || len(parts) > 0 || settings.Attributes != "" {
		parts = append(parts, "attributes", settings.EOL, settings.Attributes)
		parts = append(parts, settings.Filters...)
	}
	t.conversions = strings.Join(parts, "\n")
	return nil
}

// A conversion is how a checkout would change the bytes of a file.
type conversion struct {
	crlf      string // attribute or setting because of which line ends become CRLF; "" when they stay
	isAuto    bool   // only if the file looks like a text
	isIdent   bool   // $Id$ is replaced
	filter    string // of Git LFS only, "lfs"
	forbidden string // another filter, or an encoding
	lfs       string // the folder of Git LFS
}

// findConversions returns the files of a commit that a checkout may change. Attributes are those of the commit. The
// index that this needs is left in a folder, for views.
func (t *Tree) findConversions(ctx context.Context, dir string) (map[string]conversion, error) {
	if !t.isCommit {
		return nil, nil // the bytes on disk are the truth
	}
	out := map[string]conversion{}
	if err := t.convertedIn(ctx, out, module{gitDir: t.gitDir}, t.commit,
		filepath.Join(dir, indexName(t.commit))); err != nil {
		return nil, err
	}
	for _, m := range t.modules {
		f, _, _ := t.Lookup(m.folder)
		index := filepath.Join(dir, "module")
		if err := t.convertedIn(ctx, out, m, f.ID, index); err != nil {
			return nil, err
		}
		_ = os.Remove(index)
	}
	return out, nil
}

// convertedIn adds the files of one repository that a checkout may change.
func (t *Tree) convertedIn(ctx context.Context, out map[string]conversion, m module, commit, index string) error {
	prefix := ""
	if m.folder != "" {
		prefix = m.folder + "/"
	}
	var paths []string
	for i := t.find(prefix); i < len(t.files) && strings.HasPrefix(t.files[i].Path, prefix); i++ {
		if f := t.files[i]; f.Kind() == Regular && t.gitDirOf(f.Path) == m.gitDir {
			paths = append(paths, f.Path[len(prefix):])
		}
	}
	if len(paths) == 0 {
		return nil
	}
	settings, err := git.ReadSettings(ctx, m.gitDir)
	if err != nil {
		return err
	}
	_, common, err := git.Folders(ctx, m.gitDir)
	if err != nil {
		return err
	}
	if err := git.WriteIndex(ctx, m.gitDir, commit, index); err != nil {
		return err
	}
	attributes, err := git.ReadAttributes(ctx, m.gitDir, index, paths)
	if err != nil {
		return err
	}
	for _, name := range paths {
		if attributes[name] == nil && settings.AutoCRLF != "true" {
			continue
		}
		c := conversionOf(attributes[name], settings)
		if c.lfs = filepath.Join(common, "lfs", "objects"); c.isSomething() {
			out[prefix+name] = c
		}
	}
	return nil
}

func (c conversion) isSomething() bool {
	return c.crlf != "" || c.isIdent || c.filter != "" || c.forbidden != ""
}

// conversionOf returns what attributes and settings ask for. It follows git's own rules.
func conversionOf(a git.Attributes, s git.Settings) conversion {
	c := conversion{isIdent: a["ident"] == "set"}
	if name := a["filter"]; name == "lfs" {
		c.filter = name
	} else if slices.Contains(s.Filters, name) {
		c.forbidden = "filter=" + name
	}
	switch e := a["working-tree-encoding"]; strings.ToLower(e) {
	case "", "set", "unset", "utf-8", "utf8":
	default:
		c.forbidden = "working-tree-encoding=" + e
	}
	text := a["text"]
	if text == "" {
		text = a["crlf"]
	}
	nativeIsCRLF := s.AutoCRLF == "true" || s.AutoCRLF == "" &&
		(s.EOL == "crlf" || (s.EOL == "" || s.EOL == "native") && runtime.GOOS == "windows")
	switch {
	case text == "unset", text == "input":
	case a["eol"] == "crlf":
		c.crlf = "the attribute eol=crlf"
	case a["eol"] == "lf":
	case text == "" && s.AutoCRLF == "true":
		c.crlf, c.isAuto = "the setting core.autocrlf", true
	case text != "" && nativeIsCRLF:
		c.crlf = "the attribute text with the setting core.eol or core.autocrlf"
	}
	c.isAuto = c.isAuto || text == "auto"
	return c
}

// maxChecked bounds the size of a file of which is found out whether git would convert it.
const maxChecked = 1 << 30

// write writes a file if a checkout would write the same bytes, or the content that a pointer of Git LFS stands for. In
// the second case it returns git's id of this content.
func (c conversion) write(w io.Writer, r *git.BlobReader, id string) (other string, err error) {
	raw, err := r.Read(id, maxChecked)
	switch {
	case err != nil:
		return "", err
	case c.forbidden != "":
		return "", fmt.Errorf("it has the attribute %s, with which a checkout runs a program or converts the "+
			"bytes, so its bytes are not known", c.forbidden)
	case len(raw) > maxChecked:
		return "", errors.New("it is too large to see whether git converts it")
	case c.crlf != "" && becomesCRLF(raw, c.isAuto):
		return "", fmt.Errorf("%s makes git convert its line ends, so its bytes are not known", c.crlf)
	case c.isIdent && bytes.Contains(raw, []byte("$Id")):
		return "", errors.New("the attribute ident makes git replace $Id$ in it, so its bytes are not known")
	}
	if c.filter == "lfs" {
		if oid, size, ok := parsePointer(raw); ok {
			return c.writeLarge(w, oid, size, len(id))
		}
	}
	_, err = w.Write(raw)
	return "", err
}

// becomesCRLF reports whether git converts the line ends of a text. If isAuto, it leaves what is no text, and a text
// that has a CR.
func becomesCRLF(raw []byte, isAuto bool) bool {
	if isAuto && bytes.ContainsAny(raw, "\r\x00") {
		return false
	}
	return bytes.Count(raw, []byte("\n")) > bytes.Count(raw, []byte("\r\n"))
}

// parsePointer reads a pointer of Git LFS.
func parsePointer(raw []byte) (oid string, size int64, ok bool) {
	if len(raw) > 1024 || !bytes.HasPrefix(raw, []byte("version https://git-lfs.github.com/spec/v1\n")) {
		return "", 0, false
	}
	m := regexp.MustCompile(`\noid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n$`).FindSubmatch(raw)
	if m == nil {
		return "", 0, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return string(m[1]), size, err == nil
}

// writeLarge writes a content that Git LFS keeps, and returns git's id of it.
func (c conversion) writeLarge(w io.Writer, oid string, size int64, digits int) (string, error) {
	missing := errors.New("it is kept by Git LFS (attribute filter=lfs), and its content is not here: run git lfs " +
		"fetch for this commit")
	f, found, err := openRegular(filepath.Join(c.lfs, oid[:2], oid[2:4], oid))
	if err != nil || found != size {
		return "", missing
	}
	defer f.Close()
	sum, h := sha256.New(), newBlobHash(digits, size)
	if _, err := io.Copy(io.MultiWriter(w, sum, h), f); err != nil {
		return "", err
	}
	if sumOf(sum) != oid {
		return "", missing
	}
	return sumOf(h), nil
}
