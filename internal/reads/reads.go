package reads

// A Scope says which names are recorded.
type Scope struct {
	Below []string // these folders, and what is below them
	// Shared are folders among them in which somebody else may write meanwhile, with all that is below them. Of these
	// the record also says what was there before the task changed it.
	Shared []string
}

// A Content is what a file was.
type Content struct {
	IsProgram bool
	SHA256    string
}

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
	// led elsewhere before, is not looked at again. It is not said of a name that leads through a link, but of the link
	// and of the name to which it leads.
	Seen bool
	// Inode is the number of the file or folder that was there then; 0 if nobody looked.
	Inode uint64

	// Names are the names in a shared folder when the task first opened it, sorted, as they would be if the task had
	// changed nothing there before; nil if nobody looked.
	Names []string
	// Unsteady reports that the task opened the folder again when it had other names, which the task had neither made
	// nor removed.
	Unsteady bool
	// Before is what a shared file was before the task first changed it; nil if nobody looked.
	Before *Content
}

// A Record lists the names that a task used below the given folders.
type Record struct {
	Accesses []Access // sorted by Name
	Partial  string   // why names may be missing; "" if the record is whole
}
