// Package source opens what a user names on the command line: bundles, settings and plans.
//
// A bundle is named by a reference:
//
//	base.json                          a bundle file
//	git:REV[@DIR]                      a revision of the repository in DIR, bundled on the way
//	dir:PATH                           the working tree in PATH, bundled on the way
//	s3://BUCKET/KEY                    an object in a bucket
//	http(s)://SERVER/graphqlsha/SHA    a bundle of a running qontract-server
//
// An [Opener] opens bundles: [Opener.Bundle] one, [Opener.Pair] base and head of a change.
// A live server is different from the rest, since it answers and does not hand out its
// bundles: [Opener.Live] opens both sides there.
//
// Settings say where in a checkout the parts of a bundle are. [OpenSettings] reads them from
// a file, from an object, or from a revision: base:PATH is the file of the revision that
// base names, and git:REV[@DIR]:PATH that of any. Which settings may be used for a plan is
// decided in planner/rules; here they are only read.
//
// Errors say whose mistake they are: [cli.Invalid] and [cli.Usage] mark those of the user.
package source
