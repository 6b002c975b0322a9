package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the version of a release. The linker sets it:
//
//	go build -ldflags "-X github.com/app-sre/prcheck/internal/cli.version=0.5.0" ./cmd/...
//
// If it is empty, the version is the one that Go wrote into the program.
var version string

// unknownVersion is the version of a program that Go wrote none into, for instance
// because it was built in a work tree without version control.
const unknownVersion = "(unknown)"

// A build says from what a program was built. Its JSON form is a contract: changes only add.
type build struct {
	Program  string `json:"program"`
	Version  string `json:"version"`
	Module   string `json:"module,omitempty"`
	Revision string `json:"revision,omitempty"` // the commit, if the program was built in a checkout
	Time     string `json:"time,omitempty"`     // of the commit
	Modified bool   `json:"modified"`           // whether the checkout had changes that no commit holds
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

// describeBuild returns from what the running program was built.
func describeBuild(program string) build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(program, version, info)
}

// buildOf returns from what a program was built, by the version that the linker set and by
// what Go wrote into the program.
func buildOf(program, linked string, info *debug.BuildInfo) build {
	b := build{
		Program: program, Version: linked, Module: info.Main.Path,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = unknownVersion
	}
	return b
}

// writeText writes the build for people: the program with its version first.
func (b build) writeText(w io.Writer) error {
	text := fmt.Sprintf("%s %s\n", b.Program, b.Version)
	if b.Revision != "" {
		text += "commit  " + b.Revision
		if b.Modified {
			text += ", with changes that are not committed"
		}
		text += "\n"
	}
	if b.Time != "" {
		text += "date    " + b.Time + "\n"
	}
	text += fmt.Sprintf("built   with %s for %s/%s\n", b.Go, b.OS, b.Arch)
	_, err := io.WriteString(w, text)
	return err
}

// versionName is the name of the command that prints the version.
const versionName = "version"

// addVersion gives a tree the command version and the flag --version.
func addVersion(env Env, root *cobra.Command) {
	b := describeBuild(root.Name())
	root.Version = b.Version
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version") // without cobra's -v, which elsewhere means more output
	root.AddCommand(versionCommand(env, b))
}

func versionCommand(env Env, b build) *cobra.Command {
	form := OneOf("text", "json")
	cmd := &cobra.Command{
		Use:   versionName,
		Short: "Print the version, and from what this program was built",
		Long: `version prints the version of this program, the commit that it was built from, and the
version of Go. A program that was not built by a release has the version that Go found:
that of the module, or (devel).`,
		Example: fmt.Sprintf("  %s version --format json", b.Program),
		Args:    Takes(),
		RunE: func(*cobra.Command, []string) error {
			if form.String() == "json" {
				e := json.NewEncoder(env.Stdout)
				e.SetIndent("", "  ")
				return e.Encode(b)
			}
			return b.writeText(env.Stdout)
		},
	}
	cmd.Flags().Var(&form, "format", "how to write it: text or json")
	return cmd
}
