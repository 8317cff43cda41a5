package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// What a program is told in a language of its own: hbase shell <<< "drop 'events'", weed shell, a switch behind
// expect. The language need not be known: a statement says first what it does.

// fedTexts returns what a call reads from its standard input, as far as it stands in the line.
func (c *call) fedTexts() (texts []string) {
	if c.Document != nil {
		texts = append(texts, *c.Document)
	}
	before := c.at - 1
	for before > 0 && c.line.Calls[before].Wraps && c.line.Calls[before].Piped {
		before-- // sudo and the like, that run this call
	}
	if c.Piped && before >= 0 {
		if o := &c.line.Calls[before]; o.Drained && o.Name == "cat" && o.Document != nil && len(shell.Operands(o.Args, "")) == 0 {
			texts = append(texts, *o.Document)
		} else if o.Drained && (o.Name == "echo" || o.Name == "printf") {
			for _, w := range shell.Operands(o.Args, "") {
				if said, ok := c.expanded(w); ok && len(said) == 1 {
					w = said[0]
				}
				texts = append(texts, strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "").Replace(w.Value))
			}
		}
	}
	return texts
}

// fedQuestions reports whether a call reads nothing but lines which ask for something, as far as that stands in
// the line.
func (c *call) fedQuestions() bool {
	texts := c.fedTexts()
	for line := range strings.Lines(strings.Join(texts, "\n")) {
		first, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if first != "" && first[0] != '$' && !shows[first] && !looking[first] && !questions[first] || strings.ContainsAny(line, ";|&><`") {
			return false
		}
	}
	return len(texts) > 0
}

// questions are words of protocols that ask, or end a session.
var questions = words("terminal display end exit quit ruok mntr srvr envi stats ping INFO PING QUIT")

// statementFlags are those whose value is a statement.
var statementFlags = strings.Fields("-c -e -q -x -v --execute --eval --exec --command --cmd --commands --query --statement --sql --cql -E --javascript.execute-string")

// statesLoss reports whether a program is told, in a statement, to remove or to stop something. Sentences, which
// begin with a capital letter, are text for people.
func (c *call) statesLoss() bool {
	if files[c.Name] || shells[c.Name] || editors[c.Name] || languages[c.languageName()] || mailers.MatchString(c.Name) || c.staysHere() {
		return false
	}
	texts := c.fedTexts()
	if w, ok := c.FlagValue(statementFlags...); ok {
		texts = append(texts, w.Value)
	}
	for _, text := range texts {
		for _, statement := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' || r == '|' || r == '&' }) {
			if states.MatchString(statement) && losing(statement) || verbs[strings.TrimSpace(statement)].weight == strong {
				return true
			}
		}
	}
	return false
}

// states matches a statement of more than one word, which is no sentence.
var states = lazyregexp.New(`^\s*([a-z][\w.:-]*|[A-Z]+)([\s(=]\s*\S)`)

// losing reports whether one of the first words of a statement is a verb that takes something away: drop 'x',
// volume.delete x, manage truncate x, admin topics delete x.
func losing(statement string) bool {
	ws := strings.FieldsFunc(statement, func(r rune) bool { return strings.ContainsRune(" \t(=", r) })
	for i, w := range ws[:min(3, len(ws))] {
		if !bareWord.MatchString(strings.ReplaceAll(w, ".", "_")) {
			return false
		}
		parts := wordParts(w)
		for _, p := range []string{parts[0], parts[len(parts)-1]} {
			if v := verbs[p]; v.weight == strong || i < 2 && v.weight == first && (v.kind == "remove" || v.kind == "infrastructure") {
				return true
			}
		}
		if i < 2 && compound.MatchString(strings.ToLower(w)) {
			return true
		}
	}
	return false
}

// makers print lines that their program makes of what they read.
var makers = words("awk gawk mawk sed jq perl")

// fedPieces returns the command lines that stand in the program which makes what a shell reads:
// awk '{print "rm -rf /srv/"$1}' list | sh.
func (c *call) fedPieces() (lines []string) {
	if !c.Piped || c.at == 0 || c.at > len(c.line.Calls) {
		return nil
	}
	before := c.at - 1
	for before > 0 && c.line.Calls[before].Wraps && c.line.Calls[before].Piped {
		before--
	}
	o := &c.line.Calls[before]
	if !o.Drained || !makers[o.Name] {
		return nil
	}
	for _, w := range o.Args {
		if !w.Quoted {
			continue
		}
		if made, ok := substituted(w.Value); ok && o.Name != "awk" {
			lines = append(lines, made)
			continue
		}
		for piece := range strings.FieldsFuncSeq(interpolated.ReplaceAllString(w.Value, "x"), func(r rune) bool { return strings.ContainsRune("\"'#{}|", r) }) {
			if strings.Contains(strings.TrimSpace(piece), " ") {
				lines = append(lines, strings.TrimSpace(piece))
			}
		}
	}
	return lines
}

// substituted returns what a statement of sed or Perl, s/…/…/, puts in the place of what it finds.
func substituted(statement string) (text string, ok bool) {
	if len(statement) < 4 || statement[0] != 's' || !strings.ContainsRune("/|#,@!%", rune(statement[1])) {
		return "", false
	}
	parts := strings.Split(strings.ReplaceAll(statement[2:], `\`+statement[1:2], "\x00"), statement[1:2])
	if len(parts) != 3 {
		return "", false
	}
	return strings.ReplaceAll(strings.ReplaceAll(parts[1], "\x00", statement[1:2]), "&", "x"), true
}

// interpolated matches what jq puts into a string.
var interpolated = lazyregexp.New(`\\\([^()]*\)`)

// runsDecoded reports whether a shell is given what a decoder writes.
func runsDecoded(c *call) bool {
	if !c.Piped || len(c.operands("-s")) > 0 {
		return false
	}
	return slices.ContainsFunc(c.line.Calls[:c.at], func(o shell.Call) bool {
		return o.Drained && (words("base64 base32 xxd openssl uudecode")[o.Name] && o.Flag("-d", "-D", "--decode", "-r") || o.Name == "uudecode")
	})
}
