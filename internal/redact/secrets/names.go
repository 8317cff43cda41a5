package secrets

import (
	"slices"
	"strings"
	"sync"
)

// nameKind is what a name indicates about its value.
type nameKind uint8

const (
	noSecret   nameKind = iota
	aPassword           // password, DB_PASS, --pwd
	aSecret             // token, api_key, client-secret
	perhapsKey          // STRIPE_KEY: secret if the value looks like a key
)

func (k nameKind) String() string {
	if k == aPassword {
		return "password"
	}
	return "secret"
}

// nameEnds are the ends of names that hold secrets, in lower case, without word separators. A whole
// word must begin the name, or follow a separator or a change of case: bypass does not indicate a
// secret.
var nameEnds = []struct {
	text  string
	kind  nameKind
	whole bool
}{
	{"password", aPassword, false},
	{"passwd", aPassword, false},
	{"passphrase", aPassword, false},
	{"passcode", aPassword, true},
	{"sshpass", aPassword, false},
	{"storepass", aPassword, false},
	{"keypass", aPassword, false},
	{"pass", aPassword, true},
	{"pwd", aPassword, true},
	{"pw", aPassword, true},
	{"psk", aPassword, true},
	{"passw", aPassword, true},
	{"secret", aSecret, false},
	{"token", aSecret, false},
	{"credential", aSecret, false},
	{"secretkeybase", aSecret, false},
	{"apikey", aSecret, false},
	{"accesskey", aSecret, false},
	{"accountkey", aSecret, false},
	{"encryptionkey", aSecret, false},
	{"signingkey", aSecret, false},
	{"authkey", aSecret, false},
	{"masterkey", aSecret, false},
	{"privatekey", aSecret, false},
	{"sharedkey", aSecret, false},
	{"sharedaccesskey", aSecret, false},
	{"secretkey", aSecret, false},
	{"apptoken", aSecret, false},
	{"cliauth", aSecret, false},
	{"credentials", perhapsKey, false},
	{"creds", perhapsKey, true},
	{"auth", perhapsKey, true},
}

// endsByLast indexes nameEnds by their last letter, which rules out most names at once.
var endsByLast = sync.OnceValue(func() *[256][]uint8 {
	var by [256][]uint8
	for i, e := range nameEnds {
		last := e.text[len(e.text)-1]
		by[last] = append(by[last], uint8(i))
	}
	return &by
})

// nameTriggers are the texts by which nameEnds are found.
var nameTriggers = []string{"pass", "pwd", "_pw", "-pw", "psk", "secret", "token", "credential", "creds", "key", "key_base", "auth"}

// longestEnd limits how many bytes of a name are examined.
const longestEnd = 24

// kindOf returns the kind of the name at the end of n. Digits may follow it: PASSWORD2.
func kindOf(n string) nameKind {
	for len(n) > 0 && inClass(n[len(n)-1], digit) {
		n = n[:len(n)-1]
	}
	var buf [longestEnd]byte
	var at [longestEnd]int // the position of each of them in n
	i := len(buf)
	for p := len(n) - 1; p >= 0 && i > 0; p-- {
		if c := lower(n[p]); inClass(c, alnum) {
			i--
			buf[i], at[i] = c, p
		} else if c != '_' && c != '-' && c != '.' && c != ' ' {
			break
		}
	}
	end := buf[i:]
	best := noSecret
	if len(end) == 0 {
		return noSecret
	}
	for _, i := range endsByLast()[end[len(end)-1]] {
		e := &nameEnds[i]
		from := len(end) - len(e.text)
		if from < 0 || string(end[from:]) != e.text {
			continue
		}
		if p := at[len(buf)-len(end)+from]; e.whole && p > 0 && inClass(n[p-1], alnum) && !(inClass(n[p], upper) && !inClass(n[p-1], upper)) {
			continue
		}
		if e.text == "pwd" && (n == "PWD" || n == "OLDPWD") || e.text == "secret" && strings.HasSuffix(string(end), "existingsecret") {
			continue
		}
		return e.kind
	}
	if strings.HasSuffix(n, "_KEY") {
		best = perhapsKey
	}
	return best
}

// name handles an occurrence of a word of nameTriggers: if a name ends there, it checks whether the
// name is a flag or is assigned a value.
func (t *text) name(at, to int) {
	s := t.s
	end := to
	for end < len(s) && end < to+longestEnd && inClass(s[end], alnum) {
		end++
	}
	if end < len(s) && (inClass(s[end], name) || (s[end] == '-' || s[end] == '.') && end+1 < len(s) && inClass(s[end+1], alnum)) {
		return // the name continues: --password-stdin, token_file
	}
	start := at
	for start > 0 && start > at-128 && inClass(s[start-1], dotted) {
		start--
	}
	dashes := start
	for dashes < end && s[dashes] == '-' {
		dashes++
	}
	kind := kindOf(s[dashes:end])
	if kind == noSecret || end == len(s) {
		return
	}
	if n := dashes - start; (n == 1 || n == 2) && (start == 0 || inClass(s[start-1], space) || strings.IndexByte(`"'=`, s[start-1]) >= 0) {
		if t.flag(dashes, end, n, kind) {
			return
		}
	}
	t.assigned(start, end, kind)
}

// flag checks the value of --password X or --api-key=X, also with one hyphen as in the tools of
// Java and Go.
func (t *text) flag(start, end, dashes int, kind nameKind) bool {
	s := t.s
	p := end
	switch {
	case s[p] == '=':
		p++
	case blanks(s, p) > p:
		p = blanks(s, p)
	case s[p] == '\n' && p+1 < len(s):
		return false
	default:
		return false
	}
	switch flag := s[start:end]; {
	case kind == perhapsKey || flag == "pw" && dashes == 1:
		return false
	case dashes == 2 && flag == "password" && s[end] != '=' && t.runs(start, asking), dashes == 2 && flag == "secret" && t.runs(start, naming):
		return true
	}
	from, to, _, ok := t.value(p)
	if !ok || !flagValue(s[from:to]) {
		return true
	}
	t.secret(from, to, kind)
	return true
}

// secret records the value of a name.
func (t *text) secret(from, to int, kind nameKind) {
	t.found(from, to, kind.String(), rankName)
	t.names = to
}

// asking are PostgreSQL's programs, whose --password takes no value: it makes them ask for one.
var asking = []string{"psql", "pg_dump", "pg_dumpall", "pg_restore", "pg_basebackup", "createdb", "dropdb", "createuser", "dropuser", "pgbench", "vacuumdb", "reindexdb", "clusterdb"}

// naming are programs whose --secret takes the name of a secret.
var naming = []string{"gcloud", "docker", "podman", "buildah", "nerdctl"}

// runs reports whether one of the first words of the command that contains p is one of some
// programs.
func (t *text) runs(p int, of []string) bool {
	for ; t.parted < p; t.parted++ {
		if strings.IndexByte(";|&", t.s[t.parted]) >= 0 {
			t.command = t.parted + 1
		}
	}
	line := t.s[t.command:min(p, t.command+128)]
	for range 6 {
		line = strings.TrimLeft(line, " \t\n\\")
		w, rest, _ := strings.Cut(line, " ")
		if slices.Contains(of, w[strings.LastIndexByte(w, '/')+1:]) {
			return true
		}
		line = rest
	}
	return false
}

// operators are the operators between a name and its quoted value, longer ones first.
var operators = []string{":::=", "::=", "||=", "??=", ":=", "?=", "=>", ".=", "+=", "==", "!=", "=", ":", ","}

// assigned checks NAME=value, name: value and other assignments in configuration files and
// programs. Prose and code look alike, so except in the shell's form the value must be quoted or
// look like a key.
func (t *text) assigned(start, end int, kind nameKind) {
	s := t.s
	p := end
	closed := false
	if s[p] == '\\' && p+1 < len(s) && (s[p+1] == '"' || s[p+1] == '\'') {
		p, closed = p+2, true
	} else if s[p] == '"' || s[p] == '\'' {
		p, closed = p+1, true
	}
	if closed && p < len(s) && s[p] == ']' {
		p++
	}
	if p >= len(s) {
		return
	}
	if s[p] == '=' && p+1 < len(s) && s[p+1] != '=' && s[p+1] != '>' && s[p+1] != '~' && !inClass(s[p+1], space) {
		from, to, quoted, ok := t.value(p + 1)
		switch {
		case !ok:
			return
		case kind == perhapsKey && !keyLike(s[from:to]):
		case secretNotPath(s[from:to]) && (quoted || !(to-from == 1 && inClass(s[from], digit))) && !placeholderOf(s, from, to, quoted):
			t.secret(from, to, kind)
		}
		return
	}
	// An XML element: <name>value</name>.
	if s[p] == '>' && start > 0 && s[start-1] == '<' {
		p++
		for p < len(s) && inClass(s[p], space) {
			p++
		}
		if to := t.memo.end(s, p, bare); to < len(s) && (s[to] == '<' || inClass(s[to], space)) && to > p && secretNotPath(s[p:to]) {
			t.secret(p, to, kind)
		}
		return
	}
	spaced := p
	for p < len(s) && (s[p] == ' ' || s[p] == '\t') {
		p++
	}
	spaced = p - spaced
	if p >= len(s) {
		return
	}
	if !closed && spaced > 0 && kind == aPassword && end-start >= len("password") && (s[p] == '\'' || s[p] == 'N' && p+1 < len(s) && s[p+1] == '\'') {
		// SQL: PASSWORD 'x'
		if from, to, _, ok := t.value(p); ok && !reference(s[from:to]) {
			t.secret(from, to, kind)
		}
		return
	}
	// Types in Go and attributes in XML come between: token string = "x", key="name" value="x".
	if spaced > 0 && !closed && hasFold(s[p:], "string ") {
		p += len("string ")
	} else if spaced > 0 && closed && strings.HasPrefix(s[p:], "value=") {
		p += len("value")
	}
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(s[p:], op) })
	if i < 0 {
		if !closed && spaced == 1 && kind == aPassword && end-start == len("password") && t.has(&t.netrc, "machine ") {
			if from, to, _, ok := t.value(p); ok && secretNotPath(s[from:to]) {
				t.secret(from, to, kind)
			}
		}
		return
	}
	if op := operators[i]; op != "==" && op != "!=" && (op != "," || closed) {
		t.operand(p+len(op), op, kind)
	}
}

// operand checks the value after an operator.
func (t *text) operand(p int, op string, kind nameKind) {
	s := t.s
	for p < len(s) && (s[p] == ' ' || s[p] == '\t') {
		p++
	}
	from, to, quoted, ok := t.value(p)
	if !ok {
		return
	}
	v := s[from:to]
	switch {
	case quoted:
		ok = literalValue(v)
	case op == ",":
		ok = false
	default:
		if i := strings.IndexByte(v[:min(len(v), 4096)], ','); i > 0 {
			to = from + i
			v = v[:i]
		}
		ok = keyLike(v) || kind == aPassword && (op == ":" || op == "=") && wordLike(v) && ends(s, to)
	}
	if ok && (kind != perhapsKey || keyLike(v)) {
		t.secret(from, to, kind)
	}
}

// ends reports whether p is the end of a line or of the enclosing quotes.
func ends(s string, p int) bool {
	return p >= len(s) || s[p] == '\n' || s[p] == '\r' || s[p] == '"' || s[p] == '\''
}

// placeholderOf reports whether a value is part of a pattern, as in s/password=.*/x/.
func placeholderOf(s string, from, to int, quoted bool) bool {
	v := s[from:to]
	return !quoted && (strings.HasPrefix(v, ".*") || strings.HasPrefix(v, "[^") || strings.HasPrefix(v, `\S`) || strings.HasPrefix(v, `\w`))
}
