package span

import "strings"

// maxStatement is how much of a statement is read: what it does, and to what, stands
// near its beginning.
const maxStatement = 16 << 10

// statement reads of a statement its verb, in capitals, and the table that it is
// about: the first of the outermost query that names one, else the first of all. It
// is no parser: it knows words, quotes, comments and parentheses, so that these do
// not mislead it, and says nothing of what it does not know. A statement of another
// language has its first word as the verb, if that is a short one.
//
//	SELECT * FROM a.b JOIN c                                   SELECT, a.b
//	SELECT * FROM (SELECT x FROM t) AS s                       SELECT, t
//	WITH old AS (SELECT id FROM t) DELETE FROM y USING old     DELETE, y
//	GET user:1                                                 GET
func statement(s string) (verb, table string) {
	w := scanner{s: clip(s, maxStatement)}
	word, quoted := w.next()
	for word == "(" {
		word, quoted = w.next()
	}
	if quoted || !isIdentifier(word) || len(word) > 20 {
		return "", ""
	}
	verb = strings.ToUpper(word)
	within := "" // the first table of an inner query
	var named map[string]bool
	if verb == "WITH" {
		if verb, named, within = w.with(); verb == "" {
			return "WITH", within
		}
	}
	mark, known := tableAfter[verb]
	if !known {
		return verb, ""
	}
	if mark == "" {
		return verb, w.table()
	}
	for {
		word, quoted = w.next()
		if word == "" {
			return verb, within
		}
		if quoted || !strings.EqualFold(word, mark) && !strings.EqualFold(word, "FROM") || w.inFunction() {
			continue
		}
		inner := w.inner || !strings.EqualFold(word, mark)
		t := w.table()
		switch {
		case t == "" || named[strings.ToLower(t)] || mark == "FROM" && w.called():
		case !inner:
			return verb, t
		case within == "":
			within = t
		}
	}
}

// tableAfter says behind which word a verb has its table; "": behind itself.
var tableAfter = map[string]string{
	"SELECT": "FROM", "DELETE": "FROM", "INSERT": "INTO", "REPLACE": "INTO", "MERGE": "INTO",
	"CREATE": "TABLE", "ALTER": "TABLE", "DROP": "TABLE",
	"UPDATE": "", "TRUNCATE": "", "COPY": "", "CALL": "", "EXEC": "", "EXECUTE": "",
}

// beforeTable are words that may stand between that word and the table.
var beforeTable = map[string]bool{
	"ONLY": true, "TABLE": true, "IF": true, "NOT": true, "EXISTS": true, "LATERAL": true, "IGNORE": true, "LOW_PRIORITY": true,
}

// scanner gives the words of a statement.
type scanner struct {
	s string
	i int
	// open holds of each parenthesis that is open whether it holds a query; the one
	// of "extract(year FROM at)" does not.
	open []bool
	// fresh says that the token before was a parenthesis that opened.
	fresh bool
	// inner says that the last word stands in a query within another.
	inner bool
}

// inFunction reports whether the scanner is in parentheses that hold no query.
func (w *scanner) inFunction() bool { return len(w.open) > 0 && !w.open[len(w.open)-1] }

// called reports whether parentheses follow at once: what came before is a function.
func (w *scanner) called() bool { return w.i < len(w.s) && w.s[w.i] == '(' }

// next is the next word or symbol; "" at the end. A quoted name comes without its
// quotes, a text literal as "?" in quotes.
func (w *scanner) next() (word string, quoted bool) {
	for w.i < len(w.s) {
		c, rest := w.s[w.i], w.s[w.i:]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			w.i++
			continue
		case strings.HasPrefix(rest, "--"):
			w.skipPast("\n")
			continue
		case strings.HasPrefix(rest, "/*"):
			w.skipPast("*/")
			continue
		}
		fresh := w.fresh
		w.fresh = c == '('
		switch {
		case c == '\'':
			w.until(c)
			return "?", true
		case c == '"' || c == '`':
			return w.until(c), true
		case c == '[':
			return w.until(']'), true
		case isWordByte(c):
			from := w.i
			for w.i < len(w.s) && (isWordByte(w.s[w.i]) || isDigit(w.s[w.i]) || w.s[w.i] == '$') {
				w.i++
			}
			word = w.s[from:w.i]
			if fresh && (strings.EqualFold(word, "SELECT") || strings.EqualFold(word, "WITH")) {
				w.open[len(w.open)-1] = true
			}
			w.inner = len(w.open) > 0
			return word, false
		case c == '(':
			w.open = append(w.open, false)
		case c == ')' && len(w.open) > 0:
			w.open = w.open[:len(w.open)-1]
		}
		w.i++
		return w.s[w.i-1 : w.i], false
	}
	return "", false
}

func (w *scanner) skipPast(end string) {
	if at := strings.Index(w.s[w.i:], end); at >= 0 {
		w.i += at + len(end)
		return
	}
	w.i = len(w.s)
}

// until is what stands before the closing quote, which doubled stands for itself.
func (w *scanner) until(quote byte) string {
	w.i++
	for from := w.i; ; {
		at := strings.IndexByte(w.s[w.i:], quote)
		if at < 0 {
			w.i = len(w.s)
			return w.s[from:]
		}
		w.i += at + 1
		if w.i < len(w.s) && w.s[w.i] == quote {
			w.i++
			continue
		}
		return w.s[from : w.i-1]
	}
}

// table is a name of one or more parts at the scanner, without quotes; "" for
// anything else, of which one token is gone.
func (w *scanner) table() string {
	word, quoted := w.next()
	for !quoted && beforeTable[strings.ToUpper(word)] {
		word, quoted = w.next()
	}
	if word == "" || word == "?" || !quoted && !isWordByte(word[0]) {
		return ""
	}
	name := word
	for w.i < len(w.s) && w.s[w.i] == '.' {
		w.i++
		if word, quoted = w.next(); word == "" || !quoted && !isWordByte(word[0]) {
			break
		}
		name += "." + word
	}
	return name
}

// with reads what WITH names, up to the statement that uses it: that one's verb, the
// names in small letters, and the first table within.
func (w *scanner) with() (verb string, named map[string]bool, within string) {
	named = map[string]bool{}
	last := ""
	for {
		word, quoted := w.next()
		switch {
		case word == "":
			return "", named, within
		case len(w.open) > 0:
			if within == "" && !quoted && strings.EqualFold(word, "FROM") && !w.inFunction() {
				within = w.table()
			}
			continue
		case quoted || len(word) > 1:
			upper := strings.ToUpper(word)
			if _, known := tableAfter[upper]; known && !quoted {
				return upper, named, within
			}
			if upper == "AS" && !quoted {
				named[strings.ToLower(last)] = true
			}
			last = word
		case isWordByte(word[0]):
			last = word
		}
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}
