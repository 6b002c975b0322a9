// Package systems gives native integrations the secrets, clusters and buckets that they ask
// for by name.
//
//   - Where secrets come from is said by the settings of base. Without a source every secret
//     is an error of the class config.
//   - Whoever must mask a secret learns it (Options.Learn) before anybody else gets it. This
//     holds for what is needed to log in to Vault as well.
//   - A secret has at most 64 KiB and is not empty. It is kept for a minute, so that a change
//     of it is seen.
//   - Paths and fields come from the data of a change. A path that leads out of the folder of
//     the secrets, or of the mount in Vault, is an error.
//   - An error names path and field of a secret and what to do. It never has a value, and no
//     text of the server, which could have one.
//   - What may pass by itself, such as a server that does not answer, has the class transient;
//     see [integration.ClassOfFailure].
package systems
