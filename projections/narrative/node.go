package narrative

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/cut"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	// maxResources and maxPrograms limit how many resources and programs of a command its node
	// stores.
	maxResources = 32
	maxPrograms  = 8
	// maxDerived limits those that its text does not name.
	maxDerived = 16
)

// Access is a set of bits for how a command uses a resource.
type Access uint8

// These are the kinds of access. They can be combined.
const (
	Read Access = 1 << iota
	Write
	// Tree includes everything below the directory.
	Tree
	// Implied marks a resource that follows from what the program does; the command does not name
	// it.
	Implied
	// Bare marks a word that names a file only if there is one of that name. It is Implied too.
	Bare
	accessBits = iota
)

// Resource is something that a command reads or writes.
type Resource struct {
	Kind recountv1.ResourceKind
	// Name is canonical for its kind, as in the record.
	Name   string
	Access Access
}

var resourceKindNames = map[recountv1.ResourceKind]string{
	recountv1.ResourceKind_RESOURCE_KIND_PATH: "path", recountv1.ResourceKind_RESOURCE_KIND_URL: "url",
	recountv1.ResourceKind_RESOURCE_KIND_CONTAINER: "container", recountv1.ResourceKind_RESOURCE_KIND_IMAGE: "image",
	recountv1.ResourceKind_RESOURCE_KIND_HOST: "host", recountv1.ResourceKind_RESOURCE_KIND_BRANCH: "branch",
	recountv1.ResourceKind_RESOURCE_KIND_PACKAGE: "package", recountv1.ResourceKind_RESOURCE_KIND_PORT: "port", kindVariable: "variable",
}

// String returns the resource as evidence shows it: "path:/src/app/Makefile".
func (r Resource) String() string {
	name := resourceKindNames[r.Kind]
	if name == "" {
		name = "resource"
	}
	return name + ":" + r.Name
}

// Node is an intent as stored in the narrative, with the outcome that counts.
type Node struct {
	ID       schemas.EventID
	Position schemas.Position
	// TimeUnixNano is the start time by the clock of its machine.
	TimeUnixNano int64
	// Clock is the time that orders intents of different partitions. It never goes back within a
	// partition.
	Clock int64

	Workspace, Session, Cwd, Author string
	// Dir is the directory that the goal of the line ran in: Cwd, or the directory the line changed
	// to, or "?" if that is not known.
	Dir string
	// Template and Content are hashes of the template and of the folded command. Goal is a hash of
	// the program and subcommands of the line's goal, Act of that command with its arguments.
	// GitHead and StatedIntent are hashes too, 0 if absent.
	Template, Content, Goal, Act, GitHead, StatedIntent uint64
	// ParentID is the event it names as its parent, or zero.
	ParentID schemas.EventID
	// Programs are the first programs it runs, at most maxPrograms.
	Programs  []string
	Effects   Effect
	Category  recountv1.Category
	Resources []Resource

	// ExitCode is nil if unknown. The exit code in the intent's own event takes precedence over
	// that of the latest visible outcome.
	ExitCode *int32
	// Outcome is the position of the event that reports ExitCode: the intent's own event or an
	// outcome. It is the zero Position if the exit code is unknown.
	Outcome schemas.Position

	session   uint64 // id of the list of its session
	host      uint64 // hash of its host, 0 if unknown
	mentioned []mention
	own       bool // the exit code is that of its own event
	judged    bool // the outcome was looked up
	ties      []tie
	tied      bool // ties is filled in
	attempt   *Node
	alike     float64
	attempted bool // attempt and alike are filled in

	look     *Looked
	lookedUp bool // look is filled in
	// recent are those of its session before it that were seen to change files, if recentKnown.
	recent      []*Node
	recentKnown bool
}

// Failed reports whether it is known to have failed.
func (n *Node) Failed() bool { return n.ExitCode != nil && ResultOf(*n.ExitCode, n.last()) == Failure }

// Succeeded reports whether it is known to have done what it should.
func (n *Node) Succeeded() bool {
	return n.ExitCode != nil && ResultOf(*n.ExitCode, n.last()) == Success
}

// last returns the last program that it ran.
func (n *Node) last() string {
	if len(n.Programs) == 0 {
		return ""
	}
	return n.Programs[len(n.Programs)-1]
}

// Result is what an exit code says.
type Result int

// The results.
const (
	Success Result = iota
	Failure
	// Interrupted is neither: its user pressed ctrl-C, or its reader closed the pipe.
	Interrupted
)

// ResultOf returns what an exit code says of a command whose last program has a name: that of grep, diff, test and
// their like is 1 for the answer no.
func ResultOf(code int32, program string) Result {
	switch {
	case code == 0 || code == 1 && answersNo[program]:
		return Success
	case code == 130 || code == 141: // 128 + SIGINT, SIGPIPE
		return Interrupted
	}
	return Failure
}

// SameHost reports whether both ran on one machine, as far as is known.
func (n *Node) SameHost(o *Node) bool { return n.host == o.host }

// answersNo lists programs that exit with 1 to answer no.
var answersNo = map[string]bool{
	"grep": true, "egrep": true, "fgrep": true, "rg": true, "ag": true, "ack": true, "diff": true, "cmp": true, "comm": true,
	"test": true, "[": true, "which": true, "type": true, "command": true, "pgrep": true, "pidof": true, "false": true, "expr": true,
}

// before reports whether n comes before o: in log order within a partition, by clock across
// partitions. This is a total order in which every edge runs upwards, whatever the clocks of the
// machines showed.
func (n *Node) before(o *Node) bool {
	a, b := n.Position, o.Position
	if a.TP() == b.TP() {
		return a.Offset < b.Offset
	}
	if n.Clock != o.Clock {
		return n.Clock < o.Clock
	}
	return a.TP().Compare(b.TP()) < 0
}

// gap returns how much later another node of the partition is, in nanoseconds; it is ≥ 0.
func (n *Node) gap(later *Node) int64 { return later.Clock - n.Clock }

// appendNode appends the stored value of a node.
func appendNode(b []byte, id []byte, in *recountv1.Intent, clock int64, n *Node) []byte {
	b = append(b, id...)
	b = binary.AppendVarint(b, in.TimeUnixNano)
	b = binary.AppendVarint(b, clock)
	b = binary.AppendUvarint(b, uint64(n.Effects))
	b = append(b, byte(in.Category))
	b = binary.AppendUvarint(b, exitBits(in.ExitCode))
	b = append(b, byte(len(in.ParentId)))
	b = append(b, in.ParentId...)
	for _, h := range [...]uint64{n.session, n.host, n.Template, n.Content, n.Goal, n.Act, n.GitHead, n.StatedIntent} {
		b = binary.LittleEndian.AppendUint64(b, h)
	}
	for _, s := range [...]string{in.Workspace, in.Session, in.Cwd, n.Dir, in.Author} {
		b = cut.AppendText(b, s)
	}
	b = binary.AppendUvarint(b, uint64(len(n.Programs)))
	for _, p := range n.Programs {
		b = cut.AppendText(b, p)
	}
	b = binary.AppendUvarint(b, uint64(len(n.Resources)))
	for _, r := range n.Resources {
		b = cut.AppendText(append(b, byte(r.Kind), byte(r.Access)), r.Name)
	}
	b = binary.AppendUvarint(b, uint64(len(n.mentioned)))
	for _, m := range n.mentioned {
		b = binary.LittleEndian.AppendUint32(b, uint32(m))
	}
	return b
}

// decodeNode decodes what appendNode wrote. It never panics, whatever the input.
func decodeNode(at schemas.Position, value []byte) (*Node, error) {
	c := cut.Of(value)
	n := &Node{Position: at}
	copy(n.ID[:], c.Take(16))
	n.TimeUnixNano, n.Clock = c.Varint(), c.Varint()
	n.Effects, n.Category = Effect(c.Uvarint()), recountv1.Category(c.Byte())
	if n.ExitCode = exitOf(&c); n.ExitCode != nil {
		n.own, n.Outcome = true, at
	}
	switch c.Byte() {
	case 0:
	case 16:
		copy(n.ParentID[:], c.Take(16))
	default:
		c.Fail(errors.New("parent's id is not of 16 bytes"))
	}
	for _, h := range [...]*uint64{&n.session, &n.host, &n.Template, &n.Content, &n.Goal, &n.Act, &n.GitHead, &n.StatedIntent} {
		*h = c.Uint64()
	}
	for _, s := range [...]*string{&n.Workspace, &n.Session, &n.Cwd, &n.Dir, &n.Author} {
		*s = c.Text()
	}
	for range c.Count(maxPrograms) {
		n.Programs = append(n.Programs, c.Text())
	}
	for range c.Count(maxResources + maxDerived) {
		r := Resource{Kind: recountv1.ResourceKind(c.Byte()), Access: Access(c.Byte()), Name: c.Text()}
		if r.Access>>accessBits != 0 {
			c.Fail(fmt.Errorf("access %#x", r.Access))
		}
		n.Resources = append(n.Resources, r)
	}
	for range c.Count(3 * maxMentions) {
		if b := c.Take(4); b != nil {
			n.mentioned = append(n.mentioned, mention(binary.LittleEndian.Uint32(b)))
		}
	}
	if c.Err == nil && !slices.IsSorted(n.mentioned) {
		c.Fail(errors.New("names in its output are not in order"))
	}
	if n.Dir == "" {
		n.Dir = n.Cwd
	}
	if err := c.End(); err != nil {
		return n, fmt.Errorf("intent at %s: %w", at, err)
	}
	return n, nil
}

// ending returns the evidence of how the command ended.
func (n *Node) ending() Evidence {
	e := Evidence{Position: n.Outcome, Shows: "succeeded"}
	if n.Failed() {
		e.Shows = fmt.Sprintf("failed with exit code %d", *n.ExitCode)
	}
	return e
}
