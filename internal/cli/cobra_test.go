package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// tree is a small command tree: "demo add A B" and "demo list all".
func tree(env Env) *cobra.Command {
	root := &cobra.Command{Use: "demo", Short: "Shows how a tree behaves"}
	add := &cobra.Command{
		Use: "add A B", Short: "Adds", Args: Takes("A", "B"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] == "fail" {
				return errors.New("cannot add")
			}
			_, err := fmt.Fprintln(env.Stdout, strings.Join(args, "+"))
			return err
		},
	}
	add.Flags().Int("times", 1, "how `often`")
	add.Flags().String("to", "", "where the sum goes")
	in := OneOf("text", "json")
	add.Flags().Var(&in, "in", "how to write it")
	list := &cobra.Command{Use: "list", Short: "Lists"}
	list.AddCommand(&cobra.Command{
		Use: "all", Short: "Lists all", Args: Takes(),
		RunE: func(*cobra.Command, []string) error { return nil },
	})
	must := &cobra.Command{Use: "must", Short: "Needs a flag", RunE: list.Commands()[0].RunE}
	must.Flags().String("base", "", "the base")
	_ = must.MarkFlagRequired("base")
	many := &cobra.Command{
		Use: "many NAME...", Short: "Counts", Args: Takes("NAME..."),
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := fmt.Fprintln(env.Stdout, len(args))
			return err
		},
	}
	root.AddCommand(add, list, must, many)
	return root
}

func execute(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	env := Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv}
	code = Run(context.Background(), "demo", env, func(ctx context.Context, env Env) error {
		return Execute(ctx, env, tree(env))
	})
	return code, out.String(), errs.String()
}

func TestExecute(t *testing.T) {
	tests := []struct {
		args   string
		code   int
		stdout string
		stderr string
	}{
		{"add 1 2", ExitOK, "1+2\n", ""},
		{"add fail 2", ExitTrouble, "", "demo: cannot add\n"},
		{"", ExitUsage, "", "demo: demo needs a command (run 'demo --help')\n"},
		{"list", ExitUsage, "", "demo: demo list needs a command (run 'demo list --help')\n"},
		{"list al", ExitUsage, "",
			`demo: unknown command "al" for "demo list", did you mean "all"? (run 'demo list --help')` + "\n"},
		{"list 17", ExitUsage, "", `demo: unknown command "17" for "demo list" (run 'demo list --help')` + "\n"},
		{"lisst", ExitUsage, "", `demo: unknown command "lisst" for "demo", did you mean "list"? (run 'demo --help')` + "\n"},
		{"17", ExitUsage, "", `demo: unknown command "17" for "demo" (run 'demo --help')` + "\n"},
		{"add --tims 2 1 2", ExitUsage, "",
			"demo: unknown flag: --tims, did you mean \"--times\"? (run 'demo add --help')\n"},
		{"add --times x 1 2", ExitUsage, "",
			`demo: invalid argument "x" for "--times" flag: strconv.ParseInt: parsing "x": invalid syntax (run 'demo add --help')` + "\n"},
		{"add 1 2 --to", ExitUsage, "", "demo: flag needs an argument: --to (run 'demo add --help')\n"},
		{"add 1", ExitUsage, "", "demo: B is missing (run 'demo add --help')\n"},
		{"add 1 2 3", ExitUsage, "", `demo: unexpected argument "3" (run 'demo add --help')` + "\n"},
		{"list all 1", ExitUsage, "", `demo: unexpected argument "1" (run 'demo list all --help')` + "\n"},
		{"many", ExitUsage, "", "demo: NAME is missing (run 'demo many --help')\n"},
		{"many 1 2 3", ExitOK, "3\n", ""},
		{"add --in yaml 1 2", ExitUsage, "",
			`demo: invalid argument "yaml" for "--in" flag: must be one of text, json (run 'demo add --help')` + "\n"},
		{"must", ExitUsage, "", "demo: required flag(s) \"base\" not set (run 'demo must --help')\n"},
		{"help nothing", ExitUsage, "", `demo: unknown command "nothing" for "demo" (run 'demo --help')` + "\n"},
		{"help list nothing", ExitUsage, "", `demo: unknown command "nothing" for "demo list" (run 'demo list --help')` +
			"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			code, stdout, stderr := execute(strings.Fields(tt.args)...)
			if code != tt.code || stdout != tt.stdout || stderr != tt.stderr {
				t.Errorf("got  %d, stdout %q, stderr %q\nwant %d, stdout %q, stderr %q",
					code, stdout, stderr, tt.code, tt.stdout, tt.stderr)
			}
		})
	}
}

func TestExecuteHelp(t *testing.T) {
	tests := []struct{ args, has string }{
		{"--help", "Available Commands:"},
		{"-h", "Available Commands:"},
		{"help", "Available Commands:"},
		{"help add", "--times often"},
		{"add -h", "--times often"},
		{"add --help 1", "--times often"},
		{"list --help", "Lists all"},
		{"help list", "Lists all"},
		{"help list all", "demo list all"},
		{"completion bash", "# bash completion"},
		{"__complete li", "list\tLists"},
		{"__complete add --in t", "text\n"},
		{"add --help", "(default text)"},
		{"add --help", "--in text|json"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			code, stdout, stderr := execute(strings.Fields(tt.args)...)
			if code != ExitOK || !strings.Contains(stdout, tt.has) {
				t.Errorf("got %d, stdout %q, stderr %q", code, stdout, stderr)
			}
		})
	}
}
