package wire

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textReader reads what textWriter wrote.
type textReader struct {
	p     Payload
	known nodes
	lists lists
	// ofList is the number of the current list, 0 for none.
	ofList uint32
	// said has the scalars that the other side knows.
	said  map[string]string
	short shorts
	items int

	// nodes and columns are how the nodes and the values of the current list are written.
	nodes   nodeForm
	columns []column
	// kind is that of the last node of the list, "" if that was not defined there.
	kind string
	// open is the node whose content may follow: in a row, or known by a number.
	open   *Node
	number uint32
	// lines are those of its text, and quoted tells that the text was quoted, on one line.
	lines  []string
	quoted bool
	// before is the value of the last row that the signature of its node has as well, nil for none.
	before *string
}

// nodes are those that were defined with a number.
type nodes struct {
	before map[uint32]Node
	added  map[uint32]Node
}

func (k nodes) get(number uint32) (Node, bool) {
	if n, ok := k.added[number]; ok {
		return n, true
	}
	n, ok := k.before[number]
	return n, ok
}

// readText reads a text. It adds nodes and lists that it defines with a number to known.added and
// sent.added. said has the scalars of earlier answers.
func readText(data []byte, known nodes, sent lists, said map[string]string) (Payload, error) {
	if err := checkSize(data); err != nil {
		return Payload{}, err
	}
	if !utf8.Valid(data) {
		return Payload{}, errorf("text: not UTF-8")
	}
	r := textReader{known: known, lists: sent, said: said}
	rest, at := string(data), 0
	if strings.HasPrefix(rest, "#!") { // the legend
		_, rest, _ = strings.Cut(rest, "\n")
	}
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		at++
		if err := r.line(line, at == 1); err != nil {
			return Payload{}, errorf("line %d: %w", at, err)
		}
	}
	if at == 0 {
		return Payload{}, errorf("text: empty; want a line that begins with #")
	}
	if err := r.close(); err != nil {
		return Payload{}, err
	}
	r.keep()
	return r.p.normal()
}

// keep remembers the current list, which is read whole, if it has a number.
func (r *textReader) keep() {
	if r.ofList > 0 {
		r.lists.added[r.ofList] = r.p.Lists[len(r.p.Lists)-1]
	}
	r.ofList = 0
}

func (r *textReader) line(line string, first bool) error {
	switch {
	case first:
		return r.head(line)
	case strings.HasPrefix(line, "## "):
		if err := r.close(); err != nil {
			return err
		}
		r.keep()
		return r.list(line[3:])
	case strings.HasPrefix(line, "=="):
		text, err := unquote(line[2:])
		if err != nil || r.open == nil || r.lines != nil {
			return errorf("text: a quoted text that is none, or of no node: %s", clip(line))
		}
		r.lines, r.quoted = []string{text}, true
		return nil
	case strings.HasPrefix(line, "="):
		return r.signature(line[1:])
	case line == "" || line[0] == ' ' || line[0] == '\t':
		if r.open == nil || r.quoted {
			return errorf("text: a text of no node: %s", clip(line))
		}
		r.lines = append(r.lines, strings.TrimPrefix(line, " "))
		return nil
	case strings.HasPrefix(line, "+"):
		if err := r.close(); err != nil {
			return err
		}
		w := words{rest: line[1:]}
		n, number, defined, err := r.node(&w)
		switch {
		case err != nil:
			return err
		case !defined || number == 0 || w.rest != "":
			return errorf("text: %s: want + and a node with a number", clip(line))
		}
		r.open, r.number = &n, number
		return nil
	}
	if err := r.close(); err != nil {
		return err
	}
	return r.row(line)
}

// head reads the first line.
func (r *textReader) head(line string) error {
	name, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return errorf("text: %s: want a line that begins with #", clip(line))
	}
	w := words{rest: name}
	var err error
	if r.p.Question, _, err = w.value(); err != nil {
		return err
	}
	for {
		name, value, set, ok, err := w.pair()
		switch {
		case err != nil:
			return err
		case !ok:
			return nil
		case !set:
			return errorf("text: %s without a value", name)
		case value == "^" && !w.quoted:
			before, known := r.said[name]
			if !known {
				return errorf("text: %s=^ without a value before", name)
			}
			value = before
		}
		r.p.Scalars = append(r.p.Scalars, Scalar{name, value})
	}
}

// list reads the line of a list: NAME or NAME:KIND, &NUMBER if it has one, the marks of its nodes, and
// its columns.
func (r *textReader) list(line string) error {
	w := words{rest: line}
	name, ok, err := w.next()
	if err != nil || !ok {
		return or(err, "text: a list without a name")
	}
	r.nodes, r.columns, r.kind = nodeForm{}, nil, ""
	switch {
	case w.quoted && w.after != "":
		if r.nodes.kind, ok = strings.CutPrefix(w.after, ":"); !ok || !plain(r.nodes.kind) {
			return errorf("text: %s after the name of a list", clip(w.after))
		}
	case !w.quoted:
		plainName, kind, ofKind := strings.Cut(name, ":")
		if name = plainName; ofKind && !plain(kind) || name == "" || strings.IndexByte(special, name[0]) >= 0 {
			return errorf("text: %s where a list's name should be", clip(line))
		}
		if r.nodes.kind = kind; name == "-" {
			name = ""
		}
	}
	var number uint32
	if numbered, ok := strings.CutPrefix(strings.TrimLeft(w.rest, " "), "&"); ok {
		w.rest = numbered
		if number, err = r.listNumber(&w); err != nil {
			return err
		}
	}
	r.nodes.absent, r.nodes.nameless, r.nodes.placeless = w.mark("*"), w.mark("-"), w.mark(":-")
	l := List{Name: name}
	for {
		name, value, set, ok, err := w.pair()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if len(l.Columns) == MaxColumns {
			return errorf("text: more than %d columns", MaxColumns)
		}
		l.Columns = append(l.Columns, name)
		r.columns = append(r.columns, column{usual: value, all: set && !w.usual})
	}
	r.p.Lists, r.ofList = append(r.p.Lists, l), number
	return nil
}

// listNumber reads the number of a list, which no list has yet.
func (r *textReader) listNumber(w *words) (uint32, error) {
	s, _, err := w.next()
	if err != nil {
		return 0, err
	}
	number, err := parseNumber(s)
	if err != nil {
		return 0, err
	}
	_, before := r.lists.before[number]
	if _, twice := r.lists.added[number]; twice || before || r.lists.added == nil {
		return 0, errorf("text: the list &%d is defined twice, or in no session", number)
	}
	return number, nil
}

func (r *textReader) row(line string) error {
	if len(r.p.Lists) == 0 {
		return errorf("text: %s: a row before any list", clip(line))
	}
	l := &r.p.Lists[len(r.p.Lists)-1]
	if strings.HasPrefix(line, "&") {
		rows, err := r.lists.repeated(line, l.Columns)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := r.count(row, l); err != nil {
				return err
			}
		}
		l.Rows = append(l.Rows, rows...)
		r.kind = ""
		return nil
	}
	w := words{rest: line}
	var row Row
	var open int
	var number uint32
	if !w.mark("*") && !r.nodes.absent {
		if w.mark(">") {
			if len(l.Rows) == 0 || len(l.Rows[len(l.Rows)-1].Nodes) == 0 {
				return errorf("text: %s: > below no node", clip(line))
			}
			n := l.Rows[len(l.Rows)-1].Nodes[0]
			row.Nodes = append(row.Nodes, n)
			r.short.refer(n.Path)
		}
		for {
			n, num, defined, err := r.node(&w)
			if err != nil {
				return err
			}
			row.Nodes = append(row.Nodes, n)
			if defined {
				open, number = len(row.Nodes), num
			}
			if len(row.Nodes) > MaxRowNodes {
				return errorf("text: more than %d nodes in a row", MaxRowNodes)
			}
			if !w.mark(">") {
				break
			}
		}
	}
	if err := r.count(row, l); err != nil {
		return err
	}
	if len(row.Nodes) > 0 {
		r.short.refer(firstPath(row.Nodes))
	}
	edit, asAbove := -1, false
	for c, col := range r.columns {
		v := col.usual
		if !col.all && !asAbove && w.mark("^^") {
			if asAbove = true; len(l.Rows) == 0 {
				return errorf("text: ^^ in the first row of a list")
			}
		}
		if asAbove {
			v = l.Rows[len(l.Rows)-1].Values[c]
		} else if edit < 0 && !col.all && w.mark(editedWord) {
			edit, v = c, ""
		} else if !col.all {
			var err error
			var written bool
			if v, written, err = r.value(&w, col.usual, l.Rows, c); err != nil {
				return err
			}
			if written && len(row.Nodes) == 0 {
				r.short.pass(v)
			}
		}
		row.Values = append(row.Values, v)
	}
	if w.rest = strings.TrimLeft(w.rest, " "); w.rest != "" {
		return errorf("text: %s after the last column", clip(w.rest))
	}
	l.Rows = append(l.Rows, row)
	if open > 0 {
		r.open, r.number = &row.Nodes[open-1], number
	}
	if edit >= 0 {
		r.before = &row.Values[edit]
	}
	return nil
}

// count counts a row of a list, so that a short text cannot become a large payload.
func (r *textReader) count(row Row, l *List) error {
	if r.items += 1 + len(row.Nodes) + len(l.Columns); r.items > MaxItems {
		return errorf("text: more than %d rows, nodes and values", MaxItems)
	}
	return nil
}

// firstPath returns the path of the first node that has one.
func firstPath(nodes []Node) string {
	for _, n := range nodes {
		if n.Path != "" {
			return n.Path
		}
	}
	return ""
}

// value reads a value of a row: the usual one if there is no word, or the word that stands for it;
// that of the row before for "^". It reports whether another word than the usual one was written.
func (r *textReader) value(w *words, usual string, before []Row, c int) (string, bool, error) {
	dots := w.dotted()
	s, ok, err := w.next()
	above := ""
	if len(before) > 0 {
		above = before[len(before)-1].Values[c]
	}
	switch {
	case err != nil:
		return "", false, err
	case !ok:
		return usual, false, nil
	case w.quoted && w.after != "":
		return "", false, errorf("text: %s after a quoted word", clip(w.after))
	case dots != "":
		full, ok := whole(dots+s, above)
		if !ok {
			return "", false, errorf("text: %s shares more than the value above has", clip(dots+s))
		}
		return full, full != usual, nil
	case w.quoted:
		return s, s != usual, nil
	case s == usualWord(usual):
		return usual, false, nil
	case s == "^":
		if len(before) == 0 {
			return "", false, errorf("text: ^ in the first row of a list")
		}
		return above, above != usual, nil
	}
	v, err := r.short.fullValue(s, above)
	return v, v != usual, err
}

// node reads a node: a reference, or a definition with or without a number.
func (r *textReader) node(w *words) (n Node, number uint32, defined bool, err error) {
	w.rest = strings.TrimLeft(w.rest, " ")
	if ref, ok := strings.CutPrefix(w.rest, "@"); ok {
		w.rest = ref
		s, _, err := w.next()
		if err != nil {
			return n, 0, false, err
		}
		digits, bare := strings.CutSuffix(s, "-")
		if number, err = parseNumber(digits); err != nil {
			return n, 0, false, err
		}
		n, known := r.known.get(number)
		switch {
		case !known:
			return n, 0, false, errorf("text: @%d is not defined", number)
		case bare:
			n = n.bare()
		}
		r.short.refer(n.Path)
		r.kind = ""
		return n, number, false, nil
	}
	if startsNumber(w.rest) {
		s, _, err := w.next()
		if err != nil {
			return n, 0, false, err
		}
		if number, err = parseNumber(s); err != nil {
			return n, 0, false, err
		}
		if _, known := r.known.get(number); known {
			return n, 0, false, errorf("text: %d is defined twice", number)
		}
	}
	ok := true
	if n.Kind = r.nodes.kind; n.Kind == "" {
		if n.Kind = r.kind; n.Kind == "" || r.nodes.nameless || !hasDot(w.peek()) {
			if n.Kind, ok, err = w.value(); err != nil || !ok {
				return n, 0, false, or(err, "text: a node without a kind")
			}
		}
		r.kind = n.Kind
	}
	if !r.nodes.nameless {
		dots := w.dotted()
		if n.Name, ok, err = w.value(); err != nil || !ok {
			return n, 0, false, or(err, "text: a node without a name")
		}
		switch {
		case n.Name == "":
		case dots != "" || !w.quoted:
			if n.Name, err = r.short.fullName(dots + n.Name); err != nil {
				return n, 0, false, err
			}
		default:
			r.short.name = n.Name
		}
	}
	if !r.nodes.placeless {
		if err := r.place(&n, w); err != nil {
			return n, 0, false, err
		}
	}
	if w.rest = strings.TrimLeft(w.rest, " "); strings.HasPrefix(w.rest, "#") {
		w.rest = w.rest[1:]
		ok := !strings.HasPrefix(w.rest, " ")
		if ok {
			n.ID, ok, err = w.value()
		}
		if err != nil || !ok || n.ID == "" {
			return n, 0, false, or(err, "text: # without an id")
		}
	}
	if number > 0 {
		r.known.added[number] = n
	}
	return n, number, true, nil
}

// parseNumber reads the number of a node.
func parseNumber(s string) (uint32, error) {
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		return 0, errorf("text: %s: want the number of a node, from 1", clip(s))
	}
	return uint32(n), nil
}

// place reads PATH:LINE-END, PATH, :LINE-END or -.
func (r *textReader) place(n *Node, w *words) error {
	s, ok, err := w.next()
	if err != nil || !ok {
		return or(err, "text: a node without a place")
	}
	lines := ""
	switch {
	case w.quoted:
		n.Path, lines = s, w.after
	case s == "-":
		return nil
	case s[0] == ':':
		if n.Path, lines = r.short.file, s; n.Path == "" {
			return errorf("text: %s in no file", clip(s))
		}
	case strings.IndexByte(special, s[0]) >= 0:
		return errorf("text: %s where a place should be", clip(s))
	default:
		at := strings.IndexByte(s, ':')
		if at < 0 {
			at = len(s)
		}
		n.Path, lines = r.short.fullPath(s[:at]), s[at:]
	}
	if lines != "" {
		if n.Line, n.EndLine, err = parseLines(lines); err != nil {
			return err
		}
	}
	r.short.define(n.Path)
	return nil
}

func parseLines(s string) (first, last uint32, err error) {
	from, to, both := strings.Cut(strings.TrimPrefix(s, ":"), "-")
	a, err := strconv.ParseUint(from, 10, 32)
	var b uint64
	if err == nil && both {
		b, err = strconv.ParseUint(to, 10, 32)
	}
	if err != nil || s[0] != ':' {
		return 0, 0, errorf("text: %s: want :LINE or :LINE-LINE", clip(s))
	}
	return uint32(a), uint32(b), nil
}

func (r *textReader) signature(s string) error {
	if r.open == nil || r.open.Signature != "" || r.lines != nil {
		return errorf("text: a signature of no node: %s", clip(s))
	}
	if edit, ok := strings.CutPrefix(s, editedWord); ok {
		before, after, ok := unedited(edit)
		if !ok || r.before == nil {
			return errorf("text: %s where a signature should be", clip(s))
		}
		*r.before, s, r.before = before, after, nil
	} else if strings.HasPrefix(s, `"`) {
		var err error
		if s, err = unquote(s); err != nil {
			return errorf("text: quoted signature: %w", err)
		}
	}
	if s == "" {
		return errorf("text: an empty signature")
	}
	r.open.Signature = s
	return nil
}

// close ends the node whose content was read.
func (r *textReader) close() error {
	if r.before != nil {
		return errorf("text: %s in a row, and no such signature below it", editedWord)
	}
	if r.open != nil {
		r.open.Text = strings.Join(r.lines, "\n")
		if r.number > 0 {
			r.known.added[r.number] = *r.open
		}
	}
	r.open, r.number, r.lines, r.quoted = nil, 0, nil, false
	return nil
}

// fullPath returns the path of an unquoted word of shortPath.
func (s *shorts) fullPath(word string) string {
	if isRelative(word) {
		return absolute(word, s.path)
	}
	if full, ok := s.seen[word]; ok && !strings.Contains(word, "/") {
		return full
	}
	return word
}

// absolute returns what a word of relative stands for.
func absolute(word, from string) string {
	dir, _ := split(from)
	if rest, ok := strings.CutPrefix(word, "./"); ok {
		return dir + rest
	}
	for strings.HasPrefix(word, "../") {
		dir, _ = split(strings.TrimSuffix(dir, "/"))
		word = word[len("../"):]
	}
	return dir + word
}

// whole returns the name that a word with leading dots stands for after another name, and false if
// that has too few parts.
func whole(word, last string) (string, bool) {
	rest := strings.TrimLeft(word, ".")
	dots, at := len(word)-len(rest), 0
	for ; at < len(last) && dots > 0; at++ {
		if separates(last[at]) {
			dots--
		}
	}
	return last[:at] + rest, dots == 0 && rest != ""
}

// fullName returns the name of an unquoted word of shortName, which is not "-".
func (s *shorts) fullName(word string) (string, error) {
	if word[0] == '.' {
		full, ok := whole(word, s.name)
		if !ok {
			return "", errorf("text: %s shares more than the name before has", clip(word))
		}
		word = full
	}
	s.name = word
	return word, nil
}

// fullValue returns the value of an unquoted word of shortValue, below another value.
func (s *shorts) fullValue(word, above string) (string, error) {
	switch {
	case word == "-":
		return "", nil
	case word[0] == ':':
		if s.file == "" {
			return "", errorf("text: %s in no file", clip(word))
		}
		if word == ":" {
			word = ""
		}
		return s.file + word, nil
	case isRelative(word):
		return absolute(word, s.file), nil
	case isFraction("0" + word):
		return "0" + word, nil
	case isHour(word):
		if s.date == "" {
			return "", errorf("text: %s of no day", clip(word))
		}
		return s.date + word[1:], nil
	case word[0] == '.':
		full, ok := whole(word, above)
		if !ok {
			return "", errorf("text: %s shares more than the value above has", clip(word))
		}
		s.note(full)
		return full, nil
	case !plainValue(word):
		return "", errorf("text: %s where a value should be", clip(word))
	}
	if full, short := s.fullPlace(word); short {
		return full, nil
	}
	s.note(word)
	return word, nil
}

// lists are those of earlier answers and of the one that is read, by number.
type lists struct{ before, added map[uint32]List }

// repeated reads the line of a run, and returns its rows.
func (k lists) repeated(line string, columns []string) ([]Row, error) {
	number, rows, ok := strings.Cut(line[1:], ":")
	n, err := strconv.ParseUint(number, 10, 32)
	from, to, both := strings.Cut(rows, "-")
	first, err2 := strconv.Atoi(from)
	last, err3 := strconv.Atoi(to)
	if !ok || !both || err != nil || err2 != nil || err3 != nil {
		return nil, errorf("text: %s: want &LIST:FIRST-LAST", clip(line))
	}
	l, known := k.before[uint32(n)]
	switch {
	case !known:
		return nil, errorf("text: &%d is not known", n)
	case !slices.Equal(l.Columns, columns):
		return nil, errorf("text: &%d has other columns", n)
	case first < 1 || last < first || last > len(l.Rows):
		return nil, errorf("text: %s: the list has %d rows", clip(line), len(l.Rows))
	}
	return l.Rows[first-1 : last], nil
}

// unquote reads a string that strconv.Quote wrote.
func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return "", strconv.ErrSyntax
	}
	return strconv.Unquote(s)
}

func or(err error, otherwise string) error {
	if err != nil {
		return err
	}
	return errorf("%s", otherwise)
}

func clip(s string) string {
	if len(s) > 60 {
		return strconv.Quote(s[:60]) + "…"
	}
	return strconv.Quote(s)
}

// words reads the words of a line.
type words struct {
	rest string
	// quoted tells whether the last word was quoted; after is what followed its closing quote.
	quoted bool
	after  string
	// usual tells that the last pair had "~" and not "=".
	usual bool
}

// mark reads a mark, if it is the next word.
func (w *words) mark(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(w.rest, " "), s)
	if !ok || rest != "" && rest[0] != ' ' {
		return false
	}
	w.rest = rest
	return true
}

// dotted reads dots that stand before a quoted word.
func (w *words) dotted() string {
	w.rest = strings.TrimLeft(w.rest, " ")
	after := strings.TrimLeft(w.rest, ".")
	dots := w.rest[:len(w.rest)-len(after)]
	if !strings.HasPrefix(after, `"`) {
		return ""
	}
	w.rest = after
	return dots
}

// peek returns the next word as it is written.
func (w *words) peek() string {
	word, _, _ := strings.Cut(strings.TrimLeft(w.rest, " "), " ")
	return word
}

// next returns the next word, unquoted, or false at the end of the line.
func (w *words) next() (string, bool, error) {
	w.rest = strings.TrimLeft(w.rest, " ")
	w.quoted, w.after = false, ""
	if w.rest == "" {
		return "", false, nil
	}
	if w.rest[0] != '"' {
		bare, rest, _ := strings.Cut(w.rest, " ")
		w.rest = rest
		// A key may be quoted only as a whole, so a quote inside a word follows "=".
		if at := strings.IndexByte(bare, '"'); at >= 0 {
			return "", false, errorf("text: a quote inside the word %q", bare)
		}
		return bare, true, nil
	}
	quoted, err := strconv.QuotedPrefix(w.rest)
	if err != nil {
		return "", false, errorf("text: a quoted word that does not end")
	}
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return "", false, errorf("text: quoted word: %w", err)
	}
	w.rest = w.rest[len(quoted):]
	w.after, w.rest, _ = strings.Cut(w.rest, " ")
	w.quoted = true
	return s, true, nil
}

// value returns the next word as a value: "-" stands for "".
func (w *words) value() (string, bool, error) {
	s, ok, err := w.next()
	switch {
	case err != nil || !ok:
		return "", false, err
	case w.quoted && w.after != "":
		return "", false, errorf("text: %q after a quoted word", w.after)
	case !w.quoted && s == "-":
		return "", true, nil
	case !w.quoted && strings.ContainsRune(special, rune(s[0])):
		return "", false, errorf("text: %q where a value should be", s)
	}
	return s, true, nil
}

// pair returns the next word as KEY, KEY=VALUE or KEY~VALUE.
func (w *words) pair() (name, value string, set, ok bool, err error) {
	w.rest = strings.TrimLeft(w.rest, " ")
	if w.rest == "" {
		return "", "", false, false, nil
	}
	if w.rest[0] == '"' {
		quoted, err := strconv.QuotedPrefix(w.rest)
		if err != nil {
			return "", "", false, false, errorf("text: a quoted name that does not end")
		}
		if name, err = strconv.Unquote(quoted); err != nil {
			return "", "", false, false, errorf("text: quoted name: %w", err)
		}
		w.rest = w.rest[len(quoted):]
	} else {
		at := strings.IndexAny(w.rest, "=~ ")
		if at < 0 {
			at = len(w.rest)
		}
		name, w.rest = w.rest[:at], w.rest[at:]
		if name == "" || strings.ContainsRune(special, rune(name[0])) {
			return "", "", false, false, errorf("text: %q where a name should be", name)
		}
	}
	w.usual = strings.HasPrefix(w.rest, "~")
	if !w.usual && !strings.HasPrefix(w.rest, "=") {
		if w.rest != "" && w.rest[0] != ' ' {
			return "", "", false, false, errorf("text: %q after a name", w.rest)
		}
		return name, "", false, true, nil
	}
	w.rest = w.rest[1:]
	if w.rest == "" || w.rest[0] == ' ' {
		return "", "", false, false, errorf("text: nothing after %s=", name)
	}
	value, _, err = w.value()
	return name, value, true, err == nil, err
}
