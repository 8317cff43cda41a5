// Package terminalsearch is the interface of recount search: a list of commands that follows what is
// typed, drawn below the prompt, with the circumstances of the selected command beside it.
//
// Model is the whole interface as a function of messages: it draws lines and returns commands of
// bubbletea, and touches neither terminal nor clock. Run connects it to the terminal, Plain is the
// same search line by line, for screen readers. An Asker answers; while it does not, the model ranks
// what it was given before, and says so.
//
// Texts of commands come from anywhere. Every one passes through clean before it is drawn, so that
// control characters and changes of the text direction are shown and not obeyed.
package terminalsearch

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/commands/ask"
)

// Asker answers questions about commands. Its methods may be called at the same time.
type Asker interface {
	// Search answers a search. ErrAway means that nobody answers at the moment.
	Search(ctx context.Context, r ask.SearchRequest) (ask.SearchResponse, error)
	// Around returns the circumstances of a command.
	Around(ctx context.Context, r ask.AroundRequest) (ask.AroundResponse, error)
	// Verb returns what a verb of Recount prints.
	Verb(ctx context.Context, args ...string) (string, error)
}

// ErrAway is the error of an Asker that nobody answers: it may be asked again.
var ErrAway = errors.New("the server does not answer")

// Options are what an interface begins with.
type Options struct {
	// Text, Mode and Filters are the first search.
	Text    string
	Mode    string
	Filters ask.Filters
	// Here is where the search is used.
	Here Here
	// Height is the number of lines to use, 0 for two thirds of the terminal.
	Height int
	// Colour tells whether to use colours.
	Colour bool
	// HomeDir is shown as ~.
	HomeDir string
	// Now returns the time.
	Now func() time.Time
}

// Here is where a search is used: filters by key are about it.
type Here struct{ Cwd, Workspace, Session, Host string }

// Choice is what somebody chose.
type Choice struct {
	// Command is the command, "" for none.
	Command string
	// Run means that it is to be run at once, and not only put on the command line.
	Run bool
}

// maxClean is the number of bytes of a text that are shown.
const maxClean = 4096

// clean makes text from elsewhere safe for one line of the terminal, and short enough to draw.
func clean(s string) string {
	if len(s) > maxClean {
		s = s[:maxClean] + "…"
	}
	return render.OneLine(strings.ToValidUTF8(s, "\uFFFD"))
}

// hides reports whether a command is not shown as it is, so that it may do other things than it seems
// to: it has control characters, several lines, or is very long.
func hides(command string) bool { return clean(command) != command }
