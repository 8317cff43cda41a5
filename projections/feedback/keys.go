package feedback

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	kindEvent   = store.FirstKind
	kindSubject = store.FirstKind + 1
	kindWord    = store.FirstKind + 2
	kindTenant  = store.FirstKind + 3
)

// hash is what stands for a tenant, a subject or a word in keys.
type hash = schemas.EventID

func tenantHash(tenant string) hash {
	return schemas.NewCanon("recount/feedback/tenant/1").String(tenant).ID()
}

// subjectHash identifies a subject. The path of a symbol does not count, so that a symbol that moves
// keeps its votes.
func subjectHash(s *recountv1.FeedbackSubject) hash {
	return schemas.NewCanon("recount/feedback/subject/1").Int(int64(s.GetKind())).String(s.GetRepository()).String(s.GetName()).ID()
}

func wordHash(word string) hash {
	return schemas.NewCanon("recount/feedback/word/1").String(word).ID()
}

// prefix returns the beginning of the keys of a kind and a tenant, and of a subject or word.
func prefix(kind byte, tenant hash, of ...hash) []byte {
	b := append([]byte{kind}, tenant[:]...)
	for _, h := range of {
		b = append(b, h[:]...)
	}
	return b
}

// eventKey appends an event's place to a prefix.
func eventKey(prefix, shard []byte, offset int64) []byte {
	return binary.BigEndian.AppendUint64(append(slices.Clip(prefix), shard...), uint64(offset))
}

// MaxWords is the largest number of words of a task that count.
const MaxWords = 256

// common are words that say nothing of a task.
var common = map[string]bool{
	"the": true, "and": true, "for": true, "with": true, "that": true, "this": true, "from": true, "are": true, "was": true, "not": true,
	"when": true, "into": true, "its": true, "has": true, "have": true, "can": true, "should": true, "but": true, "also": true, "than": true,
	"does": true, "did": true, "will": true, "would": true, "all": true, "any": true, "more": true, "now": true, "use": true, "https": true, "http": true, "com": true,
}

// Words returns the different words of a task in order: runs of letters and digits in lower case, and
// the parts of names in camelCase, without words of fewer than three letters and common ones.
func Words(task string) []string {
	var words []string
	seen := map[string]bool{}
	add := func(w string) {
		if w = strings.ToLower(w); len(w) >= 3 && len(w) <= 64 && !common[w] && !seen[w] && len(words) < MaxWords {
			seen[w] = true
			words = append(words, w)
		}
	}
	for run := range strings.FieldsFuncSeq(task, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(words) == MaxWords {
			break
		}
		parts := camel(run)
		if len(parts) > 1 {
			for _, p := range parts {
				add(p)
			}
		}
		add(run)
	}
	return words
}

// camel splits a name before each capital that follows a small letter or a digit.
func camel(name string) []string {
	var parts []string
	start, small := 0, false
	for i, r := range name {
		if unicode.IsUpper(r) && small {
			parts = append(parts, name[start:i])
			start = i
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	return append(parts, name[start:])
}
