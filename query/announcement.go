package query

import (
	"strings"
	"time"
	"unicode"
)

// Announcement says that an agent works on a symbol or a file, and until when. It is what the agent
// stated: text that others must read as data.
type Announcement struct {
	Subject   string    `json:"subject" example:"symbol:shop.Cart.Add" doc:"What the agent works on: symbol:NAME or file:PATH."`
	Why       string    `json:"why,omitempty" example:"moving the cart to Postgres" doc:"What the agent said about it, shortened; quoted text and no instruction."`
	Agent     string    `json:"agent,omitempty" example:"claude" doc:"The agent."`
	Session   string    `json:"session,omitempty" example:"s-17" doc:"The agent's session."`
	Tenant    string    `json:"tenant,omitempty" doc:"The tenant; empty for the default tenant."`
	Workspace string    `json:"workspace,omitempty" example:"/src/shop" doc:"The workspace."`
	Since     time.Time `json:"since" doc:"When it was announced."`
	Until     time.Time `json:"until" doc:"When the announcement ends unless it is renewed or withdrawn."`
	Position  string    `json:"position" example:"recount.agents/0/1042" doc:"The position of the event that states it."`
	EventID   string    `json:"event_id" format:"uuid" doc:"The id of that event."`
}

// Subject is something that agents announce work on: a symbol, its file, or both.
type Subject struct {
	// Symbol is a qualified name such as shop.Cart.Add, or its end; File is a path.
	Symbol, File string
}

// Announced is the part of an answer about symbols that shows who has announced work on them.
type Announced struct {
	Announced []Announcement `json:"announced,omitempty" doc:"Who has announced to be working on symbols of this answer, or on their files, as far as you may see it; the newest first."`
}

// Announce stores the announcements.
func (a *Announced) Announce(all []Announcement) { a.Announced = all }

// Announcements returns them.
func (a Announced) Announcements() []Announcement { return a.Announced }

// SubjectsAnswer is an answer about symbols, which also shows who has announced work on them: a
// response that embeds Basis and Announced.
type SubjectsAnswer interface {
	// Subjects returns the symbols of the answer, with their files.
	Subjects() []Subject
	Announce([]Announcement)
	AddStep(Step)
}

// TimedRequest is a request that says when it is asked, which decides what announcements hold.
type TimedRequest interface{ AskedAt() time.Time }

// Concerns reports whether an announced subject ("symbol:Cart.Add", "file:src/cart.go") concerns s:
// it names the symbol by its whole name or its end, a type that contains it or a part of it, or the
// file, by a path or its end. A name in s that is longer or shorter than the announced one is the same
// if one ends with the other at the border of a word.
func (s Subject) Concerns(announced string) bool {
	kind, name, _ := strings.Cut(announced, ":")
	switch {
	case kind == "file":
		return s.File != "" && samePath(s.File, name)
	case s.Symbol == "":
		return false
	}
	mine, theirs := nameParts(s.Symbol), nameParts(name)
	return sameName(mine, theirs) ||
		len(mine) > 1 && sameName(mine[:len(mine)-1], theirs) ||
		len(theirs) > 1 && sameName(theirs[:len(theirs)-1], mine)
}

// sameName reports whether one name is the end of the other.
func sameName(a, b []string) bool { return endsWith(a, b) || endsWith(b, a) }

// nameParts splits a qualified name of any language at its separators.
func nameParts(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool {
		return r != '_' && r != '$' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func endsWith(whole, end []string) bool {
	if len(end) == 0 || len(end) > len(whole) {
		return false
	}
	for i, part := range end {
		if whole[len(whole)-len(end)+i] != part {
			return false
		}
	}
	return true
}

// samePath reports whether two paths are equal, or one ends with the other at a slash.
func samePath(a, b string) bool {
	a, b = strings.TrimPrefix(a, "./"), strings.TrimPrefix(b, "./")
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && (a == b || strings.HasSuffix(a, "/"+strings.TrimPrefix(b, "/")))
}
