package span

import (
	"strings"

	"github.com/recountdb/recount/schemas"
)

// maxStatement limits how many bytes of a statement are read: the verb and the table are near its
// beginning.
const maxStatement = 16 << 10

// statement returns the verb of a statement, in capitals, and its main table: the first table named
// by the outermost query, else the first of all. It is not a parser: it knows words, quotes,
// comments and parentheses, so that these do not mislead it, and returns "" for what it does not
// recognise. For a statement in another language the verb is its first word, if that is short.
//
//	SELECT * FROM a.b JOIN c                                   SELECT, a.b
//	SELECT * FROM (SELECT x FROM t) AS s                       SELECT, t
//	WITH old AS (SELECT id FROM t) DELETE FROM y USING old     DELETE, y
//	GET user:1                                                 GET
func statement(s string) (verb, table string) {
	w := scanner{s: schemas.Clip(s, maxStatement)}
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

// tableAfter maps each verb to the word after which its table follows; "" means after the verb
// itself.
var tableAfter = map[string]string{
	"SELECT": "FROM", "DELETE": "FROM", "INSERT": "INTO", "REPLACE": "INTO", "MERGE": "INTO",
	"CREATE": "TABLE", "ALTER": "TABLE", "DROP": "TABLE",
	"UPDATE": "", "TRUNCATE": "", "COPY": "", "CALL": "", "EXEC": "", "EXECUTE": "",
}

// beforeTable are words that may occur between that word and the table.
var beforeTable = map[string]bool{
	"ONLY": true, "TABLE": true, "IF": true, "NOT": true, "EXISTS": true, "LATERAL": true, "IGNORE": true, "LOW_PRIORITY": true,
}

// scanner returns the words of a statement.
type scanner struct {
	s string
	i int
	// open has an entry for each open parenthesis: whether it contains a query. That of
	// "extract(year FROM at)" does not.
	open []bool
	// fresh means that the previous token was an opening parenthesis.
	fresh bool
	// inner means that the last word is in a query inside another.
	inner bool
}

// inFunction reports whether the scanner is inside parentheses without a query.
func (w *scanner) inFunction() bool { return len(w.open) > 0 && !w.open[len(w.open)-1] }

// called reports whether a parenthesis follows immediately, so that the previous word is a
// function.
func (w *scanner) called() bool { return w.i < len(w.s) && w.s[w.i] == '(' }

// next returns the next word or symbol, "" at the end. A quoted name is returned without its
// quotes, a string literal as "?" with quoted set.
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

// until returns the text before the closing quote. A doubled quote stands for itself.
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

// table returns the name at the scanner, of one or more parts and without quotes. It returns "" for
// anything else, after consuming one token.
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

// with reads the part that WITH defines, up to the statement that uses it. It returns that
// statement's verb, the defined names in lower case, and the first table inside.
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
