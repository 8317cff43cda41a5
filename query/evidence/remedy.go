package evidence

import (
	"regexp"

	"github.com/recountdb/recount/projections/objects"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changing matches the tool calls that change files, by the name of the tool or by its input.
// looking matches those that only look, or manage a list of tasks. A call's title begins with the
// tool's name and input, or is its command.
var (
	changing = regexp.MustCompile(`(?i)\b(?:\w*edit\w*|\w*write\w*|\w*replace\w*|\w*patch\w*|\w*insert\w*|create|sed -i|git (?:apply|revert|commit))\b`)
	looking  = regexp.MustCompile(`(?i)^(?:\w*(?:read|grep|glob|search|find|list|todo)\w*|\w+ (?:view|open|read))\b`)
)

// byRemedy follows the best candidates of the other paths to later changes, what was made of them,
// and a command that failed before and then passed. These share no words with the problem. The
// nearest to the best candidate come first.
func (t *retrieval) byRemedy(l *ranked) error { return t.byEffects(l, mends) }

// mends reports whether an object may be part of a remedy: it made something or changed a file, or
// is a command that passes after it failed. failed has the hashes of the failed commands met so
// far.
func mends(o *objects.Stored, failed map[uint64]bool) bool {
	switch {
	case o.Type == recountv1.ObjectType_OBJECT_TYPE_ARTIFACT:
		return true
	case calls(o):
		return changing.MatchString(o.Title) && !looking.MatchString(o.Title)
	case o.Tool == nil || o.Tool.CommandHash == 0:
		return false
	case o.Tool.Failed || o.Tool.GetExitCode() != 0:
		failed[o.Tool.CommandHash] = true
		return false
	}
	return failed[o.Tool.CommandHash]
}
