// Package feedback makes records of what was useful for a task (feedback.given) and of what a
// context call returned for it (context.returned).
package feedback

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version.
const Name = "feedback/1"

// Given fills in the record of a feedback.given event. The time of the event stands for a missing
// occurred_at.
func Given(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	m := payload.(*recountv1.FeedbackGiven)
	if m.OccurredAt == nil {
		m.OccurredAt = timestamppb.New(e.Time)
	}
	rec.Body = &recountv1.Record_FeedbackGiven{FeedbackGiven: m}
	return Check(m)
}

// Returned fills in the record of a context.returned event, likewise.
func Returned(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	m := payload.(*recountv1.ContextReturned)
	if m.OccurredAt == nil {
		m.OccurredAt = timestamppb.New(e.Time)
	}
	rec.Body = &recountv1.Record_ContextReturned{ContextReturned: m}
	return Check(m)
}

// Check refuses what Given and Returned refuse: a subject in a file or a repository that is an event,
// and a symbol or a file in no repository.
func Check(payload proto.Message) error {
	m, ok := payload.(interface {
		GetSubjects() []*recountv1.FeedbackSubject
	})
	if !ok {
		return nil
	}
	for i, s := range m.GetSubjects() {
		switch s.Kind {
		case recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_SYMBOL, recountv1.FeedbackSubjectKind_FEEDBACK_SUBJECT_KIND_FILE:
			if s.Repository == "" {
				return schemas.Poisonf("subjects[%d].repository: missing: a symbol or a file is named with its repository", i)
			}
		default:
			if s.Repository != "" || s.Path != "" {
				return schemas.Poisonf("subjects[%d]: an event has no repository and no path", i)
			}
			if _, err := schemas.ParseEventID(s.Name); err != nil {
				return schemas.Poisonf("subjects[%d].name: %w", i, err)
			}
		}
	}
	return nil
}
