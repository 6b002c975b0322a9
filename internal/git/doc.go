// Package git reads repositories with the program git: the files of a [Commit], the working tree of a [Repository], and
// the paths that differ between the two. It is the only package that starts git.
//
// Git is started so that it only reads. It runs no program that the settings of a repository name, it asks for no
// password, and it takes no lock. [Repository.Fetch] is the only function that uses the network.
package git
