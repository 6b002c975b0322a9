// Package safepath opens files and folders of a checkout without following symbolic links.
//
// Whoever proposes a change can commit a link where prcheck reads or writes: a link that
// leads to a secret would show the secret, and a link that leads to a file of somebody else
// would overwrite it. So below a checkout, and below the current folder, a link is an error
// ([ErrLink]) in every part of a path: [os.Root] alone follows the links that stay inside of
// it, and [os.OpenRoot] follows a link in its own name.
//
// Paths elsewhere belong to the user, and keep the meaning that the system gives them.
package safepath
