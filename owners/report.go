package owners

// A Status says whether somebody may approve a place.
type Status string

// The states of a place.
const (
	Owned   Status = "owned"
	Nobody  Status = "nobody"
	Unknown Status = "unknown" // it could not be found out
)

// A Report says who must approve a change. It is a document for programs as well; changes only add.
type Report struct {
	Version  int          `json:"version"`
	Places   []AskedPlace `json:"places"`
	Ask      Ask          `json:"ask"`
	Findings []Finding    `json:"findings,omitempty"`
}

// An AskedPlace is a difference about which somebody must decide.
type AskedPlace struct {
	File      string  `json:"file"`
	Kind      string  `json:"kind"`
	Schema    string  `json:"schema,omitempty"`
	Place     string  `json:"place"`
	From      string  `json:"from,omitempty"` // the place in base, if it is another one
	Change    string  `json:"change"`
	Moved     string  `json:"moved,omitempty"` // the path of the other end of a move
	Status    Status  `json:"status"`
	Owners    []Owner `json:"owners"`
	Why       string  `json:"why,omitempty"` // of a place that nobody may approve, or of which that is unknown
	IsInParts bool    `json:"in_parts,omitempty"`
}

// Name returns the file and the place.
func (p AskedPlace) Name() string { return p.File + " " + p.Place }

// People returns who may approve the place, once each.
func (p AskedPlace) People() []string {
	var out []string
	for _, o := range p.Owners {
		if !o.IsDisabled {
			out = append(out, o.People...)
		}
	}
	return unique(out)
}

// An Owner is a context that covers a place: the chain from the place to people.
type Owner struct {
	Role          string   `json:"role"`
	RoleFile      string   `json:"role_file,omitempty"`
	People        []string `json:"people"`
	Unknown       []string `json:"unknown,omitempty"` // sources of members, and owners whom base does not know
	Type          string   `json:"change_type"`
	Bound         string   `json:"bound_type"` // the type that the role binds
	File          string   `json:"context_file"`
	BoundFile     string   `json:"bound_file"`
	Base          string   `json:"base_selector,omitempty"`
	Head          string   `json:"head_selector,omitempty"`
	Reach         []string `json:"reach,omitempty"`
	IsDisabled    bool     `json:"disabled,omitempty"`
	IsRestrictive bool     `json:"restrictive,omitempty"`
}

// An Ask is whom to ask.
type Ask struct {
	Sets    [][]string `json:"sets"`
	Size    int        `json:"size"`
	AtLeast int        `json:"at_least"`
	Nobody  []string   `json:"nobody,omitempty"`
	Unknown []string   `json:"unknown,omitempty"`
}

// A Finding is what is wrong with rules, or could not be found out.
type Finding struct {
	Side    string `json:"side"` // base, head, or settings
	File    string `json:"file"`
	Pointer string `json:"pointer,omitempty"`
	Text    string `json:"text"`
}
