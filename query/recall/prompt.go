package recall

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/clip"
	"github.com/recountdb/recount/schemas/wordset"
)

const (
	// promptMinimum is the minimum score of a record that is recalled at a prompt.
	promptMinimum = 0.47
	// promptWeight is the minimum weight of the terms in common, in terms that nearly nobody used.
	promptWeight = 1
	// promptTerms is how many terms of a prompt count, the rarest; fewTerms is how many it must have
	// to be more than "yes, go on".
	promptTerms = 24
	fewTerms    = 3
	// rare is the share of records below which a term counts as rare, or rareFew records if that is
	// more. rareTerms is how many rare terms must be in common, one of them a name.
	rare      = 0.02
	rareFew   = 5
	rareTerms = 2
	// A term that more than commonFew of the records have, and more than one in commonShare of them,
	// is what many sessions are about: it counts for less, and not as rare.
	commonFew   = 4
	commonShare = 4
	// A passage that has coveredTerms of a prompt's words or more, and this share of them, says the same, however common
	// they are: what is worked on often is not to fall silent.
	coveredTerms = 3
	coveredShare = 0.7
	// promptDepth is how many records are compared, promptItems how many are returned, perSession
	// how many of one session.
	promptDepth = 40
	promptItems = 2
	perSession  = 2
	// window is the length of the passage that is quoted, in bytes.
	window = 420
)

// saidTypes are the events whose records are recalled at a prompt: what people and agents said, and
// what they stated to be remembered. Outputs of tools are not: they are many, and rarely to the
// point.
var saidTypes = []string{
	schemas.TypeUserMessage, schemas.TypeAssistantMessage, schemas.TypeMemoryStated, schemas.TypeCritique, schemas.TypeTaskStarted,
}

// rarity is a term of a prompt, with its weight: 1 if nearly nobody used it. A name is what code or a
// file is called: words alone are shared by prompts about different things. A part is a word in such a name.
type rarity struct {
	weight           float64
	rare, name, part bool
}

// passage is a record that has terms of a prompt.
type passage struct {
	o       *objects.Stored
	text    string
	score   float64
	matched []string
	// restates tells that it has no rare terms, and most of the prompt's words.
	restates bool
}

// prompt returns records that bear on the prompt of a request, and why there are none.
func (a *session) prompt(r Request) ([]Item, string, error) {
	text := asked(r.Text)
	f := a.filter()
	f.Events = saidTypes
	pass := a.view.Filter(f)
	others := func(ref schemas.ObjectRef) bool {
		if !pass(ref) {
			return false
		}
		at, ok := a.view.Attributes(ref)
		return ok && (r.Session == "" || at.Session != r.Session)
	}
	hits, stats, err := a.search(text, promptDepth, others)
	if err != nil {
		return nil, "", err
	}
	template, err := a.templateOf(text, hits)
	if err != nil {
		return nil, "", err
	}
	if len(template) > 0 {
		if text = without(text, template); strings.TrimSpace(text) == "" {
			return nil, "the prompt has been sent before word for word, in several sessions", nil
		}
		if hits, stats, err = a.search(text, promptDepth, others); err != nil {
			return nil, "", err
		}
	}
	terms, total := weights(text, stats)
	if len(terms) < fewTerms {
		return nil, "the prompt has too few words of its own to compare anything with", nil
	}
	records, err := a.records(hits, terms, template)
	if err != nil {
		return nil, "", err
	}
	common(records, terms)
	var found []passage
	for _, x := range records {
		if p := x.best(terms, total); p.score >= promptMinimum {
			found = append(found, p)
		}
	}
	a.Step(query.Step{Operator: "compare", Counts: map[string]int64{"records": int64(len(hits)), "terms": int64(len(terms)), "found": int64(len(found))}})
	a.RecordTime("compare")
	slices.SortStableFunc(found, func(x, y passage) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(y.o.TimeUnixNano, x.o.TimeUnixNano), y.o.Ref.Compare(x.o.Ref))
	})
	items, err := a.said(found, text)
	return items, "nothing that was said before bears on this prompt surely enough", err
}

// asked returns what a prompt asks, without what programs put into it: blocks in tags of the system
// and without addresses.
func asked(text string) string {
	text = address.ReplaceAllString(text, " ")
	for _, t := range []string{"system-reminder", "ide_opened_file", "ide_selection", "local-command-stdout", "local-command-caveat", "command-message", "command-name", "skill", "environment_context", "user_instructions"} {
		for {
			i := strings.Index(text, "<"+t+">")
			if i < 0 {
				break
			}
			j := strings.Index(text[i:], "</"+t+">")
			if j < 0 {
				text = text[:i]
				break
			}
			text = text[:i] + text[i+j+len(t)+3:]
		}
	}
	return text
}

// address matches URLs, whose parts many prompts share.
var address = lazyregexp.New(`[a-z]+://\S+`)

// weights returns the terms of a prompt that tell records apart, with their weights and the sum of
// these. Terms that no record has count for the sum: a prompt about something new has many.
func weights(text string, stats lexical.ObjectStats) (map[string]*rarity, float64) {
	if stats.Parts == 0 {
		return nil, 0
	}
	n, called := float64(stats.Parts), namesIn(text)
	var all []lexical.TermStats
	for _, t := range stats.Terms {
		if share := float64(t.Documents) / n; len(t.Term) > 2 && (share < 0.25 || called[t.Term]) && !chatter[t.Term] && strings.IndexFunc(t.Term, unicode.IsLetter) >= 0 {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(x, y lexical.TermStats) int {
		return cmp.Or(cmp.Compare(x.Documents, y.Documents), strings.Compare(x.Term, y.Term))
	})
	// The rarest of all may be typing errors, so that a term that nobody used counts as one that is
	// in a few records.
	terms, total := map[string]*rarity{}, 0.0
	for _, t := range all[:min(len(all), promptTerms)] {
		w := math.Log(1+n/float64(max(t.Documents, 3))) / math.Log(1+n/3)
		terms[t.Term] = &rarity{weight: w, rare: float64(t.Documents) < max(rare*n, rareFew), name: called[t.Term]}
		total += w
	}
	for part, t := range terms {
		for name := range called {
			t.part = t.part || part != name && strings.Contains(name, part)
		}
	}
	return terms, total
}

// namesIn returns the names of code and files in a text, in lower case: words with capitals inside,
// or joined by underscores, dots, slashes or hyphens.
func namesIn(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	}) {
		w = strings.Trim(w, "./-")
		inner := strings.TrimLeftFunc(w, unicode.IsUpper)
		if len(w) > 4 && (strings.ContainsAny(w, "_/.-") || inner != "" && strings.IndexFunc(inner, unicode.IsUpper) >= 0) && strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			all[strings.ToLower(w)] = true
		}
	}
	return all
}

// chatter are words of prompts that say nothing about their subject.
var chatter = wordset.Of(`please can could would should want need let lets now just also still look check see make sure thanks thank think know again really maybe
	instead good great nice yes okay right don doesn didn isn not but use using like get got way some any all one two more new same other into out about after before
	have has had been being here back next first last then than too very much many only first help try tried going work works working thing things something
	user ll ve re`)

// record is an object that may bear on a prompt, with its passages and the terms of the prompt in
// each.
type record struct {
	o        *objects.Stored
	passages []string
	terms    [][]string
}

// records reads what a search found, in or beside the parts that it found.
func (a *session) records(hits []lexical.ObjectHit, terms map[string]*rarity, template map[string]bool) ([]record, error) {
	an := lexical.NewAnalyser()
	var all []record
	for _, h := range hits {
		o, err := a.object(h.Ref)
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue
		}
		from, to := 0, 2*window
		if int(h.Part) < len(o.Parts) {
			from, to = int(o.Parts[h.Part].Start), int(o.Parts[h.Part].End)
		}
		text, err := a.view.Passage(o, from, to)
		if err != nil {
			return nil, err
		}
		x := record{o: o}
		for _, w := range windows(clean(without(text, template))) {
			var matched []string
			an.Terms(w, func(term string) {
				if terms[term] != nil {
					matched = append(matched, term)
				}
			})
			x.passages, x.terms = append(x.passages, w), append(x.terms, matched)
		}
		all = append(all, x)
	}
	return all, nil
}

// common marks the terms that so many of the records have that they do not tell them apart: what a
// whole series of sessions is about.
func common(records []record, terms map[string]*rarity) {
	in := map[string]int{}
	for _, x := range records {
		seen := map[string]bool{}
		for _, matched := range x.terms {
			for _, t := range matched {
				if !seen[t] {
					seen[t] = true
					in[t]++
				}
			}
		}
	}
	most := max(commonFew, len(records)/commonShare)
	for term, n := range in {
		if n > most {
			t := terms[term]
			t.weight *= float64(most) / float64(n)
			t.rare = false
		}
	}
}

// best returns the passage that has most of the terms.
func (x *record) best(terms map[string]*rarity, total float64) passage {
	best, all := passage{o: x.o}, 0
	for _, t := range terms {
		if !t.part {
			all++
		}
	}
	for i, w := range x.passages {
		var sum float64
		rares, names, words := 0, 0, 0
		for _, term := range x.terms[i] {
			t := terms[term]
			sum += t.weight
			if t.rare {
				rares++
			}
			if t.name {
				names++
			}
			if !t.part {
				words++
			}
		}
		covered := words >= coveredTerms && float64(words) >= coveredShare*float64(all)
		if names == 0 || !covered && (sum < promptWeight || rares < rareTerms) {
			continue
		}
		// Half of the score is the share of the prompt that the passage covers, half how much it
		// has in all: a long prompt is rarely covered by one passage.
		score := sum/total*0.6 + min(1, sum/(4*promptWeight))*0.4
		if covered {
			score = max(score, promptMinimum)
		}
		if score > best.score {
			best.restates = sum < promptWeight || rares < rareTerms
			best.score, best.text, best.matched = score, w, x.terms[i]
		}
	}
	slices.Sort(best.matched)
	return best
}

// windows returns the passages of a text: runs of whole lines, and of sentences if a line is long,
// of about the length of a quote. They overlap by half.
func windows(text string) []string {
	var pieces []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		for len(line) > window {
			cut := strings.LastIndex(line[:window], ". ")
			if cut < window/3 {
				if cut = strings.LastIndexByte(line[:window], ' '); cut < window/3 {
					cut = max(len(clip.Head(line, window)), 1) - 1
				}
			}
			pieces = append(pieces, strings.TrimSpace(line[:cut+1]))
			line = strings.TrimSpace(line[cut+1:])
		}
		if line != "" {
			pieces = append(pieces, line)
		}
	}
	var all []string
	for i := 0; i < len(pieces); {
		w, j := pieces[i], i+1
		for j < len(pieces) && len(w)+1+len(pieces[j]) <= window {
			w += "\n" + pieces[j]
			j++
		}
		all = append(all, w)
		if j == len(pieces) {
			break
		}
		i = max(i+1, (i+j)/2)
	}
	return all
}

// said returns passages as items, without those that repeat another or the prompt.
func (a *session) said(found []passage, text string) ([]Item, error) {
	var items []Item
	of := map[string]int{}
	prompt := wordsIn(text)
	var shown []map[string]bool
	for _, p := range found {
		words := wordsIn(p.text)
		if of[p.o.Session] == perSession || p.restates && len(items) > 0 || p.o.EventType == schemas.TypeAssistantMessage && overlap(words, prompt) > 0.9 ||
			slices.ContainsFunc(shown, func(other map[string]bool) bool { return overlap(words, other) > 0.6 }) {
			continue
		}
		x := Item{
			ID: p.o.At, Kind: KindSaid, Source: source(p.o), Outside: outside(p.o), Session: p.o.Session, Position: p.o.At,
			Time: time.Unix(0, p.o.TimeUnixNano).UTC(), Score: p.score, Matched: p.matched, Quote: p.text, lines: []string{p.text},
		}
		switch {
		case isMemory(p.o):
			x.Title = "Remembered"
		case p.o.EventType == schemas.TypeUserMessage:
			x.Title = "Asked before"
			answer, err := a.answer(p.o)
			if err != nil {
				return nil, err
			}
			if answer == nil { // what was asked without an answer helps nobody
				continue
			}
			x.Quote, x.lines = oneLine(p.text, 200), []string{oneLine(p.text, 200), fmt.Sprintf("answered by %s: %s", oneLine(answer.Agent, 40), sentence(answer.Text, window))}
		default:
			x.Title = "Said before"
		}
		of[p.o.Session]++
		shown = append(shown, words)
		if items = append(items, x); len(items) == promptItems {
			break
		}
	}
	return items, nil
}

// overlap returns the share of the smaller of two sets that is in the other.
func overlap(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 1
	}
	n := 0
	for w := range a {
		if b[w] {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

// answer returns the last thing that the agent said before the user spoke again, nil if it said
// nothing.
func (a *session) answer(o *objects.Stored) (*objects.Stored, error) {
	runs, err := a.around(o.Session, o.TimeUnixNano)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(runs, func(x run) bool { return x.call.Ref == o.Ref })
	if at < 0 {
		return nil, nil
	}
	var last *objects.Stored
	for _, x := range runs[at+1:] {
		if x.said && x.call.EventType == schemas.TypeUserMessage {
			break
		}
		if x.said && len(x.call.Text) > 60 {
			last = x.call
		}
	}
	return last, nil
}
