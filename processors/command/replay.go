package command

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Replay fills in the record of an event of a replay. The time of the event stands for a missing
// occurred_at. The plan stays in the log. Errors are of class ErrPoison.
func Replay(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	if err := CheckReplay(payload); err != nil {
		return err
	}
	when := func(at **timestamppb.Timestamp) {
		if *at == nil {
			*at = timestamppb.New(e.Time)
		}
	}
	// The id of the command becomes one that does not depend on the source.
	refer := func(id *string) {
		if *id != "" {
			*id = schemas.ProducerID(e.Source, *id).String()
		}
	}
	switch m := payload.(type) {
	case *recountv1.ReplayPlanned:
		when(&m.OccurredAt)
		m.Plan = ""
		rec.Body = &recountv1.Record_ReplayPlanned{ReplayPlanned: m}
	case *recountv1.ReplayStepStarted:
		when(&m.OccurredAt)
		refer(&m.CommandEventId)
		rec.Body = &recountv1.Record_ReplayStepStarted{ReplayStepStarted: m}
	case *recountv1.ReplayStepEnded:
		when(&m.OccurredAt)
		refer(&m.CommandEventId)
		rec.Body = &recountv1.Record_ReplayStepEnded{ReplayStepEnded: m}
	case *recountv1.ReplayEnded:
		when(&m.OccurredAt)
		rec.Body = &recountv1.Record_ReplayEnded{ReplayEnded: m}
	}
	return nil
}

// CheckReplay refuses what Replay refuses: a payload of another kind, NUL bytes, and times that no
// projection can store.
func CheckReplay(payload proto.Message) error {
	m, ok := payload.(interface {
		GetRun() string
		GetWorkspace() string
		GetOccurredAt() *timestamppb.Timestamp
	})
	if !ok {
		return schemas.Poisonf("payload is %T, want an event of a replay", payload)
	}
	id := ""
	if of, ok := payload.(interface{ GetCommandEventId() string }); ok {
		id = of.GetCommandEventId()
	}
	for _, f := range []struct{ name, value string }{{"run", m.GetRun()}, {"workspace", m.GetWorkspace()}, {"command_event_id", id}} {
		if strings.IndexByte(f.value, 0) >= 0 {
			return schemas.Poisonf("%s: holds a NUL byte", f.name)
		}
	}
	return schemas.CheckTime("occurred_at", m.GetOccurredAt())
}
