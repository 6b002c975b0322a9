// Package listing lists the files below a folder, and remembers the names in folders that did
// not change.
//
// The system gives a folder a new time of change whenever a name is added to it, removed from
// it, or stands for another file. So the names in a folder are those that were read before
// when the folder is the same one and has the same times. A folder that changed shortly
// before its names were read is read again, since another change could have left the same
// time. What is remembered only saves time: a listing that is missing or damaged is made
// again, and on systems that do not tell enough about a folder nothing is remembered.
package listing
