// Package repositories reads git repositories over HTTP, as services.Repositories: those of
// GitLab, GitHub and plain git servers alike.
//
//   - The commits of branches come from one request of git's protocol, without the program git. A
//     server that does not speak version 2 of the protocol is asked in the older way.
//   - Histories and files are fetched by the program git, see package internal/git, into a folder
//     that goes away with the process. Of files only those that are asked for are fetched, if
//     the server can leave out others.
//   - An address is tried with .git at its end first, and then without. A redirect to another
//     host is refused. Credentials go to the host of the address alone, and only over TLS or to
//     this machine.
//   - Only a server that answers that there is no such repository, commit or path gives
//     services.ErrNotThere. Of all other failures nobody knows. Errors have neither credentials
//     nor words of the server.
//   - Links are left out, and nothing is checked out: no file of a repository ever gets a name
//     on this machine.
package repositories
