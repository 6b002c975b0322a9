package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An OwnFolder is what a git folder needs besides objects and an index to show the same history as a repository.
type OwnFolder struct {
	Files   map[string][]byte // by their names in the git folder
	Objects string            // the folder with the objects of the repository
}

// ReadOwnFolder reads the files of a new git folder whose HEAD is a commit. Of the repository's settings it has only
// those that decide about bytes and modes, and the address of origin without a user or a password. It names no program.
func ReadOwnFolder(ctx context.Context, dir, commit string) (OwnFolder, error) {
	_, common, err := Folders(ctx, dir)
	if err != nil {
		return OwnFolder{}, err
	}
	settings, err := ReadSettings(ctx, dir)
	if err != nil {
		return OwnFolder{}, err
	}
	refs, err := run(ctx, dir, "for-each-ref", "--format=%(objectname) %(refname)", "--sort=refname")
	if err != nil {
		return OwnFolder{}, err
	}
	origin, _ := run(ctx, dir, "config", "--get", "remote.origin.url") // "" without one
	o := OwnFolder{map[string][]byte{
		"HEAD":        []byte(commit + "\n"),
		"config":      ownConfig(settings, len(commit), strings.TrimSuffix(string(origin), "\n")),
		"packed-refs": append([]byte("# pack-refs with: sorted \n"), refs...),
	}, filepath.Join(common, "objects")}
	for _, name := range []string{"shallow", "info/exclude", "info/attributes"} {
		raw, err := os.ReadFile(filepath.Join(common, filepath.FromSlash(name)))
		if err == nil {
			o.Files[name] = raw
		}
	}
	return o, ctx.Err()
}

// ownConfig returns the settings of a new git folder.
func ownConfig(s Settings, digits int, origin string) []byte {
	var b bytes.Buffer
	version := 0
	if digits == 64 {
		version = 1
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tfilemode = %t\n\tsymlinks = %t\n",
		version, !s.IgnoresModes, !s.HasNoLinks)
	for _, setting := range [][2]string{{"autocrlf", s.AutoCRLF}, {"eol", s.EOL}, {"attributesFile", s.Attributes}} {
		if setting[1] != "" {
			fmt.Fprintf(&b, "\t%s = %s\n", setting[0], quoteSetting(setting[1]))
		}
	}
	if version == 1 {
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	if origin != "" {
		fmt.Fprintf(&b, "[remote \"origin\"]\n\turl = %s\n", quoteSetting(userInfo.ReplaceAllString(origin, "://")))
	}
	return b.Bytes()
}

// quoteSetting quotes the value of a setting.
func quoteSetting(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value) + `"`
}

// WriteIndex writes an index with the files of a commit.
func WriteIndex(ctx context.Context, dir, commit, name string) error {
	cmd := newCommand(ctx, dir, "-c", "core.sparseCheckout=false", "-c", "index.sparse=false",
		"-c", "core.splitIndex=false", "-c", "core.untrackedCache=false",
		"read-tree", commit)
	cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+name)
	if _, err := cmd.Output(); err != nil {
		return describe(ctx, dir, "read-tree", err)
	}
	return nil
}

// Attributes are the attributes of a file that decide about its bytes, by their names. The value of one that has none
// is "set" or "unset".
type Attributes map[string]string

// ReadAttributes returns the attributes of the files of an index, as the files .gitattributes in this index and the
// settings of the repository give them. Files without any are left out.
func ReadAttributes(ctx context.Context, dir, index string, paths []string) (map[string]Attributes, error) {
	converting, err := listConverting(ctx, dir, index, []byte(strings.Join(paths, "\x00")+"\x00"))
	all := map[string]Attributes{}
	for _, a := range converting {
		if all[a.path] == nil {
			all[a.path] = Attributes{}
		}
		all[a.path][a.name] = a.value
	}
	return all, err
}
