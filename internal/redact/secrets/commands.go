package secrets

import "strings"

// program handles the occurrence of a program's name: it checks that the name is a word of its own
// and reads the words of its pipeline. These are read once, even if more programs are among them:
// sudo, docker exec and xargs run others.
func (t *text) program(at, to int) {
	s := t.s
	if strings.HasSuffix(s[at:to], " ") {
		to--
	}
	if at > 0 && !inClass(s[at-1], space) && strings.IndexByte("\"'`;|&(/${!=", s[at-1]) < 0 ||
		to < len(s) && !inClass(s[to], space) && !(s[to] == '\\' && to+1 < len(s) && (s[to+1] == '\n' || s[to+1] == '\r')) {
		return
	}
	if _, ok := t.r.programs[s[at:to]]; !ok && !hasFold(s[at:], "convertto-") {
		return
	}
	w := walk{t: t, quote: t.quoteAt(at)}
	p := at
	for more := true; more; {
		p, more = w.segment(p)
	}
	t.walked = max(p, to)
}

// quoteAt returns the quote that encloses p, 0 if there is none. An apostrophe between letters is
// not a quote.
func (t *text) quoteAt(p int) byte {
	s := t.s
	for ; t.quoted < p; t.quoted++ {
		switch c := s[t.quoted]; {
		case c == '\\' && t.quote != '\'':
			t.quoted++
		case t.quote != 0 && c == t.quote:
			t.quote = 0
		case t.quote == 0 && (c == '"' || c == '\'' && (t.quoted == 0 || !inClass(s[t.quoted-1], alnum))):
			t.quote = c
		case c == '\n' && t.quoted+1 < len(s) && s[t.quoted+1] == '\n':
			t.quote = 0
		}
	}
	return t.quote
}

// walk is one pass over the commands of a pipeline.
type walk struct {
	t      *text
	quote  byte // the quote that encloses all of it
	active []active
	said   []wordAt // the words that echo passes to the next command
	kept   []wordAt // the same for the command that is being read
}

type wordAt struct{ from, to int }

// active is a spec whose program was found, with the state of matching its words.
type active struct {
	sp     *spec
	subs   int
	count  int // number of words that are not flags
	met    uint32
	wait   *item // the next word belongs to it
	until  *item // the last word belongs to it
	last   wordAt
	skip   bool
	named  nameKind
	slash  bool // /word is a flag
	staged []span
}

// maxActive limits the specs that are matched at once.
const maxActive = 16

// segment reads one command from p on. It returns the start of the pipeline's next command, if
// there is one.
func (w *walk) segment(p int) (next int, more bool) {
	t, s := w.t, w.t.s
	w.active = w.active[:0]
	w.kept = w.kept[:0]
	echo, stdin, token := false, false, false
	first := true
	here := false
	skip := false
	for {
		from, to, op := t.next(p, w.quote)
		if op == opWord && to == from {
			to++ // always advance, even if next reads no byte
		}
		p = to
		switch {
		case op == opEnd:
			w.finish(stdin, token)
			w.said = w.said[:0]
			if to < len(s) && s[to] == '|' && !strings.HasPrefix(s[to:], "||") {
				if echo {
					w.said = append(w.said, w.kept...)
				}
				return to + 1, true
			}
			return to, false
		case op == opHere:
			here = true
			continue
		case op == opOther:
			skip = true
			continue
		case here:
			here = false
			w.here(wordAt{from, to})
			continue
		case skip:
			skip = false
			continue
		}
		word := s[from:to]
		if first {
			first = false
			echo = word == "echo" || word == "printf"
			if echo {
				continue
			}
		}
		if echo {
			if !(len(w.kept) == 0 && (len(word) == 2 && word[0] == '-' || strings.Contains(word, "%"))) {
				w.kept = append(w.kept, wordAt{from, to})
			}
			continue
		}
		if strings.HasSuffix(word, "-stdin") && kindOf(strings.TrimSuffix(word, "-stdin")) != noSecret || word == "--with-token" {
			stdin, token = true, token || word == "--with-token"
		}
		for i := range w.active {
			w.feed(&w.active[i], from, to)
		}
		w.activate(word)
	}
}

// activate adds the specs of a program.
func (w *walk) activate(word string) {
	if len(word) < 2 || len(word) > 64 || word[0] == '-' {
		return
	}
	base := word[strings.LastIndexByte(word, '/')+1:]
	specs, ok := w.t.r.programs[base]
	if !ok {
		if !strings.EqualFold(base, "convertto-securestring") {
			return
		}
		specs = w.t.r.programs["convertto-securestring"]
	}
	for _, i := range specs {
		sp := w.t.r.specs[i].get()
		known := false
		for k := range w.active {
			known = known || w.active[k].sp == sp
		}
		if !known && len(w.active) < maxActive {
			w.active = append(w.active, active{sp: sp, slash: base == "net"})
		}
	}
}

// feed passes a word to a spec.
func (w *walk) feed(a *active, from, to int) {
	s := w.t.s
	word := s[from:to]
	if a.subs < len(a.sp.subs) {
		if word == a.sp.subs[a.subs] {
			a.subs++
		}
		return
	}
	for i, c := range a.sp.conds {
		if word == c || len(strings.TrimPrefix(c, "-")) == 1 && len(word) > 1 && len(word) < 8 && word[0] == '-' && word[1] != '-' && strings.HasSuffix(word, c) ||
			len(strings.TrimPrefix(c, "-")) == 1 && len(word) > 1 && len(word) < 8 && word[0] == '-' && word[1] != '-' && strings.Contains(word, c[len(c)-1:]) {
			a.met |= 1 << i
		}
	}
	if it := a.wait; it != nil {
		a.wait = nil
		w.secret(a, it, from, to)
		return
	}
	if a.skip {
		a.skip = false
		return
	}
	if a.until != nil {
		a.last = wordAt{from, to}
	}
	for i := range a.sp.items {
		if w.item(a, &a.sp.items[i], from, to) {
			return
		}
	}
	if word[0] == '-' && len(word) > 1 || a.slash && word[0] == '/' {
		for _, f := range a.sp.skips {
			a.skip = a.skip || word == f
		}
		return
	}
	a.count++
	for i := range a.sp.items {
		switch it := &a.sp.items[i]; it.kind {
		case '@':
			if it.n == a.count {
				w.secret(a, it, from, to)
			}
		case '$':
			a.until, a.last = it, wordAt{from, to}
		case '=', '/':
			w.secret(a, it, from, to)
		case 'N':
			if a.named != noSecret && (a.named != perhapsKey || keyLike(word)) {
				w.secret(a, it, from, to)
				a.named = noSecret
			} else if a.named = noSecret; strings.IndexByte(word, '=') < 0 {
				a.named = kindOf(strings.Trim(word, `"'`))
			}
		}
	}
}

// item reports whether a word is the flag or the word that an item expects.
func (w *walk) item(a *active, it *item, from, to int) bool {
	word := w.t.s[from:to]
	if it.word == "" {
		return false
	}
	flag := it.word[0] == '-'
	switch {
	case word == it.word || it.kind == '>' && strings.EqualFold(word, it.word) || it.kind == '>' && strings.HasSuffix(it.word, ".") && strings.HasPrefix(word, it.word) || !flag && strings.EqualFold(word, it.word):
		switch it.kind {
		case '+':
			return false
		case '>':
			a.until, a.last = it, wordAt{}
		default:
			a.wait = it
		}
		return true
	case it.kind == '>' || !strings.HasPrefix(word, it.word):
		// A cluster of flags, of which the last takes the next word: curl -su user:password.
		if flag && it.kind == ':' && len(it.word) == 2 && len(word) > 2 && len(word) < 7 && word[0] == '-' && word[len(word)-1] == it.word[1] && allLetters(word[1:]) {
			a.wait = it
			return true
		}
		return false
	case word[len(it.word)] == '=' && (flag && it.kind != '+' || !flag && it.kind == '_'):
		w.secret(a, it, from+len(it.word)+1, to)
		return true
	case it.kind == '+' || len(it.word) == 2 && flag && strings.IndexByte("*:%,", it.kind) >= 0:
		w.secret(a, it, from+len(it.word), to)
		return true
	}
	return false
}

func allLetters(s string) bool {
	for i := range len(s) {
		if !inClass(s[i], letters) {
			return false
		}
	}
	return true
}

// secret stages the part of a word that is secret according to an item.
func (w *walk) secret(a *active, it *item, from, to int) {
	s := w.t.s
	from, to = inner(s, from, to)
	behind := func(sep byte) bool {
		i := strings.IndexByte(s[from:to], sep)
		if i < 0 {
			return false
		}
		from, to = inner(s, from+i+1, to)
		return from < to
	}
	name := a.sp.name
	switch it.kind {
	case ':', '%', ',':
		if !behind(it.kind) {
			return
		}
	case '~', '=':
		if !behind('=') {
			return
		}
		if s[from] == '@' || to-from == 1 && s[from] == '-' {
			return
		}
		name = "secret"
	case '&':
		if strings.IndexByte(s[from:to], '=') < 0 {
			return
		}
		name = "cookie"
	case '/':
		if !behind('/') {
			return
		}
		i := strings.IndexByte(s[from:to], '@')
		if i <= 0 || strings.IndexByte(s[from:from+i], '/') >= 0 {
			return
		}
		to = from + i
	case '!':
		said, ok := strings.CutPrefix(s[from:to], "echo ")
		if !ok {
			return
		}
		from = to - len(said)
	case 'N':
		name = a.named.String()
	case '@', '<', '|':
		if it.sep != 0 && !behind(it.sep) {
			return
		}
	}
	if from >= to {
		return
	}
	v := s[from:to]
	switch {
	case it.kind == '+':
		if !attached(v) || v == "-" {
			return
		}
	case strings.IndexByte(":%,*&/", it.kind) >= 0:
		if !secretValue(v) || it.kind == '*' && v[0] == '-' {
			return
		}
	case it.kind == '@' && strings.IndexByte(v, '=') > 0 && a.sp.name == "token":
		return // role=dev
	case !flagValue(v):
		return
	}
	a.staged = append(a.staged, span{from, to, rankProgram, name})
}

// here passes <<< to the specs that read it.
func (w *walk) here(word wordAt) {
	for i := range w.active {
		a := &w.active[i]
		for k := range a.sp.items {
			if it := &a.sp.items[k]; it.kind == '<' && a.subs == len(a.sp.subs) {
				w.secret(a, it, word.from, word.to)
			}
		}
	}
}

// finish reports the secrets that the command's specs found, after all of it was read.
func (w *walk) finish(stdin, token bool) {
	t := w.t
	for i := range w.active {
		a := &w.active[i]
		if a.until != nil && a.last.to > 0 {
			w.secret(a, a.until, a.last.from, a.last.to)
		}
		for k := range a.sp.items {
			if it := &a.sp.items[k]; it.kind == '|' && a.subs == len(a.sp.subs) {
				for _, said := range w.said {
					w.secret(a, it, said.from, said.to)
				}
			}
		}
		if a.met != 1<<len(a.sp.conds)-1 {
			continue
		}
		for _, sp := range a.staged {
			t.found(sp.start, sp.end, sp.name, sp.rank)
		}
	}
	if stdin {
		name := "password"
		if token {
			name = "token"
		}
		for _, said := range w.said {
			if from, to := inner(t.s, said.from, said.to); from < to && secretValue(t.s[from:to]) {
				t.found(from, to, name, rankProgram-1)
			}
		}
	}
}

// inner returns the range of a word without its quotes.
func inner(s string, from, to int) (int, int) {
	if to-from >= 2 && s[from] == '$' && s[from+1] == '\'' {
		from++
	}
	for range 2 {
		if from < to && s[from] == '\\' && from+1 < to && (s[from+1] == '"' || s[from+1] == '\'') {
			from++
		}
		if from < to && (s[from] == '"' || s[from] == '\'') {
			q := s[from]
			from++
			if to > from && s[to-1] == q {
				if to--; to > from && s[to-1] == '\\' {
					to--
				}
			}
			return from, to
		}
	}
	return from, to
}

// operator is the kind of element that next read.
type operator uint8

const (
	opWord  operator = iota
	opEnd            // end of the command
	opHere           // <<<
	opOther          // a redirection
)

// next reads a word of a command, enclosed by quote, from p on. Quotes and substitutions inside a
// word belong to it.
func (t *text) next(p int, quote byte) (from, to int, op operator) {
	s := t.s
	for p = blanks(s, p); p < len(s) && inClass(s[p], space) && s[p] != '\n'; p = blanks(s, p) {
		p++ // other white space, such as the \r of \r\n
	}
	from = p
	if p >= len(s) {
		return p, p, opEnd
	}
	switch c := s[p]; {
	case c == '<' && strings.HasPrefix(s[p:], "<<<"):
		return p, p + 3, opHere
	case c == '<' || c == '>':
		for p < len(s) && (s[p] == '<' || s[p] == '>' || s[p] == '&' || s[p] == '-') {
			p++
		}
		return from, p, opOther
	case c == '&' && p+1 < len(s) && s[p+1] == '>':
		return p, p + 2, opOther
	}
	for p < len(s) {
		switch c := s[p]; {
		case c == quote && quote != 0:
			return from, p, ended(from, p)
		case c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '`':
			return from, p, ended(from, p)
		case c == '<' || c == '>' || inClass(c, space):
			return from, p, opWord
		case c == '\\':
			if blanks(s, p) > p { // the line continues
				return from, p, opWord
			}
			if quote == '"' && p+1 < len(s) && s[p+1] == '"' { // quotes inside quotes
				if e := strings.Index(s[p+2:min(len(s), p+1024)], `\"`); e >= 0 {
					p += 2 + e
				}
			}
			p += 2
		case c == '"' || c == '\'':
			if e := t.closes(p+1, c, quote); e > 0 {
				p = e + 1
			} else {
				p++
			}
		case c == '$' && p+1 < len(s) && s[p+1] == '(':
			depth, e := 0, p+1
			for ; e < len(s) && e < p+256; e++ {
				if s[e] == '(' {
					depth++
				} else if s[e] == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if p += 2; depth == 0 && e < len(s) {
				p = e + 1
			}
		default:
			p++
		}
	}
	p = min(p, len(s))
	return from, p, ended(from, p)
}

func ended(from, p int) operator {
	if from == p {
		return opEnd
	}
	return opWord
}

// closes returns where a quote that opened before p closes, -1 if the enclosing quote ends first.
func (t *text) closes(p int, c, outer byte) int {
	s := t.s
	if p < t.open[c&1] {
		return -1
	}
	for i := p; i < len(s); i++ {
		switch {
		case s[i] == c:
			return i
		case s[i] == outer && outer != 0:
			return -1
		case s[i] == '\\' && (c == '"' || outer == '"'):
			i++
		}
	}
	t.open[c&1] = len(s)
	return -1
}
