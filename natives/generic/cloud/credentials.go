package cloud

import (
	"fmt"
	"slices"
	"strings"

	"github.com/app-sre/prcheck/integration"
	"github.com/app-sre/prcheck/natives/generic/family"
)

// A Credential says how requests about some roots, such as subscriptions, show who sends them.
type Credential struct {
	Parents []string // keys of roots; without any it is for all others
	Login   integration.Login
	Secret  integration.SecretRef
	// TokenFile is the name that the settings give the file of the platform's token, "" for none.
	TokenFile string
}

// Ref returns how the endpoint of an API is reached about a root, which is that of an address, and the credential for
// it. Without one for the root nothing is sent to show who asks.
func (a *API) Ref(root string) (integration.EndpointRef, Credential) {
	ref := integration.EndpointRef{Name: a.Name, URL: a.Endpoint, Token: a.Token, Insecure: a.Insecure,
		Reads: a.ReadActions}
	for _, c := range a.Credentials {
		if len(c.Parents) == 0 || slices.Contains(c.Parents, root) {
			ref.Token, ref.Login = c.Secret, c.Login
			return ref, c
		}
	}
	return ref, Credential{}
}

// IsReachedLike reports whether two entries say the same of how their endpoint is reached.
func (a *API) IsReachedLike(other *API) bool {
	return a.Token == other.Token && a.Insecure == other.Insecure && a.Family == other.Family &&
		slices.EqualFunc(a.Credentials, other.Credentials, func(a, b Credential) bool {
			return slices.Equal(a.Parents, b.Parents) && a.Login == b.Login && a.Secret == b.Secret &&
				a.TokenFile == b.TokenFile
		})
}

// readCredentials reads the credentials of an API. It returns the place of the first mistake and what is wrong there.
func (a *API) readCredentials(rows []credentialRow, f *family.Family) (pointer, why string) {
	if len(rows) > 0 && a.Token != (integration.SecretRef{}) {
		return "/credentials", "the API has token and credentials: one of them is enough"
	}
	for i, row := range rows {
		at := fmt.Sprintf("/credentials/%d", i)
		c := Credential{TokenFile: row.TokenFile, Login: integration.Login{Kind: integration.LoginKind(row.Kind),
			Header: row.Header, User: row.User, TokenURL: row.TokenURL, ClientID: row.ClientID, Scope: row.Scope,
			InBody: row.SecretInBody}}
		if row.Secret != nil {
			ref, isWhole := row.Secret.ref()
			if !isWhole {
				return at + "/secret", "the secret needs a path and a field"
			}
			c.Secret = ref
		}
		if name, why := c.check(); why != "" {
			return at + "/" + name, why
		}
		for _, parent := range row.Parents {
			if f != nil {
				parent = f.Key(parent)
			}
			c.Parents = append(c.Parents, parent)
		}
		if i > 0 && len(a.Credentials[i-1].Parents) == 0 {
			return at, "the credential before it is for all parents, so this one is never used: put it in front"
		}
		a.Credentials = append(a.Credentials, c)
	}
	return "", ""
}

// needed lists the members that a kind of credential must have, and used those that it may have beside them.
var needed, used = map[integration.LoginKind][]string{
	integration.LoginBearer: {"secret"}, integration.LoginHeader: {"header", "secret"},
	integration.LoginBasic: {"user", "secret"}, integration.LoginClient: {"tokenUrl", "clientId", "secret"},
	integration.LoginFederated: {"tokenUrl", "clientId", "tokenFile"},
}, map[integration.LoginKind][]string{
	integration.LoginClient: {"scope", "secretInBody"}, integration.LoginFederated: {"scope"},
}

// check returns the member of a credential that is missing or too much, and what is wrong with it.
func (c Credential) check() (member, why string) {
	must, isKnown := needed[c.Login.Kind]
	if !isKnown {
		return "kind", fmt.Sprintf("there is no kind %.80q of credentials; there are bearer, header, basic, client_credentials "+
			"and workload_identity", c.Login.Kind)
	}
	has := map[string]bool{"secret": c.Secret != integration.SecretRef{}, "header": c.Login.Header != "",
		"user": c.Login.User != "", "tokenUrl": c.Login.TokenURL != "", "clientId": c.Login.ClientID != "",
		"scope": c.Login.Scope != "", "secretInBody": c.Login.InBody, "tokenFile": c.TokenFile != ""}
	for _, name := range sortedKeys(has) {
		switch {
		case slices.Contains(must, name) && !has[name]:
			return name, fmt.Sprintf("a credential of the kind %s needs %s", c.Login.Kind, strings.Join(must, ", "))
		case has[name] && !slices.Contains(must, name) && !slices.Contains(used[c.Login.Kind], name):
			return name, fmt.Sprintf("a credential of the kind %s has no %s", c.Login.Kind, name)
		}
	}
	return "", ""
}
