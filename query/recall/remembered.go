package recall

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

const (
	// namedItems is how many statements about what a prompt names are returned, namedDepth how many of the newest
	// statements are looked at, maxNamed how many names of a prompt count.
	namedItems = 3
	namedDepth = 1000
	maxNamed   = 64
)

// sources are those of the questions that this one asks in its own turn.
func (a *session) sources() evidence.Sources {
	s := a.asked.Sources
	s.Turns = nil
	return s
}

// listed returns what is written down in the workspace and still holds, the newest first, without that of a session.
func (a *session) listed(session string, r evidence.RememberedRequest) ([]evidence.Remembered, error) {
	if a.now == 0 {
		return nil, nil
	}
	r.Workspace, r.At, r.AsOf = a.workspace, time.Unix(0, a.now).UTC(), a.asOf
	got, err := evidence.ListRemembered(a.Ctx, a.sources(), a.asked.Principal, r)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(got.Items, func(x evidence.Remembered) bool { return session != "" && x.Session == session }), nil
}

// rememberedItem returns what was written down as an item: what it is and until when, and in the quote what it says and is
// about.
func (a *session) rememberedItem(x evidence.Remembered, kind, title string) Item {
	if !x.ValidUntil.IsZero() {
		title += ", until " + x.ValidUntil.UTC().Format("2006-01-02 15:04")
	}
	text := sentence(x.Text, 240)
	if x.Task != "" {
		text = oneLine(x.Task, 80) + ": " + text
	}
	lines := []string{text}
	if len(x.About) > 0 {
		var about []string
		for _, s := range x.About[:min(len(x.About), 4)] {
			_, name, _ := strings.Cut(s, ":")
			about = append(about, oneLine(name, 80))
		}
		lines = append(lines, "about "+strings.Join(about, ", "))
	}
	return Item{
		ID: x.Position, Kind: kind, Title: title, Source: x.Agent, Session: x.Session, Position: x.Position, Time: x.Time,
		Quote: strings.Join(lines, "\n"), lines: lines,
	}
}

// titleOf returns what a decision, a fact or a note is called.
func titleOf(kind string) string { return strings.ToUpper(kind[:1]) + kind[1:] }

// named returns the decisions and facts about a file or a symbol that a prompt names. What they are about was stated, so
// it need not be rare; the name must stand in the prompt as a path, as the name of a file, or as a word of code.
func (a *session) named(r Request) ([]Item, error) {
	words := codeWords(r.Text)
	if len(words) == 0 {
		return nil, nil
	}
	// Most prompts name nothing that anything is about: only then the list is asked what still holds.
	f := a.filter()
	f.Events = []string{schemas.TypeMemoryStated}
	refs, err := a.view.Latest(a.Ctx, f, namedDepth)
	if err != nil {
		return nil, err
	}
	var about []string
	for _, ref := range refs {
		o, err := a.object(ref)
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue
		}
		for _, e := range o.Edges {
			if isNamed(e.Entity, words) && !slices.Contains(about, e.Entity) && len(about) < maxNamed {
				about = append(about, e.Entity)
			}
		}
	}
	if len(about) == 0 {
		return nil, nil
	}
	all, err := a.listed(r.Session, evidence.RememberedRequest{Kinds: []string{evidence.Decision, evidence.Fact}, About: about, Limit: 2 * namedItems})
	var items []Item
	for _, x := range all {
		matched := slices.DeleteFunc(slices.Clone(x.About), func(s string) bool { return !isNamed(s, words) })
		if len(matched) == 0 || len(items) == namedItems {
			continue
		}
		item := a.rememberedItem(x, KindSaid, titleOf(x.Kind)+" about what the prompt names")
		item.Score, item.Matched = 1, matched
		items = append(items, item)
	}
	a.Step(query.Step{Operator: "named", Counts: map[string]int64{"words": int64(len(words)), "items": int64(len(items))}})
	a.RecordTime("named")
	return items, err
}

// word matches what may be the name of code or of a file, with the quote before it and the call after it.
var word = lazyregexp.New("`?[\\p{L}_$~./][\\p{L}\\p{N}_$./:+@-]*[\\p{L}\\p{N}_](\\(\\)?|`)?")

// codeWords returns the words of a prompt that are names of code or files: paths, names with an extension, qualified
// names, words with capitals or underscores inside, and what is in backquotes or called.
func codeWords(text string) (all []string) {
	for _, w := range word.FindAllString(asked(text), -1) {
		name := strings.TrimLeft(strings.Trim(w, "`()"), ".~")
		inner := strings.TrimLeftFunc(name, unicode.IsUpper)
		shaped := len(name) > 2 && (strings.ContainsAny(w, "`(") || strings.ContainsAny(strings.Trim(name, "./_:"), "./_:") ||
			inner != "" && inner != name[len(name)-1:] && strings.IndexFunc(inner, unicode.IsUpper) > 0)
		if shaped && len(all) < maxNamed && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// isNamed reports whether words name the file or symbol of a relation.
func isNamed(entity string, words []string) bool {
	kind, name, _ := strings.Cut(entity, ":")
	return slices.ContainsFunc(words, func(w string) bool {
		switch kind {
		case "file":
			file, _, _ := strings.Cut(w, ":") // without the line
			return strings.Contains(file, ".") && query.Subject{File: strings.TrimPrefix(file, "/")}.Concerns(entity)
		case "symbol":
			return len(name) > 3 && query.Subject{Symbol: w}.Concerns(entity)
		}
		return false
	})
}

// handovers adds what was handed over to the agent and is open.
func (b *briefing) handovers() error {
	all, err := b.listed(b.r.Session, evidence.RememberedRequest{Kinds: []string{evidence.Handover}, Limit: 64})
	n := 0
	for _, x := range all {
		if b.r.Agent != "" && x.To != "" && x.To != b.r.Agent || n == briefHandovers {
			continue
		}
		n++
		x.Text = strings.TrimSpace(strings.TrimPrefix(x.Text, "handed to "+x.To))
		b.items = append(b.items, b.rememberedItem(x, KindHandover, fmt.Sprintf("Handed over, open until recount handover --accept %s or an answer", x.Position)))
		b.items[len(b.items)-1].lines = append(b.items[len(b.items)-1].lines, "to "+oneLine(x.To, 80))
	}
	return err
}

// announcements adds what others have announced to be working on. A file for later has none: they end within hours.
func (b *briefing) announcements() error {
	if b.dates || b.now == 0 {
		return nil
	}
	got, err := evidence.Announced(b.Ctx, b.sources(), b.asked.Principal, evidence.AnnouncedRequest{
		Workspace: b.workspace, At: time.Unix(0, b.now).UTC(), AsOf: b.asOf,
	})
	n := 0
	for _, x := range got.Announcements {
		if n == briefAnnounced || x.Agent == b.r.Agent && b.r.Session != "" && x.Session == b.r.Session {
			continue
		}
		n++
		_, name, _ := strings.Cut(x.Subject, ":")
		lines := []string{"works on " + oneLine(name, 120)}
		if x.Why != "" {
			lines[0] += ": " + oneLine(x.Why, 160)
		}
		b.items = append(b.items, Item{
			ID: x.Position, Kind: KindAnnouncement, Title: "Announced work, until " + x.Until.UTC().Format("2006-01-02 15:04"), Source: x.Agent, Session: x.Session,
			Position: x.Position, Time: x.Since, Quote: lines[0], lines: lines,
		})
	}
	return err
}

// decisions adds what was stated in order to be remembered: decisions and facts, and then notes.
func (b *briefing) decisions() error {
	for _, part := range []struct {
		kinds []string
		most  int
	}{{[]string{evidence.Decision, evidence.Fact}, briefDecisions}, {[]string{evidence.Note}, briefNotes}} {
		all, err := b.listed(b.r.Session, evidence.RememberedRequest{Kinds: part.kinds, Limit: 64})
		if err != nil {
			return err
		}
		n := 0
		for _, x := range all {
			if len(x.Text) > 2000 || n == part.most || b.contradictedByNewer(x) { // a summary of a session is made for the session itself
				continue
			}
			n++
			b.items = append(b.items, b.rememberedItem(x, KindDecision, titleOf(x.Kind)))
		}
	}
	return nil
}

// contradictedByNewer reports whether another statement of the same property was made later.
func (b *briefing) contradictedByNewer(x evidence.Remembered) bool {
	return slices.ContainsFunc(x.Disputed, func(l evidence.Link) bool { return l.Time.After(x.Time) })
}
