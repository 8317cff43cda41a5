package feedback

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// kinds are the kinds of subjects by the word that names them.
var kinds = []struct {
	word string
	kind recountv1.FeedbackSubjectKind
}{
	{"symbol", recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_SYMBOL},
	{"file", recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE},
	{"object", recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_OBJECT},
	{"command", recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_COMMAND},
}

// ParseSubject reads symbol:NAME, file:PATH, object:ID or command:ID. Symbols and files are of the
// repository. The error is a *query.RequestError.
func ParseSubject(ref, repository string) (*recountv1.FeedbackSubject, error) {
	word, name, _ := strings.Cut(ref, ":")
	refuse := func(why string) error {
		return &query.RequestError{Field: "subjects", Value: fmt.Sprintf("%.200q", ref), Reason: why}
	}
	for _, k := range kinds {
		if k.word != word {
			continue
		}
		s := &recountv1.FeedbackSubject{Kind: k.kind, Name: name}
		switch word {
		case "symbol", "file":
			if s.Repository = repository; repository == "" {
				return nil, refuse("a symbol or a file needs the repository (repo)")
			}
			s.Name = strings.TrimPrefix(name, "./")
		default:
			if _, err := schemas.ParseEventID(name); err != nil {
				return nil, refuse("want the id of an event: " + err.Error())
			}
		}
		if s.Name == "" || len(s.Name) > query.MaxName {
			return nil, refuse(fmt.Sprintf("want a name of 1 to %d bytes", query.MaxName))
		}
		return s, nil
	}
	return nil, refuse("want symbol:NAME, file:PATH, object:ID or command:ID")
}

// Ref writes a subject as ParseSubject reads it.
func Ref(s *recountv1.FeedbackSubject) string {
	for _, k := range kinds {
		if k.kind == s.GetKind() {
			return k.word + ":" + s.GetName()
		}
	}
	return s.GetName()
}

// Given is feedback to be recorded.
type Given struct {
	Tenant     string   `json:"tenant,omitempty" maxLength:"256" example:"acme" doc:"The tenant; default: that of the token."`
	Workspace  string   `json:"workspace,omitempty" maxLength:"4096" example:"/src/shop" doc:"The workspace; default: that of the token."`
	Agent      string   `json:"agent,omitempty" maxLength:"256" example:"claude" doc:"The agent that says so; default: that of the token."`
	User       string   `json:"user,omitempty" maxLength:"256" example:"ada" doc:"The person who says so."`
	Session    string   `json:"session,omitempty" maxLength:"256" example:"s-17" doc:"The session; its last feedback about a subject and task counts."`
	Task       string   `json:"task,omitempty" maxLength:"49152" example:"round totals of a cart to whole cents" doc:"What was to be done. Later tasks with similar words are answered with what was useful for this one."`
	Repository string   `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"The repository of the symbols and files. Required if there are any."`
	Useful     bool     `json:"useful" example:"true" doc:"Whether the subjects were useful."`
	Subjects   []string `json:"subjects" minItems:"1" maxItems:"1000" example:"[\"symbol:shop.Cart.Total\",\"file:cart/money.go\"]" doc:"What is judged: symbol:NAME, file:PATH, object:ID or command:ID."`
}

// Event returns the event that records it.
func (g Given) Event(source string) (schemas.Event, error) {
	m := &recountv1.FeedbackGiven{
		Tenant: g.Tenant, Workspace: g.Workspace, Agent: g.Agent, User: g.User, Session: g.Session,
		Task: strings.ToValidUTF8(g.Task, "\ufffd"), Useful: g.Useful,
	}
	if len(g.Subjects) == 0 {
		return schemas.Event{}, &query.RequestError{Field: "subjects", Value: "none", Reason: "want at least one: symbol:NAME, file:PATH, object:ID or command:ID"}
	}
	for _, ref := range g.Subjects {
		s, err := ParseSubject(ref, g.Repository)
		if err != nil {
			return schemas.Event{}, err
		}
		m.Subjects = append(m.Subjects, s)
	}
	return event(schemas.TypeFeedbackGiven, source, m)
}

// Returned returns the event that records what a context call returned.
func Returned(m *recountv1.ContextReturned, at *timestamppb.Timestamp, source string) (schemas.Event, error) {
	m.OccurredAt = at
	return event(schemas.TypeContextReturned, source, m)
}

func event(typ, source string, m proto.Message) (schemas.Event, error) {
	payload, err := schemas.EncodePayload(m)
	if err != nil {
		return schemas.Event{}, err
	}
	return schemas.Event{Type: typ, Source: source, ContentType: schemas.ContentJSON, Payload: payload}, nil
}
