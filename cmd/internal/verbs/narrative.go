package verbs

import (
	"context"
	"fmt"
	"os"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// Answers answers the questions of a verb.
type Answers interface {
	// Answer answers the question of a path of the API; response is a pointer.
	Answer(ctx context.Context, path string, request, response any) error
	// Show returns a command by its id, a prefix of it, or its position.
	Show(ctx context.Context, ref string) (ask.ShowResponse, error)
}

// Narrator answers the verbs about narratives, which may ask several questions.
type Narrator interface {
	// Asking calls fn with what answers, and returns its error as the program reports it.
	Asking(ctx context.Context, fn func(by Answers) error) error
}

// answer asks a question. A request that cannot be answered is refused before it is sent.
func answer[Q interface{ Normal() (Q, error) }, R any](ctx context.Context, by Answers, path string, r Q, response *R) error {
	if _, err := r.Normal(); err != nil {
		return err
	}
	return by.Answer(ctx, path, r, response)
}

// Subject finds the command that a verb is about.
type Subject struct {
	// Getenv reads the environment.
	Getenv func(string) string
	// Note prints which command was chosen. If it is nil, that is printed with the answer: the small
	// program prints nothing before, because it leaves a question that fails to the engine.
	Note  func(format string, args ...any)
	notes []string
}

func (s *Subject) tell(note string) {
	if s.Note != nil {
		s.Note("%s", note)
	} else {
		s.notes = append(s.notes, note)
	}
}

// Ref returns the reference in args, or else the newest command that failed in this session, else in
// this directory or below, else anywhere. What ctrl-C ended is passed over.
func (s *Subject) Ref(ctx context.Context, by Answers, args []string, m query.Moment) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	type place struct {
		where string
		f     ask.Filters
	}
	var places []place
	if session := s.Getenv("RECOUNT_SESSION"); session != "" {
		places = append(places, place{"in this session", ask.Filters{Session: session}})
	}
	if dir, err := os.Getwd(); err == nil {
		places = append(places, place{"in this directory", ask.Filters{Cwd: dir}})
	}
	for _, p := range append(places, place{where: "anywhere"}) {
		p.f.Exit = "fail"
		hit, err := newest(ctx, by, p.f, m)
		if err != nil {
			return "", err
		}
		if hit != nil {
			s.tell("the newest failure " + p.where)
			return hit.ID.String(), nil
		}
	}
	none := "no command has failed"
	if !m.AsOf.IsZero() {
		none = "no command had failed by then"
	}
	return "", &query.NotFoundError{Ref: "", Hint: none + "; name a command by its id: recount find lists ids"}
}

// Noted prints which command was chosen, unless Note has.
func (s *Subject) Noted(t *render.Terminal) {
	for _, n := range s.notes {
		t.Note("%s", n)
	}
	s.notes = nil
}

// twoRuns returns the two commands to compare.
func (s *Subject) twoRuns(ctx context.Context, by Answers, args []string, m query.Moment) (a, b string, err error) {
	if len(args) == 2 {
		return args[0], args[1], nil
	}
	if b, err = s.Ref(ctx, by, args, m); err != nil {
		return "", "", err
	}
	now, err := by.Show(ctx, b)
	if err != nil {
		return "", "", err
	}
	worked := ask.Filters{Template: now.Template, Workspace: now.Workspace, Exit: "ok", Until: now.Time}
	if worked.Workspace == "" {
		worked.Cwd = now.Cwd
	}
	then, err := newest(ctx, by, worked, m)
	switch {
	case err != nil:
		return "", "", err
	case then == nil:
		return "", "", &query.NotFoundError{Hint: fmt.Sprintf("no earlier command with the template of %s succeeded in its workspace; name the command to compare with: recount diff A B", b)}
	}
	s.tell("compared with its last success")
	return then.ID.String(), b, nil
}

// newest returns the newest command that passes the filters and was not interrupted; nil if there is none
// among the newest few.
func newest(ctx context.Context, by Answers, f ask.Filters, m query.Moment) (*ask.Hit, error) {
	var r ask.FindResponse
	err := answer(ctx, by, "find", ask.FindRequest{Filters: f, Limit: 20, Repeats: true, AtLeast: m.AtLeast, AsOf: m.AsOf}, &r)
	for i := range r.Hits {
		if code := r.Hits[i].ExitCode; err == nil && (code == nil || *code != 130) { // 128 + SIGINT
			return &r.Hits[i], nil
		}
	}
	return nil, err
}
