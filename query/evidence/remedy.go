package evidence

import (
	"regexp"

	"github.com/recountdb/recount/projections/objects"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changing are the calls of tools that change files, by the name of the tool or by what
// it is told to do; looking are those that merely look, or note what there is to do. A
// call's title begins with the tool's name and what it is told, or is its command.
var (
	changing = regexp.MustCompile(`(?i)\b(?:\w*edit\w*|\w*write\w*|\w*replace\w*|\w*patch\w*|\w*insert\w*|create|sed -i|git (?:apply|revert|commit))\b`)
	looking  = regexp.MustCompile(`(?i)^(?:\w*(?:read|grep|glob|search|find|list|todo)\w*|\w+ (?:view|open|read))\b`)
)

// byRemedy goes from the best of the other paths to what came after them: what was
// changed, what was made of it, and the command that failed and now passes. It shares no
// words with what went wrong; the nearer comes first, of the best one.
func (t *retrieval) byRemedy(l *ranked) error { return t.byEffects(l, mends) }

// mends says whether an object may be a part of a remedy: it made something or changed a
// file, or is a command that passes after it failed. failed are the commands that did, as
// far as they have been met.
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
