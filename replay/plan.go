package replay

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/replay/danger"
	"github.com/recountdb/recount/schemas"
)

// Plan is a narrative made ready to be run again.
type Plan struct {
	ID        string `json:"id" example:"5f1d0c6e0b9d4c0f8a6d8f2a0e8f7c1b3d5a79e1c2b4d6f8a0b2c4d6e8f0a1b3" doc:"SHA-256 over everything that says what would be done, in hex: all fields but this one and watermark."`
	Goal      Goal   `json:"goal" doc:"What the plan is for."`
	Workspace string `json:"workspace,omitempty" example:"/home/bob/app" doc:"The workspace of the steps after mapping, if they have one in common."`
	// Steps are in a stable topological order.
	Steps []Step `json:"steps" nullable:"false" doc:"The steps, in a stable topological order of their needs."`
	// Settled is what the last replays left in the directory. While all of it holds, the steps marked as
	// settled are done.
	Settled []Postcondition `json:"settled,omitempty" doc:"What the last replays of these commands left in the directory, as postconditions of the kinds file (it is there, with Hash if that is known) and absent. While all of them hold, the steps marked as settled are done."`
	// Ends is what the recorder saw of files at the end.
	Ends []Postcondition `json:"ends,omitempty" doc:"What the recorder saw of files at the end of the narrative, as postconditions of the kinds file and absent, at most 4000. A run that did all steps compares with them what it left."`
	// Inputs are the files that have to be there before.
	Inputs      []Input           `json:"inputs,omitempty" doc:"Files that steps read by name and that no step before them makes, as far as is known, at most 64."`
	Left        []Left            `json:"left_out" nullable:"false" doc:"The commands of the narrative that are not needed, oldest first, each with its reason; those that trials left out stand last."`
	Missing     []Missing         `json:"missing,omitempty" doc:"Events that the narrative names and that are not known, such as erased ones."`
	Mappings    []Mapping         `json:"mappings,omitempty" doc:"What was replaced by what, longest first, and how often."`
	Parameters  []Parameter       `json:"parameters,omitempty" doc:"Values that differ between runs of the same commands, and which the request may set; and those that it sets, with the others of their names."`
	Environment []Difference      `json:"environment,omitempty" doc:"How the recorded environment differs between the steps, and from the one that was given."`
	Watermark   schemas.Watermark `json:"watermark" example:"recount.commands/0:42" doc:"The plan is computed from everything below these offsets."`
}

// Input is a file that a step reads and that no step makes.
type Input struct {
	Path     string             `json:"path" example:"/home/bob/app/Makefile" doc:"Its path, after mapping."`
	Step     int                `json:"step" example:"0" doc:"The index of the first step that reads it, or of the first that could not do without."`
	Certain  bool               `json:"certain" example:"true" doc:"Whether the recorded run shows that it was there; otherwise the step may read it."`
	Evidence []schemas.Position `json:"evidence" nullable:"false" doc:"The position of the command that reads it."`
}

// Goal is what a plan is for.
type Goal struct {
	Kind    string            `json:"kind" enum:"command,session,stitch,find,mend" example:"command" doc:"command: one command and what it needs; session: what the commands of a session left; stitch, find: likewise for a narrative and for hits; mend: from a failure to the run that worked."`
	What    string            `json:"what" example:"make install" doc:"The command, the session's name or the search text."`
	Intents []schemas.EventID `json:"intents" nullable:"false" doc:"The commands that the plan has to end with."`
}

// Step is one command of a plan.
type Step struct {
	Index    int              `json:"index" example:"0" doc:"Its place in the plan, from 0."`
	Intent   schemas.EventID  `json:"intent" format:"uuid" doc:"The id of the recorded command."`
	Position schemas.Position `json:"position" doc:"The position of its event in the log."`
	Original string           `json:"original" example:"make -C /home/alice/app" doc:"The command as recorded."`
	Command  string           `json:"command" example:"make -C /home/bob/app" doc:"The command to run."`
	Shell    string           `json:"shell,omitempty" example:"bash" doc:"The shell it ran in."`
	// Session groups the steps that ran in one shell. One with Sets changes that shell, and a
	// step that needs it (NeedEnvironment) must run in what it left. If nothing in a session has
	// Sets, its steps may run in shells of their own.
	Session    string            `json:"session,omitempty" example:"tty7-4711" doc:"The shell session it ran in."`
	Sets       []string          `json:"sets,omitempty" example:"[\"PATH\"]" doc:"What it changes in the shell that runs it, for later steps of its session: NAME of a variable, NAME() of a function, alias NAME, option, or * if that is not known (source, eval)."`
	OwnShell   bool              `json:"own_shell,omitempty" doc:"It changed its shell, which ended with it, as that of each command of some coding agents does: a script runs it in a shell of its own."`
	Cwd        string            `json:"cwd,omitempty" example:"/home/bob/app" doc:"The directory to run it in, after mapping."`
	Env        map[string]string `json:"env,omitempty" doc:"The recorded environment, after mapping. Redacted values are left out."`
	Why        []Reason          `json:"why" nullable:"false" doc:"Why the step is in the plan."`
	Needs      []Need            `json:"needs,omitempty" doc:"What it needs of earlier steps."`
	Danger     []danger.Finding  `json:"danger,omitempty" doc:"What is dangerous about it. Each needs a yes of its own."`
	Unknown    []string          `json:"unknown,omitempty" example:"[\"sometool\"]" doc:"Its programs about which nothing is known, and subcommands of programs that talk to a network. With the network open, or without a sandbox, such a program may change something elsewhere, and each needs a yes, once for all steps."`
	Asks       []Ask             `json:"asks,omitempty" doc:"What has to be answered before it may run."`
	Post       []Postcondition   `json:"postconditions" nullable:"false" doc:"What is so after it ran. If all of it is so already, the step is not run."`
	Settled    bool              `json:"settled,omitempty" doc:"A replay did it as it is now, and it could reach nothing but the directory: it is done if the directory is as the last replays left it. What it would leave running need not start then if a later step ends that (ended_by), or if no later step has to run and the run ends it."`
	Background bool              `json:"background,omitempty" doc:"It leaves a process running that later steps use, or may use."`
	EndedBy    *int              `json:"ended_by,omitempty" example:"6" doc:"For a step that leaves a process running: the index of the step that ends it, if one is known to."`
	Exit       *int32            `json:"exit_code,omitempty" example:"0" doc:"The exit code of the recorded run; absent if unknown."`
	Duration   *int64            `json:"duration_ns,omitempty" example:"1500000000" doc:"The duration of the recorded run in nanoseconds; absent if unknown."`
	Outputs    []string          `json:"outputs,omitempty" example:"[\"/home/bob/app/bin/app\"]" doc:"Paths it writes, moves or removes as far as is known, after mapping."`
}

// Reason says why a step is in a plan.
type Reason struct {
	Kind     string             `json:"kind" enum:"goal,needed,result,asked" example:"needed" doc:"goal: it is what was asked for; needed: a later step needs it; result: what it made is there at the end; asked: everything was asked for."`
	Text     string             `json:"text" example:"step 3 reads /home/bob/app/Makefile, which it wrote" doc:"The reason as a sentence."`
	Evidence []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of the events that show it."`
}

// Kinds of needs.
const (
	NeedFile        = "file"
	NeedDirectory   = "directory"
	NeedWorkingDir  = "working-directory"
	NeedEnvironment = "environment"
	NeedPackage     = "package"
	NeedImage       = "image"
	NeedContainer   = "container"
	NeedBranch      = "branch"
	NeedCommit      = "commit"
	NeedService     = "service"
	// NeedOrder says only that a step must not run before another, which reads or writes what
	// it replaces.
	NeedOrder = "order"
)

// Need says that a step has to follow another one, and why.
type Need struct {
	On         int                `json:"on" example:"0" doc:"The index of the other step."`
	Kind       string             `json:"kind" enum:"file,directory,working-directory,environment,package,image,container,branch,commit,service,order" example:"file" doc:"What it needs of that step. order: only that it does not run earlier, because it replaces what that step uses."`
	What       string             `json:"what" example:"/home/bob/app/Makefile" doc:"Its name: a path after mapping, a variable, a package, …"`
	Evidence   []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of both commands."`
	Confidence float64            `json:"confidence" example:"0.9" doc:"How sure this is, 0 to 1."`
}

// Kinds of questions.
const (
	AskRedacted    = "redacted"
	AskTransform   = "transformation"
	AskSyntax      = "syntax"
	AskTerminal    = "terminal"
	AskFailed      = "failed"
	AskEnvironment = "environment"
	AskUnwritten   = "unwritten"
)

// Ask is something that has to be answered before a step may run.
type Ask struct {
	Kind string `json:"kind" enum:"redacted,transformation,syntax,terminal,failed,environment,unwritten" example:"redacted" doc:"redacted: a value was not recorded and has to be given in the variable name; transformation: a mapping may not reach everything; syntax: the command could not be parsed, so nothing is known about it; terminal: it needs a terminal, so it cannot be replayed unattended; failed: it failed when it was recorded; environment: a variable it uses was not recorded; unwritten: it stands for a change of a file by a coding agent whose text is not known, and cannot be run."`
	Text string `json:"text" example:"the password was redacted: give it in $RECOUNT_PASSWORD" doc:"The question as a sentence."`
	Name string `json:"name,omitempty" example:"RECOUNT_PASSWORD" doc:"For redacted and environment: the environment variable that has to hold the value when the plan is run."`
}

// OwnName returns the name of the variable whose value is for the step of an index alone: two steps may ask for
// different values by the same name.
func (a Ask) OwnName(step int) string { return a.Name + "_" + strconv.Itoa(step+1) }

// Kinds of postconditions.
const (
	PostFile      = "file"
	PostDirectory = "directory"
	PostAbsent    = "absent"
	PostPackage   = "package"
	PostCommit    = "commit"
	PostBranch    = "branch"
	PostTag       = "tag"
	PostImage     = "image"
	PostPort      = "port"
	PostStaged    = "staged"
	PostSetting   = "setting"
	PostHead      = "head"
	PostNoBranch  = "no-branch"
	PostNoTag     = "no-tag"
	PostPicked    = "picked"
	PostLink      = "link"
	PostMode      = "mode"
	PostQuiet     = "quiet"
	PostNone      = "none"
)

// Postcondition is something that is so after a step ran.
type Postcondition struct {
	Kind string `json:"kind" enum:"file,directory,absent,package,commit,branch,tag,image,port,staged,setting,head,no-branch,no-tag,picked,link,mode,quiet,none" example:"file" doc:"file: Target exists, with Hash if that is known; directory; absent: nothing has that path; package: Manager has it; commit: a commit with Hash, or with the message Target, is an ancestor of HEAD; Hash may be the name of a branch; branch, tag: Target exists; image; port: something listens there; staged: git would add nothing of Target; setting: git config has Target, KEY=VALUE; head: HEAD is the branch Target; no-branch, no-tag: there is none of the name Target; picked: the change of the last commit of the branch Target is in the history of HEAD; link: Target is a symbolic link to Hash; mode: Target has the permissions Hash, as find -perm takes them; quiet: its last replay changed no file and could reach nothing else, so it need not run again if no step that it needs has to; none: nothing can be checked, so the step always runs."`
	// Target is a path, a package, a commit's message, a branch, an image or a port.
	Target  string `json:"target,omitempty" example:"/home/bob/app/bin/app" doc:"What it is about."`
	Manager string `json:"manager,omitempty" example:"pip" doc:"For package: the program that installs it."`
	// Updates means that the step changes a file that was there, so that only its content tells.
	Updates bool `json:"updates,omitempty" doc:"For file: the step changes what was there before, so that only the content tells whether it ran."`
	// Hash is the SHA-256 of a file's content, a commit, or what a link points to.
	Hash string `json:"hash,omitempty" doc:"For file: the SHA-256 of the content that the last run left, if it was recorded. For commit: a commit or branch. For link: what it points to."`
	// ReplacedBy is a later step that writes or removes the target. This postcondition does
	// not hold any more once that step has run; then that step's own tells.
	ReplacedBy *int `json:"replaced_by,omitempty" example:"4" doc:"The index of a later step that changes or removes the target. Once that step's own postcondition holds, this one need not."`
}

// Reasons for which commands are left out.
const (
	LeftLooked     = "looked"
	LeftNavigated  = "navigated"
	LeftFailed     = "failed"
	LeftSuperseded = "superseded"
	LeftUndone     = "undone"
	LeftUnrelated  = "unrelated"
	LeftRepeated   = "repeated"
	LeftUnfinished = "unfinished"
	LeftOwn        = "own"
	LeftTried      = "tried"
)

// Left is a command of the narrative that is not in the plan.
type Left struct {
	Intent   schemas.EventID    `json:"intent" format:"uuid" doc:"The id of the recorded command."`
	Position schemas.Position   `json:"position" doc:"The position of its event."`
	Command  string             `json:"command" example:"ls -l" doc:"The command as recorded."`
	Kind     string             `json:"kind" enum:"looked,navigated,failed,superseded,undone,unrelated,repeated,unfinished,own,tried" example:"looked" doc:"looked: it only displayed something; navigated: it only changed the directory, which each step states; failed; superseded: a later run replaced all it made; undone: what it made was removed; unrelated: nothing that is needed rests on it; repeated: a later run of the same command made the same; unfinished: it was interrupted; own: a verb of Recount; tried: a trial without it, in a sandbox, came to the same end."`
	Why      string             `json:"why" example:"it only displayed files" doc:"The reason as a sentence."`
	Evidence []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of the events that show it."`
}

// Missing is an event that the narrative names and that is not known.
type Missing struct {
	Ref  string `json:"ref" example:"018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55" doc:"Its id or its position."`
	Text string `json:"text" doc:"What names it, and what that means."`
}

// Mapping replaces something by something else in all steps.
type Mapping struct {
	Kind string `json:"kind" enum:"path,user,home,host,port,branch,container,image" example:"path" doc:"What is replaced."`
	From string `json:"from" example:"/home/alice/app" doc:"What was recorded."`
	To   string `json:"to" example:"/home/bob/app" doc:"What replaces it."`
	// Uses counts the places it was applied to: in commands, and directories that steps run in.
	Uses int `json:"uses" example:"12" doc:"How often it was applied: in commands, and to directories that steps run in."`
}

// Parameter is a value that differs between runs of the same template.
type Parameter struct {
	Name    string             `json:"name" example:"VERSION" doc:"The name to set it by. Where values share a name, all but the first have a number behind it, as VERSION_2."`
	Value   string             `json:"value" example:"1.1" doc:"The recorded value."`
	Set     string             `json:"set,omitempty" example:"1.2" doc:"The value that the request set."`
	Given   bool               `json:"given,omitempty" doc:"The request set it, to the value in set, or to nothing if that is absent."`
	Steps   []int              `json:"steps" nullable:"false" doc:"The steps that have it."`
	Values  []string           `json:"values" nullable:"false" doc:"Values in other runs, the newest first."`
	Origins []schemas.Position `json:"evidence" nullable:"false" doc:"The positions of those runs."`
}

// Difference is a difference of environments.
type Difference struct {
	Step  int    `json:"step" example:"2" doc:"The first step that has B."`
	With  string `json:"with" enum:"step,here" example:"step" doc:"step: between this step and the one before it; here: between this step and where the plan will run."`
	Field string `json:"field" example:"env GOFLAGS" doc:"shell, user, host, git_head, or env NAME; context if only the hashes of the contexts are known to differ."`
	A     string `json:"a,omitempty" example:"-mod=mod" doc:"The value before, or recorded; empty if it was not set."`
	B     string `json:"b,omitempty" example:"-mod=vendor" doc:"The value from this step on, or here; empty if it was not set."`
	// Hashes are the context hashes that differ.
	Hashes []string `json:"context_hashes,omitempty" doc:"The context hashes that showed the difference."`
}

// Identify sets the plan's ID.
func (p *Plan) Identify() error {
	id, err := p.identity()
	p.ID = id
	return err
}

// Check reports whether ID is that of the plan's content, and its steps are numbered and in an
// order that their needs allow.
func (p *Plan) Check() error {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Index != i {
			return fmt.Errorf("plan %s: step %d has index %d: the plan was edited by hand; make it again with recount replay --json", p.short(), i, s.Index)
		}
		for _, n := range s.Needs {
			if n.On < 0 || n.On >= i {
				return fmt.Errorf("plan %s: step %d (%s) needs step %d, which does not come before it: make the plan again with recount replay --json", p.short(), i, s.Original, n.On)
			}
		}
	}
	id, err := p.identity()
	if err != nil {
		return err
	}
	if id != p.ID {
		return fmt.Errorf("plan %s: its content has the id %s: it was changed since it was made; make it again with recount replay --json", p.short(), id)
	}
	return nil
}

// Directory returns the directory that the steps may change unless another is asked for: their workspace,
// or else the one that all their working directories have in common. It is "" if that is unknown, or so
// high (/home, /tmp) that it is certainly not meant. Outside of a repository the workspace is a guess, and
// one that holds the home directory is wrong.
func (p *Plan) Directory(home string) string {
	holds := func(dir string) bool { return home != "" && (home == dir || strings.HasPrefix(home, dir+"/")) }
	if p.Workspace != "" && p.Workspace != "/var/tmp" && strings.Count(p.Workspace, "/") > 1 && !holds(p.Workspace) {
		return p.Workspace
	}
	common := ""
	for i := range p.Steps {
		dir := path.Clean(p.Steps[i].Cwd)
		if !path.IsAbs(dir) {
			return ""
		}
		if i == 0 {
			common = dir
		}
		for common != "/" && dir != common && !strings.HasPrefix(dir, common+"/") {
			common = path.Dir(common)
		}
	}
	if strings.Count(common, "/") < 2 || common == "/var/tmp" {
		return ""
	}
	return common
}

// UnknownProgram is what is said of a program in Unknown where it may reach more than the directory.
func UnknownProgram(name string) string {
	return "nothing is known about " + name + ": with the network open it may change something elsewhere"
}

// Listens reports whether the step starts what is known to answer at a port.
func (s *Step) Listens() bool {
	return slices.ContainsFunc(s.Post, func(p Postcondition) bool { return p.Kind == PostPort })
}

// Hash names what a step would do where, and what is dangerous about that: by it a caller agrees to a
// dangerous step before the plan runs, so that the yes does not hold for another one.
func (s *Step) Hash() (string, error) {
	danger, err := json.Marshal(s.Danger)
	if err != nil {
		return "", fmt.Errorf("encode step: %w", err)
	}
	c := schemas.NewCanon("recount/replay/step/1").String(s.Intent.String()).String(s.Command).String(s.Shell).String(s.Cwd)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		c.String(name).String(s.Env[name])
	}
	sum := c.Bytes(danger).Sum()
	return hex.EncodeToString(sum[:]), nil
}

func (p *Plan) short() string {
	return p.ID[:min(12, len(p.ID))]
}

// identity hashes the JSON of all parts that say what would be done. encoding/json writes fields in
// the order of the struct and keys of maps sorted, so equal plans have equal bytes.
func (p *Plan) identity() (string, error) {
	c := schemas.NewCanon("recount/replay/plan/1").String(p.Workspace)
	for _, part := range []any{p.Goal, p.Steps, p.Left, p.Missing, p.Mappings, p.Parameters, p.Environment} {
		b, err := json.Marshal(part)
		if err != nil {
			return "", fmt.Errorf("encode plan: %w", err)
		}
		c.Bytes(b)
	}
	if len(p.Settled) > 0 {
		b, err := json.Marshal(p.Settled)
		if err != nil {
			return "", fmt.Errorf("encode plan: %w", err)
		}
		c.Bytes(b)
	}
	if len(p.Ends) > 0 {
		b, err := json.Marshal(p.Ends)
		if err != nil {
			return "", fmt.Errorf("encode plan: %w", err)
		}
		c.String("ends").Bytes(b)
	}
	if len(p.Inputs) > 0 {
		b, err := json.Marshal(p.Inputs)
		if err != nil {
			return "", fmt.Errorf("encode plan: %w", err)
		}
		c.String("inputs").Bytes(b)
	}
	sum := c.Sum()
	return hex.EncodeToString(sum[:]), nil
}
