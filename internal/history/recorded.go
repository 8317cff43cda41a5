package history

import (
	"slices"
	"strings"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// near is the maximum difference between a command's time in a history and the time that a hook or
// another history recorded: histories hold whole seconds, and a prompt may be slow.
const near = 5 * time.Second

// Recorded is a command on the log.
type Recorded struct {
	ID           schemas.EventID
	Time         time.Time
	Command, Cwd string
}

// Recognizer finds the entries of one history that are on the log with other ids, recorded by hooks
// or imported from another history. Each recorded command matches one entry.
//
// An entry with a time matches a command with nearly the same time and the same text, and the same
// directory if both are known. Of the entries without a time, the last ones with a text match, as
// many as were recorded before the history was last written: if other shells ran the same line, an
// older run may be omitted, but none is duplicated.
type Recognizer struct {
	entries []seenEntry
	ids     map[schemas.EventID]bool
}

type seenEntry struct {
	id   schemas.EventID
	text uint64
	at   int64 // 0 if there is no time
	cwd  uint64
}

// NewRecognizer returns a Recognizer without entries.
func NewRecognizer() *Recognizer { return &Recognizer{ids: map[schemas.EventID]bool{}} }

// Add adds an entry of the history. Entries must be added in order.
func (r *Recognizer) Add(e schemas.Event) {
	if e.Type != schemas.TypeCommandExecuted {
		return
	}
	m, err := e.DecodePayload()
	if err != nil {
		return // it is refused when it is appended
	}
	c := m.(*recountv1.CommandExecuted)
	s := seenEntry{id: e.ID, text: textKey(c.Command), cwd: cwdKey(c.Cwd)}
	if c.StartedAt != nil {
		s.at = c.StartedAt.AsTime().UnixNano()
	}
	r.entries = append(r.entries, s)
	r.ids[e.ID] = true
}

// Known returns the ids of the entries that match recorded commands. written is when the history
// was last written.
func (r *Recognizer) Known(recorded []Recorded, written time.Time) map[schemas.EventID]bool {
	type one struct {
		at   int64
		cwd  uint64
		used bool
	}
	byText := map[uint64][]*one{}
	for _, x := range recorded {
		if !r.ids[x.ID] { // equal ids are recognised without this
			byText[textKey(x.Command)] = append(byText[textKey(x.Command)], &one{at: x.Time.UnixNano(), cwd: cwdKey(x.Cwd)})
		}
	}
	for _, list := range byText {
		slices.SortFunc(list, func(a, b *one) int { return int(min(max(a.at-b.at, -1), 1)) })
	}
	known := map[schemas.EventID]bool{}
	for _, e := range r.entries {
		if e.at == 0 {
			continue
		}
		var best *one
		for _, x := range byText[e.text] {
			d := x.at - e.at
			if d > int64(near) {
				break
			}
			if x.used || d < -int64(near) || x.cwd != 0 && e.cwd != 0 && x.cwd != e.cwd {
				continue
			}
			if best == nil || max(d, -d) < max(best.at-e.at, e.at-best.at) {
				best = x
			}
		}
		if best != nil {
			best.used, known[e.id] = true, true
		}
	}
	last := written.Add(near).UnixNano()
	for _, e := range slices.Backward(r.entries) {
		if e.at != 0 {
			continue
		}
		for _, x := range slices.Backward(byText[e.text]) {
			if !x.used && x.at <= last {
				x.used, known[e.id] = true, true
				break
			}
		}
	}
	return known
}

// textKey identifies a command line, ignoring how a history joins its lines and spaces.
func textKey(s string) uint64 { return xxh3.HashString(strings.Join(strings.Fields(s), " ")) }

// cwdKey identifies a directory; 0 means none.
func cwdKey(s string) uint64 {
	if s == "" {
		return 0
	}
	return xxh3.HashString(s) | 1
}
