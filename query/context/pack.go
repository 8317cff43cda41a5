package context

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/tokens"
	"github.com/recountdb/recount/query/code"
)

// fileShare is the share of the budget that the list of files may take; asked is that if the request
// says how many it wants.
const fileShare, askedFileShare = 0.25, 0.6

// pack fills an answer with files and symbols until the budget is used.
func (e *engine) pack(resp *Response, files, symbols []fused) error {
	var head strings.Builder
	writeHead(&head, *resp)
	used := tokens.Count(head.String())
	limit := fileShare
	if e.r.Limit > DefaultLimit {
		limit = askedFileShare
	}
	most := max(int(limit*float64(e.r.Budget)), 0)
	for _, f := range files[:min(len(files), e.r.Limit)] {
		file := e.file(f)
		n := countOf(func(b *strings.Builder) { writeFile(b, &file) })
		if used+n > max(most, used) && len(resp.Files) > 0 || used+n > e.r.Budget {
			break
		}
		if used+n > most && len(resp.Files) > 0 {
			break
		}
		used += n
		resp.Files = append(resp.Files, file)
	}
	if err := e.packSymbols(resp, symbols, e.r.Budget-used); err != nil {
		return err
	}
	// Parts are counted nearly; the whole is counted exactly.
	for resp.Tokens = tokens.Count(resp.Text()); resp.Tokens > e.r.Budget; resp.Tokens = tokens.Count(resp.Text()) {
		// Leave out as much as it seems to be too much, then count again.
		for over := resp.Tokens - e.r.Budget; over > 0 && len(resp.Items) > 1; {
			over -= resp.Items[len(resp.Items)-1].Tokens
			resp.Items = resp.Items[:len(resp.Items)-1]
			if over <= 0 {
				break
			}
		}
		if resp.Tokens = tokens.Count(resp.Text()); resp.Tokens <= e.r.Budget {
			break
		}
		switch {
		case len(resp.Items) > 0:
			resp.Items = resp.Items[:len(resp.Items)-1]
		case len(resp.Files) > 0:
			resp.Files = resp.Files[:len(resp.Files)-1]
		default:
			resp.Hint = ""
		}
		if len(resp.Items)+len(resp.Files) == 0 && resp.Hint == "" {
			break
		}
	}
	return nil
}

func countOf(write func(b *strings.Builder)) int {
	var b strings.Builder
	write(&b)
	return tokens.Near(b.String())
}

// file describes a ranked file.
func (e *engine) file(f fused) File {
	x := &e.c.files[f.key]
	out := File{Path: x.Path, Test: x.test, Score: rounded(f.score), Channels: f.strongest()}
	out.Why = e.why(f.key, out.Channels)
	return out
}

// why says in a few words what points at a file.
func (e *engine) why(i int32, channels []Channel) string {
	var parts []string
	for _, c := range channels {
		if len(parts) == 2 {
			break
		}
		switch c.Name {
		case chTraced:
			parts = append(parts, "named by path")
		case chNamed:
			if s := e.namedIn(i); s != "" {
				parts = append(parts, "has "+s)
			}
		case chTogether:
			parts = append(parts, "changed together")
		case chTwin:
			parts = append(parts, "same name")
		case chEdges:
			parts = append(parts, "joined by calls or uses")
		case chPast:
			parts = append(parts, "changed for similar tasks")
		case chUsed:
			parts = append(parts, "was useful for similar tasks")
		}
	}
	return strings.Join(parts, ", ")
}

// namedIn returns the best symbol of a file that the task names.
func (e *engine) namedIn(i int32) string {
	best, at := 0.0, int32(-1)
	for n := e.c.files[i].from; n < e.c.files[i].to; n++ {
		if s := e.pointed.symbols[n]; s > best {
			best, at = s, n
		}
	}
	if at < 0 {
		return ""
	}
	return e.st.Chain(at)
}

// choice is a symbol that may be packed: with its body, which may be empty, or with its head alone.
type choice struct {
	item Item
	body string
}

// whole returns the symbol with its body, and alone with its head.
func (c choice) whole() Item {
	c.item.Text = c.body
	c.item.Tokens = countOf(func(b *strings.Builder) { writeItem(b, &c.item) })
	c.item.Signature = ""
	return c.item
}

func (c choice) alone() Item {
	c.item.Tokens = countOf(func(b *strings.Builder) { writeItem(b, &c.item) })
	return c.item
}

const (
	// maxBody is the number of lines of a declaration beyond which only its head is shown, and
	// bodyShare the share of the budget beyond which one body crowds out others.
	maxBody   = 400
	bodyShare = 0.4
	// readAhead is the number of symbols whose texts are read for each thousand tokens of budget.
	readAhead = 14
)

// packSymbols adds the symbols that fit: the heads of the first ones, and bodies where they are worth
// the most for their tokens. Listed files of which nothing else fits get the place that is kept for them.
func (e *engine) packSymbols(resp *Response, symbols []fused, room int) error {
	wanted := min(len(symbols), 12+readAhead*e.r.Budget/1000)
	shown := map[int32][][2]int{} // by file, the line ranges of packed bodies
	left := room
	kept, err := e.keep(resp.Files, symbols, room)
	if err != nil {
		return err
	}
	for _, item := range kept {
		left -= item.Tokens
	}
	// add packs an item of a file, whose kept place is free then.
	add := func(f int32, item Item) {
		left -= item.Tokens - kept[f].Tokens
		delete(kept, f)
		resp.Items = append(resp.Items, item)
	}
	inside := func(f int32, from, to int) bool {
		return slices.ContainsFunc(shown[f], func(r [2]int) bool { return r[0] <= from && to <= r[1] })
	}
	for i, s := range symbols[:wanted] {
		if i&15 == 0 && e.ctx.Err() != nil {
			return e.ctx.Err()
		}
		f := e.c.ofNode[s.key]
		room := left + kept[f].Tokens
		if room < 12 {
			continue
		}
		c, err := e.choiceOf(s)
		if err != nil {
			return err
		}
		if inside(f, c.item.Line, c.item.EndLine) {
			continue
		}
		around := slices.ContainsFunc(shown[f], func(r [2]int) bool { return c.item.Line <= r[0] && r[1] <= c.item.EndLine })
		if !around { // what is shown already is not shown again
			if item := c.whole(); item.Text != "" && item.Tokens <= room && (float64(item.Tokens) <= bodyShare*float64(e.r.Budget) || item.Tokens < 120) {
				shown[f] = append(shown[f], [2]int{c.item.Line, c.item.EndLine})
				add(f, item)
				continue
			}
		}
		if item := c.alone(); item.Tokens <= room {
			add(f, item)
		}
	}
	for _, file := range resp.Files {
		if item, free := kept[e.c.byPath[file.Path]]; free {
			resp.Items = append(resp.Items, item)
		}
	}
	slices.SortStableFunc(resp.Items, func(a, b Item) int { return cmp.Compare(b.Score, a.Score) })
	return nil
}

// keptShare is the share of the room for code that is kept for the listed files, in equal parts: an answer
// that has code of a few files alone leaves out most of what has to be changed.
const keptShare = 0.5

// keep returns the best symbol of each listed file, by file: whole if that fits into the file's part of the
// room, else its head.
func (e *engine) keep(files []File, symbols []fused, room int) (map[int32]Item, error) {
	kept := map[int32]Item{}
	if len(symbols) == 0 {
		return kept, nil
	}
	best := map[int32]fused{}
	for _, s := range symbols {
		f := e.c.ofNode[s.key]
		if _, better := best[f]; !better {
			best[f] = s
		}
	}
	left := int(keptShare * float64(room))
	share := left / max(1, len(files))
	for _, file := range files {
		f := e.c.byPath[file.Path]
		s, ranked := best[f]
		if !ranked {
			continue
		}
		c, err := e.choiceOf(s)
		if err != nil {
			return nil, err
		}
		item := c.whole()
		if item.Text == "" || item.Tokens > share {
			item = c.alone()
		}
		if item.Tokens <= left {
			left -= item.Tokens
			kept[f] = item
		}
	}
	return kept, nil
}

// choiceOf reads what may be shown of a symbol.
func (e *engine) choiceOf(s fused) (choice, error) {
	sym := e.st.Symbol(s.key)
	signature, doc, err := e.st.Detail(s.key)
	if err != nil {
		return choice{}, err
	}
	from, to := e.st.Lines(s.key)
	c := choice{item: Item{
		Kind: KindSymbol, Symbol: &sym, Path: sym.File, Line: from, EndLine: to, Signature: signature, Doc: code.FirstSentence(doc),
		Score: rounded(s.score), Channels: s.strongest(),
	}}
	if to-from >= maxBody || holds(sym) && to-from > 25 {
		return c, nil
	}
	lines, err := e.linesOf(e.c.ofNode[s.key])
	if err != nil || from < 1 || to > len(lines) {
		return c, err
	}
	c.body = quotable(lines[from-1 : to])
	return c, nil
}

// linesOf returns the lines of a file, and reads it once.
func (e *engine) linesOf(f int32) ([]string, error) {
	lines, ok := e.lines[f]
	if ok {
		return lines, nil
	}
	lines, err := e.s.Cache.lines(e.ctx, e.st, e.s, e.c.files[f].FileState)
	if err == nil {
		e.lines[f] = lines
	}
	return lines, err
}

// holds reports whether a symbol's text is that of others, which are symbols of their own.
func holds(s code.Symbol) bool {
	switch s.Kind {
	case "class", "struct", "interface", "trait", "enum", "type", "namespace", "module":
		return true
	}
	return false
}

// quotable joins lines without their common indentation and without characters that move a cursor.
func quotable(lines []string) string {
	indent := -1
	for _, l := range lines {
		if t := strings.TrimLeft(l, " \t"); t != "" {
			if n := len(l) - len(t); indent < 0 || n < indent {
				indent = n
			}
		}
	}
	var b strings.Builder
	for _, l := range lines {
		l = strings.TrimRight(l[min(max(indent, 0), len(l)):], " \t\r")
		b.WriteString(strings.ToValidUTF8(strings.Map(func(r rune) rune {
			if r < 0x20 && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
				return ' '
			}
			return r
		}, l), "\uFFFD"))
		b.WriteByte('\n')
	}
	return b.String()
}
