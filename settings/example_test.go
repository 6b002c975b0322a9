package settings_test

import (
	"fmt"

	"github.com/app-sre/prcheck/settings"
)

func ExampleRead() {
	rules, err := settings.Read("prcheck.yaml", []byte(`
version: 1
exec: {argv: [qontract-reconcile, --dry-run, "{cmd}", "{shard_args}"], timeout: 5m}
integrations:
  terraform-users:
    shards: {by: ["accounts[*].name"], arg: --account-name, max: 10}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	it := rules.For("terraform-users")
	fmt.Println(it.Exec.Expand(it.Name, []string{"terraform-users"}, it.Shards.Arg, "app-sre"))
	fmt.Println(it.Exec.Timeout, it.Shards.Max, it.ListOrder, it.Trace)
	// Output:
	// [qontract-reconcile --dry-run terraform-users --account-name app-sre]
	// 5m0s 10 ignored exact
}

func ExampleRead_mistakes() {
	_, err := settings.Read("prcheck.yaml", []byte(`version: 1
exec: {timeout: 600}
integrations:
  terraform-users:
    shards: {by: ["accounts[0].name"], agr: --account-name}
`))
	fmt.Println(err)
	// Output:
	// prcheck.yaml:2: exec.timeout: must be a duration such as 90s or 10m, got the number "600"
	// prcheck.yaml:5: integrations.terraform-users.shards: unknown key "agr" (did you mean "arg"?)
	// prcheck.yaml:5: integrations.terraform-users.shards.by: selector "accounts[0].name": position [0] is not supported, since an item is never known by its position; use [*]
}

func ExampleParseSelector() {
	s, err := settings.ParseSelector("roles[*].aws_groups[*].account.name")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the owner is", s.Steps[s.OwnerIndex()].Kind, "of", s.Steps[s.OwnerIndex()-1].Name)
	for _, step := range s.KeySteps() {
		fmt.Println("key:", step.Name)
	}
	// Output:
	// the owner is each item of aws_groups
	// key: account
	// key: name
}
