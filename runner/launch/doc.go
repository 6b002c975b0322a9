// Package launch prepares what the tasks of a plan need to start: the command with its
// placeholders filled in, a server for each task that answers queries over both bundles,
// and the environment. Of the runner's environment a task gets only the variables that the
// settings name.
//
//   - Commands and variables come from the plan and from the settings of base. A
//     task whose plan names a variable that the settings do not name is refused.
//   - A task may read only the schemas that its integration's definition allows on
//     each side. Reading another schema fails it, with the class config.
//   - Secrets are recognized by the names of their variables ([Equipment.Secrets]), so
//     that their values can be masked in every output.
package launch
