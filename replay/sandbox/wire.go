package sandbox

// InitVerb is the first argument of the program that becomes the init of a sandbox.
const InitVerb = "sandbox-init"

// setup is what the init is told before anything else.
type setup struct {
	Dir     string   `json:"dir"`
	State   string   `json:"state"`
	Home    string   `json:"home,omitempty"`
	Visible []string `json:"visible,omitempty"` // of the home, relative to it
	Tools   []string `json:"tools,omitempty"`   // of other homes
	Copy    bool     `json:"copy,omitempty"`    // the view of Dir is State/copy
	Network bool     `json:"network,omitempty"`
	Hide    []string `json:"hide,omitempty"`
	Sockets []string `json:"sockets,omitempty"` // paths that sockets of the host are bound to
	Limits  Limits   `json:"limits"`
	Probe   bool     `json:"probe,omitempty"` // only find out what works, and end
}

// reply is what the init sends: Ready (or Err) once, then one for each command that ended.
type reply struct {
	ID     int64  `json:"id,omitempty"`
	Err    string `json:"err,omitempty"`
	Reason string `json:"reason,omitempty"` // of Err: program, dir, overlay
	Ready  bool   `json:"ready,omitempty"`
	Report Report `json:"report,omitzero"`
	Status int    `json:"status,omitempty"` // as wait4 gives it
}

// order is what the host asks of the init. A command comes with two files: its description as JSON,
// since a message of this kind of socket is bounded, and what its output goes to.
type order struct {
	ID   int64  `json:"id"`
	Op   string `json:"op"` // run, term, kill
	Size int64  `json:"size,omitempty"`
}

// job is the description of a command.
type job struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"`
}
