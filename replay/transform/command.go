package transform

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
)

// Input is a command to map.
type Input struct {
	Text, Shell, Cwd, User, Home string
	// Line is the command as read by package shell, nil if it has no syntax that is known.
	Line *shell.Line
	// Names are the names of the kinds branch, container, image, host and port that the command
	// is known to use, and the paths that it is known to name, absolute.
	Names map[string][]string
	// Status is the exit code of the command before it in its shell, "" if that is not known.
	Status string
}

// Output is a command after mapping.
type Output struct {
	Text string
	Asks []replay.Ask
}

// Command maps a command. One without a known syntax stays as it is, and is asked about.
func (m *Map) Command(in Input) Output {
	if in.Line == nil {
		out := Output{Text: in.Text}
		out.ask(replay.AskSyntax, "its syntax is not known, so nothing is known about what it does, and no mapping was applied", "")
		if strings.Contains(in.Text, redactedMark) {
			out.ask(replay.AskRedacted, "a value in it was redacted when it was recorded: write the command again", "")
		}
		return out
	}
	if strings.Contains(in.Text, redactedMark) {
		in = opened(in)
	}
	if in.Status != "" && (strings.Contains(in.Text, "?") || strings.Contains(in.Text, "status")) {
		in = answered(in)
	}
	e := &editor{m: m, in: in, places: places(in.Line)}
	e.words(in.Line.File)
	text := e.apply()
	if text != in.Text {
		// The same words, or the mapping has gone wrong.
		after, err := shell.Parse(text, in.Shell)
		if err != nil || count(after) != count(in.Line.File) {
			e.out.ask(replay.AskTransform, "after mapping it would not be the same command any more, so it was left as it is", "")
			text = in.Text
		}
	}
	e.out.Text = text
	return e.out
}

func (o *Output) ask(kind, text, name string) {
	if !slices.ContainsFunc(o.Asks, func(a replay.Ask) bool { return a.Kind == kind && a.Text == text }) {
		o.Asks = append(o.Asks, replay.Ask{Kind: kind, Text: text, Name: name})
	}
}

// count returns the number of statements and words of a tree, to compare.
func count(f *syntax.File) (n [2]int) {
	syntax.Walk(f, func(node syntax.Node) bool {
		switch node.(type) {
		case *syntax.Stmt:
			n[0]++
		case *syntax.Word:
			n[1]++
		}
		return true
	})
	return n
}

// place is where a word stands.
type place struct {
	call   *shell.Call
	dir    string
	abroad bool
	index  int // among the arguments, -1 for the program itself
}

// places returns where the words of a line stand.
func places(l *shell.Line) map[*syntax.Word]place {
	at := map[*syntax.Word]place{}
	for i := range l.Calls {
		c := &l.Calls[i]
		if c.Head.Node != nil {
			at[c.Head.Node] = place{c, c.Dir, c.Abroad, -1}
		}
		host := c.Name != "ssh" && c.Name != "rsh"
		for j, a := range c.Args {
			if a.Node == nil {
				continue
			}
			abroad := c.Abroad
			if !host && !strings.HasPrefix(a.Value, "-") && (j == 0 || !strings.HasPrefix(c.Args[j-1].Value, "-")) {
				host = true
			} else if c.Name == "ssh" && host && c.Wraps {
				abroad = true
			}
			at[a.Node] = place{c, c.Dir, abroad, j}
		}
	}
	for _, r := range l.Redirects {
		if r.Target.Node != nil {
			at[r.Target.Node] = place{dir: r.Dir, abroad: r.Abroad}
		}
	}
	return at
}

// edit replaces a part of the source.
type edit struct {
	from, to int
	text     string
}

// editor collects the edits of one command.
type editor struct {
	m      *Map
	in     Input
	places map[*syntax.Word]place
	edits  []edit
	out    Output
}

func (e *editor) apply() string { return applied(e.in.Text, e.edits) }

// applied makes edits in a text; of two that overlap the first counts.
func applied(text string, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	var b strings.Builder
	at := 0
	for _, x := range edits {
		if x.from < at {
			continue
		}
		b.WriteString(text[at:x.from])
		b.WriteString(x.text)
		at = x.to
	}
	return b.String() + text[at:]
}

// words visits all words of a tree, and the documents.
func (e *editor) words(f *syntax.File) {
	var documents []*syntax.Word
	var name string // of the assignment around a word
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Hdoc != nil {
				documents = append(documents, n.Hdoc)
				e.document(n)
			}
		case *syntax.Assign:
			if n.Name != nil {
				name = n.Name.Value
			}
		case *syntax.Word:
			if !slices.Contains(documents, n) {
				e.word(n, name)
			}
			name = ""
		}
		return true
	})
}

// document maps a here-document.
func (e *editor) document(r *syntax.Redirect) {
	pieces, v := shell.DocumentPieces(e.in.Text, r)
	e.replace(pieces, v, e.m.hits(v))
	e.redacted(pieces, v, "", place{})
}

// plainEnd matches the ends of here-documents that need no quotes.
var plainEnd = regexp.MustCompile(`^\w+$`)

// opened returns a command in which the here-documents with something redacted have an end without quotes, so
// that a variable can stand there. What would be special then is escaped.
func opened(in Input) Input {
	var edits []edit
	syntax.Walk(in.Line.File, func(n syntax.Node) bool {
		r, ok := n.(*syntax.Redirect)
		if !ok || r.Hdoc == nil {
			return true
		}
		pieces, v := shell.DocumentPieces(in.Text, r)
		_, end := shell.Pieces(in.Text, r.Word)
		if len(pieces) != 1 || pieces[0].Quote != shell.Raw || !strings.Contains(v, redactedMark) || !plainEnd.MatchString(end) {
			return true
		}
		from, until, ok := pieces[0].Source(in.Text, 0, len(v))
		if !ok {
			return true
		}
		edits = append(edits, edit{int(r.Word.Pos().Offset()), int(r.Word.End().Offset()), end}, edit{from, until, quote(v, shell.Document)})
		return true
	})
	return in.edited(edits)
}

// edited returns a command after edits, or as it is if it would not be the same command any more.
func (in Input) edited(edits []edit) Input {
	if len(edits) == 0 {
		return in
	}
	text := applied(in.Text, edits)
	l, err := shell.Read(text, in.Shell, in.Cwd)
	if err != nil || count(l.File) != count(in.Line.File) {
		return in
	}
	in.Text, in.Line = text, l
	return in
}

func (e *editor) word(w *syntax.Word, assigned string) {
	pieces, v := shell.Pieces(e.in.Text, w)
	at := e.places[w]
	hits := e.m.hits(v)
	hits = append(hits, e.names(v, at)...)
	if at.abroad && len(hits) > 0 {
		e.out.ask(replay.AskTransform, fmt.Sprintf("%s is about another machine or a container, where no mapping was applied", v), "")
	} else {
		hits = append(append(hits, e.home(pieces, v, at)...), e.downwards(v, at)...)
		slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(a.from, b.from) })
		e.replace(pieces, v, hits)
		e.partly(pieces, v, hits)
		e.upwards(v, at)
	}
	e.redacted(pieces, v, assigned, at)
}

// replace edits the source where hits are in the value. A hit that is not covered by literal pieces
// is asked about.
func (e *editor) replace(pieces []shell.Piece, v string, hits []hit) {
	for _, h := range hits {
		var edits []edit
		covered, first := 0, true
		for _, p := range pieces {
			from, until := max(h.from, p.At), min(h.until, p.At+len(p.Value))
			if from >= until {
				continue
			}
			covered += until - from
			text := ""
			if first {
				text, first = quote(h.to, p.Quote), false
			}
			if a, b, ok := p.Source(e.in.Text, from-p.At, until-p.At); ok {
				edits = append(edits, edit{a, b, text})
			} else {
				covered = -len(v) // it is not known where it stands
			}
		}
		if covered != h.until-h.from {
			if len(edits) > 0 || covered < 0 {
				e.out.ask(replay.AskTransform, fmt.Sprintf("a part of %s is only known when it runs", v), "")
			}
			continue
		}
		e.edits = append(e.edits, edits...)
		if h.mapping >= 0 {
			e.m.all[h.mapping].Uses++
		}
	}
}

// quote writes a text so that it is itself in a kind of quotes.
func quote(s string, q shell.Quote) string {
	special := ""
	switch q {
	case shell.Bare:
		if s == "" {
			return "''"
		}
		special = " \t\n\\'\"$`&|;<>()*?[]#~{}!="
		if !strings.ContainsAny(s, " \t\n\\'\"$`&|;<>()*?[]#{}!") {
			return s
		}
	case shell.Double:
		special = "\\\"$`"
	case shell.Document:
		special = "\\$`"
	case shell.Single:
		return strings.ReplaceAll(s, "'", `'\''`)
	case shell.Dollar:
		special = `\'`
	default:
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// home maps ~ and $HOME where whoever runs the command has another home than the mapping says.
func (e *editor) home(pieces []shell.Piece, v string, at place) []hit {
	if e.in.Home == "" || len(pieces) == 0 {
		return nil
	}
	if rest, ok := strings.CutPrefix(v, "~"); ok && pieces[0].Quote == shell.Bare && pieces[0].At == 0 && (rest == "" || rest[0] == '/') {
		recorded := e.in.Home + rest
		if to := e.m.Path(recorded); to != e.m.newHome(e.in.Home)+rest {
			return []hit{{0, len(v), to, -1}}
		}
	}
	if strings.HasPrefix(v, "~"+e.in.User) && e.in.User != "" && pieces[0].Quote == shell.Bare {
		if to := e.m.Name(User, e.in.User); to != e.in.User {
			return []hit{{1, 1 + len(e.in.User), to, -1}}
		}
	}
	for _, name := range [...]string{"$HOME", "${HOME}"} {
		rest, ok := strings.CutPrefix(v, name)
		if !ok || rest != "" && rest[0] != '/' {
			continue
		}
		if to := e.m.Path(e.in.Home + rest); to != e.m.newHome(e.in.Home)+rest {
			e.out.ask(replay.AskTransform, fmt.Sprintf("%s would be %s, and is %s by the mapping: set HOME or write the path", v, e.m.newHome(e.in.Home)+rest, to), "")
		}
	}
	return nil
}

// partly asks about a word that begins as a mapped path does and goes on with what is only known
// when it runs: /home/ann/$X, /home/an*.
func (e *editor) partly(pieces []shell.Piece, v string, hits []hit) {
	for _, p := range pieces {
		if len(hits) > 0 && p.At+len(p.Value) <= hits[len(hits)-1].until {
			continue
		}
		text := p.Value
		end := len(text)
		open := p.At+len(text) < len(v) && strings.IndexByte("$`", v[p.At+len(text)]) >= 0
		if p.Quote == shell.Bare {
			if i := strings.IndexAny(text, "*?["); i >= 0 {
				end, open = i, true
			}
		}
		if !open {
			continue
		}
		begin := strings.LastIndexAny(text[:end], "=:, ") + 1
		head := text[begin:end]
		if len(head) < 2 || head[0] != '/' {
			continue
		}
		for _, o := range e.m.all {
			if o.Kind == Path && strings.HasPrefix(o.From, head) {
				e.out.ask(replay.AskTransform, fmt.Sprintf("%s may be in %s, which is only known when it runs", v, o.From), "")
			}
		}
	}
}

// downwards returns the whole of a relative path if it leads from where the command runs into what is mapped to
// elsewhere: app in /home/ann, where /home/ann/app is mapped.
func (e *editor) downwards(v string, at place) []hit {
	if at.dir == "" || v == "" || strings.ContainsAny(v[:1], "/~-") || strings.Contains(v, "..") || strings.ContainsAny(v, "$`*?[ \n|=:") {
		return nil
	}
	if c := at.call; c != nil && (c.Name == "echo" || c.Name == "printf" || c.Name == "git" && !slices.Contains([]string{"init", "clone", "add", "rm", "mv", "worktree"}, c.Sub())) {
		return nil // it may be a word like another, or the name of a branch
	}
	was := path.Join(at.dir, v)
	now := e.m.Path(was)
	moves := at.call != nil && (at.call.Name == "cd" || at.call.Name == "pushd")
	if now == path.Join(e.m.Path(at.dir), v) || !moves && !slices.Contains(e.in.Names[Path], was) {
		return nil
	}
	return []hit{{0, len(v), now, slices.IndexFunc(e.m.all, func(o replay.Mapping) bool {
		return o.Kind == Path && (was == o.From || strings.HasPrefix(was, o.From+"/"))
	})}}
}

// upwards asks about a relative path that leaves what is mapped.
func (e *editor) upwards(v string, at place) {
	if !strings.Contains(v, "..") || at.dir == "" || len(e.m.all) == 0 || strings.ContainsAny(v, "$`*?[ \n|") || strings.HasPrefix(v, "/") {
		return
	}
	if v != ".." && !strings.HasPrefix(v, "../") && !strings.Contains(v, "/../") && !strings.HasSuffix(v, "/..") {
		return
	}
	was := path.Join(at.dir, v)
	if now := path.Join(e.m.Path(at.dir), v); e.m.Path(was) != now {
		e.out.ask(replay.AskTransform, fmt.Sprintf("%s was %s, and would be %s: map that directory too, or write the path", v, was, now), "")
	}
}
