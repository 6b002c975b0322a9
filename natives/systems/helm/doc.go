// Package helm renders charts with the program helm, if it is there.
//
//   - A chart is written to a fresh folder, which goes away afterwards. A file whose name leads
//     out of the folder is refused, and there are no links.
//   - The program gets no variables of the environment, no settings and no cluster. It fetches
//     nothing: what a chart depends on must be among its files. What a schema of values refers to in the network is
//     not found, because the program is given a proxy that is not there. It could ask this machine.
//   - Time, memory and output are bounded.
package helm
