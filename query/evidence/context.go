package evidence

import (
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
)

// bytesPerToken is the number of bytes of UTF-8 that count as a token.
const bytesPerToken = 4

// fewBytes is the minimum share of a text with its citation, if that much is left. A text whose
// share would be below minBytes is omitted.
const (
	fewBytes = 400
	minBytes = 32
)

// tokens returns the number of tokens of a text, by its bytes.
func tokens(s string) int { return (len(s) + bytesPerToken - 1) / bytesPerToken }

// pack packs the texts of the hits, best first, into the token budget, each after its citation: the
// whole text if it fits in its share of the rest, else the passage around the matching part. After a
// call come its results, and after a question what answered it. Nothing is summarised. Positions
// count with the length that fit uses.
//
// Each line of a text is prefixed with quote and no citation is, so that no text can imitate a
// citation.
func (w *answer) pack(hits []*hit) error {
	var b strings.Builder
	left := w.r.Tokens * bytesPerToken
	hits, err := w.withOutcomes(hits)
	if err != nil {
		return err
	}
	for i, h := range hits {
		head := citation(i+1, h)
		headBytes := len(head) + shorter(h.ref.Position.String())
		share := max(left/(len(hits)-i), min(left, fewBytes))
		if share-headBytes < minBytes {
			w.left().Texts++
			continue
		}
		begin := b.Len()
		text, err := w.view.Text(h.o)
		if err != nil {
			return err
		}
		b.WriteString(head)
		b.WriteString(quotedPassage(h, text, share-headBytes-len("\n\n")))
		b.WriteString("\n\n")
		left -= b.Len() - begin + headBytes - len(head)
	}
	w.resp.Context = strings.TrimRight(b.String(), "\n")
	w.resp.Tokens = tokens(w.resp.Context)
	return nil
}

// withOutcomes returns the hits, each followed by what came of it.
func (w *answer) withOutcomes(hits []*hit) ([]*hit, error) {
	shown := make(map[*part]bool, len(hits))
	for _, h := range hits {
		shown[h.known] = true
	}
	var all []*hit
	for _, h := range hits {
		all = append(all, h)
		if !h.known.calls() && !h.known.asks {
			continue
		}
		for _, x := range h.outcomes {
			if shown[x.p] {
				continue
			}
			shown[x.p] = true
			o, err := w.session.object(x.p.ref)
			if err != nil {
				return nil, err
			}
			all = append(all, &hit{candidate: candidate{ref: x.p.ref, part: x.part}, known: x.p, o: o})
		}
	}
	return all, nil
}

// quote is the prefix of each line of a quoted text.
const quote = "> "

// quotedPassage returns the passage of a text that fits in room bytes, quoted.
func quotedPassage(h *hit, text string, room int) string {
	for take := room - len(quote) - len("……"); ; {
		from, to := passage(h.o, h.part, text, take)
		part := strings.TrimSpace(text[from:to])
		if from > 0 {
			part = "…" + part
		}
		if to < len(text) {
			part += "…"
		}
		quoted := schemas.PlainText(schemas.Quoted(part, quote))
		// Quoting makes lines longer; if the result is too long, less text is taken.
		over := len(quoted) - room
		if over <= 0 || take <= 1 {
			return quoted
		}
		take = max(1, min(take-1, take*room/len(quoted)))
	}
}

// name returns a name for a citation, in quotes if it could be mistaken for another part of it.
func name(s string) string {
	if s = schemas.OneLine(s); strings.ContainsAny(s, `·[]"`) {
		return strconv.Quote(s)
	}
	return s
}

// citation returns the line before a text.
func citation(n int, h *hit) string {
	o := h.o
	parts := []string{typeName(o.Type)}
	if m := memoryName(o.Memory); m != "" {
		parts[0] = m + " " + parts[0]
	}
	if o.Agent != "" {
		parts = append(parts, name(o.Agent))
	}
	parts = append(parts, time.Unix(0, o.TimeUnixNano).UTC().Format(time.RFC3339), o.Ref.Position.String())
	if s := h.judged.superseded; s != nil {
		since := ""
		if !s.Time.IsZero() {
			since = " since " + s.Time.Format(time.RFC3339)
		}
		parts = append(parts, "superseded"+since+" ("+s.Rule+")")
	}
	return "[" + strconv.Itoa(n) + "] " + strings.Join(parts, " · ") + "\n"
}

// passage returns where the packed passage of a text begins and ends: the whole text, or as much as
// fits around the matching part, cut between lines or words.
func passage(o *objects.Stored, part int, text string, room int) (from, to int) {
	if len(text) <= room {
		return 0, len(text)
	}
	if part > 0 && part < len(o.Parts) {
		p := o.Parts[part]
		from = int(p.Start)
		if spare := room - int(p.End-p.Start); spare > 0 {
			from = max(0, from-spare/2)
		}
	}
	to = min(len(text), from+room)
	from = cutAt(text, from, true)
	return from, max(from, cutAt(text, to, false))
}

// cutAt moves an offset in a text to the nearest end of a line or a word, forwards or backwards.
func cutAt(text string, at int, forwards bool) int {
	const most = 64
	if at == 0 || at >= len(text) {
		return min(at, len(text))
	}
	for _, sep := range []byte{'\n', ' '} {
		for i := 0; i < most; i++ {
			j := at - i
			if forwards {
				j = at + i
			}
			if j > 0 && j < len(text) && text[j] == sep {
				return j
			}
		}
	}
	for at > 0 && at < len(text) && text[at]&0xC0 == 0x80 {
		at--
	}
	return at
}
