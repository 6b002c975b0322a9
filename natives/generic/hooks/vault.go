package hooks

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/app-sre/prcheck/internal/phrase"
	"github.com/app-sre/prcheck/natives/generic/body"
)

// findDeletedVault looks whether the name of a vault that is to be created is reserved by a
// deleted one.
func findDeletedVault(ctx context.Context, x Subject) (Ready, error) {
	if x.Live != nil || x.Read == nil {
		return Ready{}, nil
	}
	path, ok := deletedVault(x)
	if !ok {
		return Ready{}, nil
	}
	_, version, _ := strings.Cut(x.Type, "@")
	query := "?api-version=" + url.QueryEscape(version)
	answer, err := x.Read(ctx, path+query)
	switch {
	case err != nil:
		return Ready{}, fmt.Errorf("looking for a deleted vault of this name: %w", err)
	case answer.Status == http.StatusNotFound:
		return Ready{}, nil
	case answer.Status != http.StatusOK:
		return Ready{}, fmt.Errorf("looking for a deleted vault of this name: the service answers %d", answer.Status)
	}
	switch x.OnSoftDeleted {
	case "recover":
		return Ready{Set: map[string]any{"/properties/createMode": "recover"}}, nil
	case "purge":
		if isProtected, _ := body.Get(answer.Body, "/properties/purgeProtectionEnabled"); isProtected == true {
			return Ready{Decision: Block, Code: "SOFT_DELETED",
				Reason: "a deleted vault has this name, and is protected from purging" + until(answer.Body) +
					": recover it, or choose another name"}, nil
		}
		return Ready{Decision: Postpone, Code: "SOFT_DELETED", Reason: "a deleted vault of this name is purged first",
			First: []Request{{Method: http.MethodPost, Path: path + "/purge" + query}}}, nil
	}
	return Ready{Decision: Block, Code: "SOFT_DELETED",
		Reason: "a deleted vault has this name" + until(answer.Body) +
			": set onSoftDeleted to recover or purge, or choose another name"}, nil
}

// until says when the service purges a deleted vault by itself.
func until(deleted any) string {
	if date := text(deleted, "/properties/scheduledPurgeDate"); date != "" {
		return " until " + phrase.Cut(date, maxName)
	}
	return ""
}

// deletedVault returns the path at which a deleted vault would be found.
func deletedVault(x Subject) (string, bool) {
	parts := strings.Split(strings.Trim(x.ID, "/"), "/")
	place := strings.ToLower(strings.ReplaceAll(text(x.Desired, "/location"), " ", ""))
	if len(parts) < 2 || !strings.EqualFold(parts[0], "subscriptions") || place == "" {
		return "", false
	}
	return "/subscriptions/" + parts[1] + "/providers/Microsoft.KeyVault/locations/" + url.PathEscape(place) +
		"/deletedVaults/" + parts[len(parts)-1], true
}

// classifyVault knows that a name that somebody else has is not free the next minute either.
func classifyVault(_ context.Context, _ Subject, f Failure) (Class, error) {
	if f.Status == http.StatusConflict && f.Code == "VaultAlreadyExists" {
		return "slow", nil
	}
	return "", nil
}
