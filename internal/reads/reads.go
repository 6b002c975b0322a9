package reads

// An Access says how a task used one name.
type Access struct {
	Name string // absolute; the file may be missing

	Opened   bool // the task opened the file, or opened the folder and so could list it
	Executed bool // the task ran the file, or the file was the interpreter of a script that ran
	Asked    bool // the task asked for the name in another way: stat, access, readlink, a step of a path
	Wrote    bool // the task opened the file for writing, or made, changed, moved or removed the name
	Moved    bool // the task moved the folder: what is below it may be used by another name
	// MadeFirst reports that the task made the name before it used it in any other way. So
	// what it found there later is its own work.
	MadeFirst bool
	// Seen reports that the name was there when it was first used. What came later, and what a name leads to that
	// led elsewhere before, is not looked at again.
	Seen bool
}

// A Record lists the names that a task used below the given folders.
type Record struct {
	Accesses []Access // sorted by Name
	Partial  string   // why names may be missing; "" if the record is whole
}
