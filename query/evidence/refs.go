package evidence

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/schemas"
)

// maxRefs is the maximum number of names that are looked up for one question.
const maxRefs = 32

// refs are the names in a question's text, which are looked up instead of searched for.
type refs struct {
	// ids may be those of events or of objects.
	ids []schemas.EventID
	// positions are those of events in the log.
	positions []schemas.Position
	// entities are names of things outside, as edges spell them: "commit:9fceb02".
	entities []string
	// words is the text that is searched for: all of it but kind:NAME and tool:NAME, which say what is
	// looked for and are no words that a text about it has.
	words string
}

func (r *refs) full() bool { return len(r.ids)+len(r.positions)+len(r.entities) >= maxRefs }

// entityKinds are the kinds of names that are written before a colon and looked up. Those of scopeKinds are
// filters.
var entityKinds = []string{"file", "commit", "issue", "tool", "trace", "symbol", "url", "call", "kind"}

var (
	issueRef  = lazyregexp.New(`^[\w.-]+/[\w.-]+#\d+$`)
	hexRef    = lazyregexp.New(`^[0-9a-f]{7,40}$`)
	fileRef   = lazyregexp.New(`^(\.{0,2}/)?[\w@.+-]+(/[\w@.+-]+)*\.[A-Za-z][A-Za-z0-9]{0,4}$`)
	folderRef = lazyregexp.New(`^(\.{1,2})?/?[\w@.+-]+(/[\w@.+-]+)+/?$`)
)

// readRefs finds the names in a text: ids, positions, KIND:NAME, addresses, issues, commits, traces
// and paths, and a word next to "tool".
func readRefs(text string) refs {
	r := refs{words: text}
	words := strings.Fields(text)
	entity := func(name string) {
		if !slices.Contains(r.entities, name) {
			r.entities = append(r.entities, name)
		}
	}
	for i, w := range words {
		if r.full() {
			break
		}
		w = trimName(w)
		kind, name, isKind := strings.Cut(w, ":")
		switch {
		case w == "":
		case isID(w):
			if id, err := schemas.ParseEventID(w); err == nil && !slices.Contains(r.ids, id) {
				r.ids = append(r.ids, id)
			}
		case strings.HasPrefix(w, "http://"), strings.HasPrefix(w, "https://"):
			if issue, ok := schemas.IssueOf(w); ok {
				entity("issue:" + issue)
			}
			entity("url:" + w)
		case isKind && slices.Contains(entityKinds, strings.ToLower(kind)) && name != "":
			entity(strings.ToLower(kind) + ":" + name)
			if strings.EqualFold(kind, "kind") || strings.EqualFold(kind, "tool") {
				r.words = strings.TrimSpace(strings.Replace(r.words, words[i], "", 1))
			}
		case strings.Contains(w, "#") && issueRef.MatchString(w):
			entity("issue:" + w)
		case isPosition(w):
			p, _ := schemas.ParsePosition(strings.Split(w, "#")[0])
			r.positions = append(r.positions, p)
		case len(w) == 32 && hexRef.MatchString(w):
			entity("trace:" + w)
		case strings.ContainsAny(w, "0123456789") && strings.ContainsAny(w, "abcdef") && hexRef.MatchString(w):
			entity("commit:" + w)
		case strings.ContainsAny(w, "./") && (fileRef.MatchString(w) || folderRef.MatchString(w)):
			entity("file:" + w)
		case strings.EqualFold(w, "tool"):
			for _, j := range []int{i - 1, i + 1} {
				if j >= 0 && j < len(words) {
					if name := strings.Trim(words[j], "\"'`()[]{}<>,;!?.:"); plainWord(name) {
						entity("tool:" + name)
					}
				}
			}
		}
	}
	return r
}

// trimName returns a word of a text without the punctuation around it.
func trimName(word string) string {
	return strings.TrimRight(strings.Trim(word, "\"'`()[]{}<>,;!?"), ".:")
}

func isID(w string) bool {
	if len(w) < len("018f3c2a9d1e8b7a9c442f1d6a0b3e55") {
		return false
	}
	_, err := schemas.ParseEventID(w)
	return err == nil
}

// isPosition reports whether a word is a position. The topic must contain a dot, as all of
// Recount's do: "2026/11/20" is a date.
func isPosition(w string) bool {
	if !strings.Contains(w, "/") {
		return false
	}
	p, err := schemas.ParsePosition(strings.Split(w, "#")[0])
	return err == nil && strings.Contains(p.Topic, ".")
}

// plainWord reports whether a word next to "tool" may be a name rather than a function word.
func plainWord(w string) bool {
	switch strings.ToLower(w) {
	case "", "a", "an", "the", "this", "that", "which", "what", "each", "any", "every", "and", "or", "of", "in", "to", "with", "by", "was", "is", "did", "does", "call", "calls", "result", "results", "called":
		return false
	}
	return true
}
