// Package sources finds the bundles that a qontract-server serves: those that the user names,
// or those that the variables of qontract-server name (INIT_BUNDLES, LOAD_METHOD,
// DATAFILES_FILE, AWS_S3_BUCKET, AWS_S3_KEY, BUNDLE_SHA_TTL). [Read] finds them, [Sources.Fill]
// loads them into a server, and [Sources.Reload] loads the latest bundle again.
package sources
