package reconciler

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/cli"
	"github.com/app-sre/prcheck/natives/saas/promotions"
)

// ciUser is the variable in which GitLab tells a job who started it. Whoever can set it can be anybody, so it is a
// default, and no proof.
const ciUser = "GITLAB_USER_LOGIN"

func saasCommand(env cli.Env, natives []integration.Native) *cobra.Command {
	f := runFlags{form: cli.OneOf("text", "json")}
	by, name := "", promotions.Name
	cmd := &cobra.Command{
		Use:   "saas WORD TARGET [COMMIT] --by NAME --bundle REF [flags]",
		Short: "Say something about a commit at a target of a saas file",
		Long: `saas gives a command about the promotions of a target. It is noted in the ledger of the
target with who gave it and when, and the next loops and runs follow it. Words:

  reject, unreject   the commit is not promoted to the target, until that is taken back
  promote            the commit needs no soak time and no window any more; never a blocked
                     one, and never one that no publisher ran
  retry              what failed runs once more
  pin, unpin         no other commit is proposed
  hold, unhold       nothing is proposed and nothing runs

TARGET is what the settings call it: SAAS/TEMPLATE/ENVIRONMENT, SAAS/ENVIRONMENT, an
environment, its own name or its identity. COMMIT is a full sha. The settings of base say
who may speak for a target (may); the word of anybody else is noted as refused.

In a job of GitLab, --by is by default who started the job, as GITLAB_USER_LOGIN says, and no
other name is taken there by mistake. Neither proves anything about a person: whoever can run
this command can set that variable, give any name, and write to the bucket. With words: comments
the settings take words by comments alone, whose authors the forge knows.

It is a dry run unless --no-dry-run is given, whatever the environment says.

Exit codes: 0 done; 1 refused; 2 wrong usage; 3 nothing could be done.`,
		Example: `  reconciler saas reject shop/production 3f1c9a0b5d7e8f60123456789abcdef012345678 --by jane --bundle git:main --state state --no-dry-run
  reconciler saas hold shop/production --by jane --bundle git:main --state state --no-dry-run
  reconciler saas retry shop/stage --by jane --bundle git:main --state state --no-dry-run`,
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch user := env.Getenv(ciUser); {
			case by == "" && user == "":
				return cli.Usage(errors.New("--by is required: who says this"))
			case by == "":
				by = user
			case user != "" && by != user:
				return cli.Usage(fmt.Errorf("this job was started by %.80s, and --by names %.80s: leave out --by", user, by))
			}
			text := strings.Join(args, " ")
			if err := promotions.CheckWord(text); err != nil {
				return cli.Usage(err)
			}
			f.Approve.Word = &integration.Word{Text: text, Who: by}
			if err := f.fillDryRun(cmd.Flags().Changed, func(string) string { return "" }); err != nil {
				return cli.Usage(err)
			}
			if err := f.check(env.Getenv); err != nil {
				return cli.Usage(err)
			}
			return f.run(cmd.Context(), env, natives, name)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().StringVar(&by, "by", "", "`name` of the person who says this, as the settings have it")
	cmd.Flags().StringVar(&name, "integration", name, "`name` of the definition of the promotions")
	return cmd
}
