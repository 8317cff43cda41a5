package secrets

import "strings"

// place is a rule that finds a secret by the text around it, in any program's input.
type place struct {
	literals []string // in lower case; the texts by which it is found
	// file means that the form is specific enough for file contents.
	file bool
	find func(t *text, at, to int)
}

var places = []place{
	{literals: []string{"private key"}, file: true, find: (*text).privateKey},
	{literals: []string{"accountkey=", "sharedaccesskey="}, file: true, find: (*text).azureKey},
	{literals: []string{"aws_secret", "awssecret"}, file: true, find: (*text).awsSecret},
	{literals: []string{"://"}, find: (*text).url},
	{literals: []string{"authorization"}, find: (*text).authorization},
	{literals: []string{"bearer "}, find: (*text).bearer},
	{literals: []string{"-key:", "apikey:", "-token:", "-secret:", `"token:`, "'token:"}, find: (*text).header},
	{literals: []string{"cookie:"}, find: (*text).cookie},
	{literals: []string{":_auth", ":_password"}, find: (*text).npmAuth},
	{literals: []string{" pass:"}, find: (*text).passArgument},
	{literals: []string{"identified by", "identified with"}, find: (*text).identifiedBy},
	{literals: []string{"set password"}, find: (*text).setPassword},
	{literals: []string{"auth=("}, find: (*text).authPair},
	{literals: []string{".pgpass"}, find: (*text).passFile},
	{literals: []string{"kind: secret", "kind: 'secret", `kind: "secret`}, find: (*text).manifest},
}

// placeNames are the names of the kinds that places find.
var placeNames = []string{"private-key", "azure-key", "aws-secret-key", "url-password", "url-token", "authorization", "bearer", "api-key", "cookie", "auth-token"}

func (t *text) addPlaced(start, end int, name string) {
	t.found(start, end, name, rankPlace)
	t.places = max(t.places, end)
}

// word returns the end of the word that begins at p: at white space or a quote.
func (t *text) word(p int) int {
	s := t.s
	for p < len(s) && !inClass(s[p], space) && s[p] != '"' && s[p] != '\'' {
		p++
	}
	if p < len(s) && s[p] != ' ' && p > 0 && s[p-1] == '\\' {
		p--
	}
	return p
}

// privateKey finds a block in PEM format, or the end of one.
func (t *text) privateKey(at, to int) {
	s := t.s
	if strings.HasPrefix(s[to:], " BLOCK") {
		to += len(" BLOCK")
	}
	if !strings.HasPrefix(s[to:], "-----") {
		return
	}
	to += len("-----")
	head := at
	for head > 0 && head > at-40 && s[head-1] != '-' {
		head--
	}
	label := s[head:at]
	start := head - len("-----")
	if start < 0 || s[start:head] != "-----" {
		return
	}
	if strings.HasPrefix(label, "END") {
		body := start
		for body > t.places {
			low := max(t.places, body-128)
			line := strings.LastIndexByte(s[low:body-1], '\n') + 1 + low
			if line == low && low > t.places && s[low-1] != '\n' {
				break // longer than a line of a key
			}
			if text := strings.TrimRight(s[line:body], "\r\n"); text == "" || t.memo.end(s, line, base64) < line+len(strings.TrimRight(text, "=")) {
				break
			}
			body = line
		}
		if start-body >= 40 {
			t.addPlaced(body, to, "private-key")
		}
		return
	}
	if !strings.HasPrefix(label, "BEGIN") {
		return
	}
	end := to
	for end < len(s) {
		c := s[end]
		if inClass(c, base64) || inClass(c, space) || strings.IndexByte(`=\:,.()@<>_`, c) >= 0 || c == '-' && end+1 < len(s) && inClass(s[end+1], alnum) {
			end++
			continue
		}
		break
	}
	if end-to < 32 {
		t.places = end
		return
	}
	if strings.HasPrefix(s[end:], "-----END ") {
		if n := strings.Index(s[end+9:min(len(s), end+64)], "-----"); n >= 0 {
			end += 9 + n + 5
		}
	}
	t.addPlaced(start, end, "private-key")
}

// keyLines reports whether a text consists of lines of a key, as when a key is pasted at a prompt
// and each line becomes a command: base64 with PEM's line length.
func keyLines(s string) bool {
	if len(s) < 20 || len(s) > 100 {
		return false
	}
	s = strings.TrimSpace(s)
	if len(s) < 20 || len(s) > 80 || len(s) != 64 && len(s) != 70 && len(s) != 76 && s[len(s)-1] != '=' || strings.IndexByte(s, ' ') >= 0 {
		return false
	}
	v := strings.TrimRight(s, "=")
	padding := len(s) - len(v)
	var seen class
	for i := range len(v) {
		if !inClass(v[i], base64) {
			return false
		}
		seen |= classes[v[i]] & (digit | upper)
		if 'a' <= v[i] && v[i] <= 'z' {
			seen |= lowerNum
		}
	}
	if seen != digit|upper|lowerNum || strings.Count(v, "/") > len(v)/8 || v[0] == '/' {
		return false
	}
	switch len(s) {
	case 64, 70, 76:
		return entropyBits(v) >= 4.2
	}
	return padding > 0 && padding < 3 && len(s)%4 == 0 && entropyBits(v) >= 3.5
}

func (t *text) azureKey(_, to int) {
	e := t.memo.end(t.s, to, base64)
	if n := e - to; n >= 40 && n <= 88 {
		for e < len(t.s) && t.s[e] == '=' && e-to < n+2 {
			e++
		}
		t.addPlaced(to, e, "azure-key")
	}
}

// awsSecret finds the forty characters after aws_secret_access_key.
func (t *text) awsSecret(_, p int) {
	s := t.s
	for _, word := range []string{"_", "access", "_", "key"} {
		if hasFold(s[p:], word) {
			p += len(word)
		} else if word == "key" {
			return
		}
	}
	for range 8 {
		if p < len(s) && (inClass(s[p], space) || strings.IndexByte(`"'=:\`, s[p]) >= 0) {
			p++
		}
	}
	if e := t.memo.end(s, p, base64); e-p == 40 {
		t.addPlaced(p, e, "aws-secret-key")
	}
}

// url finds the password in scheme://user:password@host, and a token in place of the user.
func (t *text) url(at, p int) {
	s := t.s
	if at == 0 || !inClass(s[at-1], alnum) {
		return
	}
	end, last := p, -1
	for end < len(s) && end < p+1024 && !inClass(s[end], space) && s[end] != '/' && s[end] != '"' && s[end] != '\'' && s[end] != '`' {
		if s[end] == '@' {
			last = end
		}
		end++
	}
	if last < 0 {
		return
	}
	colon := p
	for colon < last && strings.IndexByte(":@?#[", s[colon]) < 0 {
		colon++
	}
	user := s[p:colon]
	switch {
	case s[colon] == ':':
		if pw := s[colon+1 : last]; pw == "x-oauth-basic" {
			if user != "" && secretValue(user) {
				t.addPlaced(p, colon, "url-token")
			}
		} else if pw != "" && urlPassword(pw) {
			t.addPlaced(colon+1, last, "url-password")
		}
	case s[colon] == '@' && len(user) >= 16 && at >= 4 && (hasFold(s[at-4:], "http") || hasFold(s[at-4:], "ttps")) && hasDigitAndLetter(user) && secretValue(user):
		t.addPlaced(p, colon, "url-token")
	}
}

// scheme reports whether v is a scheme of the header Authorization.
func scheme(v string) bool {
	switch strings.ToLower(v) {
	case "bearer", "basic", "token", "apikey", "digest", "negotiate", "bot", "aws4-hmac-sha256", "api-token", "genie", "key", "splunk", "klaviyo-api-key", "ssws", "sharedkey", "pat":
		return true
	}
	return false
}

// authorization finds the header's value, in arguments and in programs' output.
func (t *text) authorization(at, p int) {
	s := t.s
	in := at > 0 && (s[at-1] == '"' || s[at-1] == '\'')
	p = skipQuote(s, p)
	p = blanks(s, p)
	if p >= len(s) || s[p] != ':' && s[p] != '=' {
		return
	}
	p = blanks(s, p+1)
	before := p
	p = skipQuote(s, p)
	in = in || p > before
	if p >= len(s) {
		return
	}
	end := t.word(p)
	if len(s[p:end]) <= 24 && end < len(s) && (s[end] == ' ' || s[end] == '\t') && (in || scheme(s[p:end])) {
		if second := blanks(s, end); second < len(s) {
			if to := t.word(second); to > second {
				if secretValue(s[second:to]) {
					t.addPlaced(second, to, "authorization")
				}
				t.places = max(t.places, to)
				return
			}
		}
	}
	if n := end - p; (n >= 16 || n >= 6 && in && end < len(s) && (s[end] == '"' || s[end] == '\'')) && secretValue(s[p:end]) {
		t.addPlaced(p, end, "authorization")
	}
	t.places = max(t.places, end)
}

// skipQuote returns the position after a quote, or an escaped one.
func skipQuote(s string, p int) int {
	if p+1 < len(s) && s[p] == '\\' && (s[p+1] == '"' || s[p+1] == '\'') {
		return p + 2
	}
	if p < len(s) && (s[p] == '"' || s[p] == '\'') {
		return p + 1
	}
	return p
}

func (t *text) bearer(at, p int) {
	s := t.s
	if at > 0 && inClass(s[at-1], name) {
		return
	}
	p = blanks(s, p)
	e := p
	for e < len(s) && (inClass(s[e], base64Any) || s[e] == '.' || s[e] == '~') {
		e++
	}
	if e-p >= 16 && mixed(s[p:e]) {
		t.addPlaced(p, e, "bearer")
	}
	t.places = max(t.places, e)
}

// header finds the value of X-Api-Key: and similar headers.
func (t *text) header(_, p int) {
	s := t.s
	start := p - 1
	for start > 0 && start > p-64 && inClass(s[start-1], dashed) {
		start--
	}
	switch n := strings.ToLower(s[start : p-1]); {
	case strings.HasPrefix(n, "x-"):
	case n == "token", n == "api-token", n == "api-key", n == "apikey", n == "auth-token", n == "auth-key", n == "private-token", n == "job-token", n == "deploy-token":
	default:
		return
	}
	p = skipQuote(s, blanks(s, p))
	e := p
	for e < len(s) && !inClass(s[e], space) && strings.IndexByte(`"',}`, s[e]) < 0 {
		e++
	}
	if e > p && secretValue(s[p:e]) {
		t.addPlaced(p, e, "api-key")
	}
	t.places = max(t.places, e)
}

func (t *text) cookie(at, p int) {
	s := t.s
	if at > 0 && inClass(s[at-1], name) {
		return
	}
	for p < len(s) && (s[p] == ' ' || s[p] == '\t') {
		p++
	}
	e := p
	for e < len(s) && s[e] != '"' && s[e] != '\'' && s[e] != '\r' && s[e] != '\n' {
		e++
	}
	if e > p && secretValue(s[p:e]) {
		t.addPlaced(p, e, "cookie")
	}
	t.places = max(t.places, e)
}

// npmAuth finds X in //registry/:_authToken=X, also with a space as in npm config set.
func (t *text) npmAuth(_, p int) {
	s := t.s
	if hasFold(s[p:], "token") {
		p += len("token")
	}
	q := blanks(s, p)
	if q < len(s) && s[q] == '=' {
		q = blanks(s, q+1)
	}
	if q == p {
		return
	}
	if from, to, _, ok := t.value(q); ok && secretNotPath(s[from:to]) {
		t.addPlaced(from, to, "auth-token")
	}
}

// passArgument finds X in -passin pass:X, an argument of openssl and similar programs.
func (t *text) passArgument(at, p int) {
	s := t.s
	flag := at
	for flag > 0 && flag > at-16 && inClass(s[flag-1], letters) {
		flag--
	}
	if flag == at || flag == 0 || s[flag-1] != '-' {
		return
	}
	switch s[flag:at] {
	case "pass", "passin", "passout", "srcpass", "deststorepass":
		if from, to, _, ok := t.value(p); ok && secretValue(s[from:to]) {
			t.addPlaced(from, to, "password")
		}
	}
}

// identifiedBy finds SQL's IDENTIFIED BY 'x' and IDENTIFIED WITH plugin BY 'x'.
func (t *text) identifiedBy(_, p int) {
	s := t.s
	line := s[p:min(len(s), p+96)]
	if i := strings.IndexAny(line, `'";`); i >= 0 && line[i] != ';' && strings.TrimSpace(line[:i]) != "" || i >= 0 && line[i] == '\'' || i == 1 {
		if from, to, _, ok := t.value(p + i); ok && secretValue(s[from:to]) {
			t.addPlaced(from, to, "password")
		}
		return
	}
	if q := blanks(s, p); q > p {
		if from, to, _, ok := t.value(q); ok && secretValue(s[from:to]) {
			t.addPlaced(from, to, "password")
		}
	}
}

// setPassword finds SQL's SET PASSWORD FOR 'ada' = 'x'.
func (t *text) setPassword(_, p int) {
	s := t.s
	i := strings.IndexByte(s[p:min(len(s), p+128)], '=')
	if i < 0 {
		return
	}
	q := blanks(s, p+i+1)
	if hasFold(s[q:], "password(") {
		q += len("password(")
	}
	if from, to, quoted, ok := t.value(q); ok && quoted && secretValue(s[from:to]) {
		t.addPlaced(from, to, "password")
	}
}

// authPair finds Python's auth=("ada", "x").
func (t *text) authPair(_, p int) {
	s := t.s
	_, to, quoted, ok := t.value(p)
	if !ok || !quoted {
		return
	}
	if p = to + 1; p < len(s) && s[p] == ',' {
		if from, to, quoted, ok := t.value(blanks(s, p+1)); ok && quoted && secretValue(s[from:to]) {
			t.addPlaced(from, to, "password")
		}
	}
}

// passFile finds lines of ~/.pgpass, host:port:database:user:password.
func (t *text) passFile(_, _ int) {
	if t.pgpass {
		return
	}
	t.pgpass = true
	for at := 0; at < len(t.s); {
		line, _, _ := strings.Cut(t.s[at:], "\n")
		if f := strings.SplitN(strings.TrimRight(line, `"'`), ":", 5); len(f) == 5 && f[4] != "" && !strings.ContainsAny(f[0], " /") && secretValue(f[4]) {
			from := at + len(f[0]) + len(f[1]) + len(f[2]) + len(f[3]) + 4
			t.found(from, from+len(f[4]), "password", rankPlace)
		}
		at += len(line) + 1
	}
}

// manifest finds the values below data and stringData in a Secret of Kubernetes.
func (t *text) manifest(at, to int) {
	s := t.s
	start := strings.LastIndex(s[t.places:at], "\n---") + 1 + t.places
	end := len(s)
	if i := strings.Index(s[to:], "\n---"); i >= 0 {
		end = to + i
	}
	below := -1 // the indentation of data, if p is below it
	for p := start; p < end; {
		line, _, _ := strings.Cut(s[p:end], "\n")
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		switch {
		case text == "":
		case strings.HasPrefix(text, "data:") || strings.HasPrefix(text, "stringData:"):
			below = indent
		case indent <= below:
			below = -1
		case below >= 0:
			from := p + indent
			if i := strings.Index(text, ": "); i > 0 {
				from += i + 2
			}
			if from, to, _, ok := t.value(from); ok && to-from > 1 && s[to-1] != ':' && secretValue(s[from:to]) {
				t.found(from, to, "secret", rankPlace)
			}
		}
		p += len(line) + 1
	}
	t.places = end
}
