// Package registry reads digests of images over the distribution API, as services.Registry.
//
//   - One HEAD request asks for an image. If the registry wants a token, the token is fetched
//     from the address that the registry names, and kept while it is valid.
//   - A login goes to the registry itself. It goes to another host for a token only if that one
//     is named in [Options.Realms], or is known to belong to the registry. The address of a
//     token must have TLS, unless it is this machine.
//   - Redirects are refused. Requests go the one way out, see package outward.
//   - Only a registry that answers that it has no such image gives services.ErrNotThere. Of all
//     other failures nobody knows, and an image that nobody knows of is never one that is there.
//   - Errors have neither logins nor words of the registry.
package registry
