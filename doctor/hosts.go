package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/app-sre/prcheck/affected"
	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/internal/crash"
	"github.com/app-sre/prcheck/qontract/gql"
	"github.com/app-sre/prcheck/settings"
)

// checkHosts says which hosts natives need by the data of the working tree, and which ones their settings
// allow for nothing.
func (e *examination) checkHosts(ctx context.Context) {
	if len(e.list) == 0 {
		return
	}
	schema, err := gql.NewSchema(e.head.GraphQL())
	if err != nil {
		return // another check tells it
	}
	query := affected.Querier(gql.New(e.head, schema))
	for _, d := range e.list {
		it := e.settings.For(d.Name)
		n, isNative := integration.FindNative(e.Natives, it)
		user, has := n.(integration.HostUser)
		if !isNative || !has {
			continue
		}
		uses, err := usesOf(ctx, user, query, it)
		if err != nil {
			e.warn("hosts", fmt.Sprintf("%s: which hosts the data need is not known: %v", d.Name, err),
				"mend the data or the settings that the message names")
			continue
		}
		e.tellHosts(d.Name, uses)
	}
}

// usesOf asks one native. A panic is an error.
func usesOf(
	ctx context.Context, n integration.HostUser, query integration.QueryFunc, it settings.Integration,
) (out []integration.HostUse, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New(crash.Text(p))
		}
	}()
	return n.UsesHosts(ctx, query, it)
}

// tellHosts tells the hosts of one integration.
func (e *examination) tellHosts(name string, uses []integration.HostUse) {
	var needed []string
	for _, u := range uses {
		switch {
		case u.For == "":
			e.warn("hosts", fmt.Sprintf("%s: the settings allow %s, and no data name it", name, u.Host),
				"take it out of hosts and logins in the settings of "+name)
		case u.Missing != "":
			e.warn("hosts", fmt.Sprintf("%s: the data name %s (%s), and the settings do not: %s", name, u.Host, u.For,
				u.Missing),
				fmt.Sprintf("add %s to hosts in the settings of %s, if it is trusted", u.Host, name))
		default:
			needed = append(needed, fmt.Sprintf("%s (%s)", u.Host, u.For))
		}
	}
	if len(needed) > 0 {
		e.ok("hosts", fmt.Sprintf("%s asks %s", name, strings.Join(needed, ", ")))
	}
}
