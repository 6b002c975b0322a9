// Package launch makes the tasks of a plan startable. Each task gets a server of its
// own that answers queries over both bundles, the environment variables that the
// settings name, and nothing else of the runner's environment.
//
//   - Commands and variables come from the plan and from the settings of base. A
//     task whose plan names a variable that the settings do not name is refused.
//   - A task may read only the schemas that its integration's definition allows on
//     each side. Reading another schema fails it, with the class config.
//   - Values of secrets are found by their variables' names ([Environment.Secrets]),
//     so that they can be masked in every output.
package launch
